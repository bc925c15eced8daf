"""Releases under anything that may happen to them, in any order, and at the same time.

What hypothesis chooses is the same in each run. It finds: a release that goes live beside the one
before; a yanked version that is served; approvals that hold although the policy changed or the risk
rose; a start without the approvals that are needed; a shut gate that nobody looked at; somebody who
approves what they proposed; a skill that is served as if it were not switched off.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import ClassVar

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from catalog.models import Transition
from tests import cast as crew
from tests import make
from tests.governance.world import ACTIONS, GROUPS, World, check_world, do, do_some, go_all_the_way

NUMBER = st.integers(0, 11)
THREADS = 4


class Machine(RuleBasedStateMachine):
    """One example: its own savepoint in the test's transaction, over one world."""

    world: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.outer = transaction.atomic()
        self.outer.__enter__()
        self.world.begin_anew()
        self.seen: set[int] = set()
        self.is_well = False

    def teardown(self) -> None:
        try:
            if self.is_well:
                self.succeed()
        finally:
            transaction.set_rollback(True)
            self.outer.__exit__(None, None, None)

    def succeed(self) -> None:
        """Whatever happened before, those who may can still bring a new version to everyone."""
        go_all_the_way(self.world, make.environment("production"))
        check_world(self.world, self.seen)

    @invariant()
    def all_is_well(self) -> None:
        """What holds at any time."""
        check_world(self.world, self.seen)
        self.is_well = True


def _rule(group: str) -> Callable[..., None]:
    def happen(self: Machine, which: int, who: int, more: int) -> None:
        self.is_well = False
        do_some(self.world, group, which, who, more)

    happen.__name__ = group
    return rule(which=NUMBER, who=NUMBER, more=NUMBER)(happen)


for _group in GROUPS:
    setattr(Machine, f"do_{_group}", _rule(_group))


def test_every_action_is_in_a_group() -> None:
    assert {name for names in GROUPS.values() for name in names} == {*ACTIONS, "begin", "twist"}


def walk(examples: int, steps: int) -> None:
    """Let hypothesis choose what happens."""
    Machine.world = World()
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.django_db
def test_whatever_happens() -> None:
    walk(12, 16)


@pytest.mark.slow
@pytest.mark.django_db
def test_whatever_happens_often() -> None:
    walk(36, 20)


# What moves releases on, more often than what ends them.
OFTEN = ("propose", "approve", "approve", "start", "advance", "halt", "resume", "roll_back")


def crowd(rounds: int, actions: int, seed: int) -> tuple[Counter[str], World]:
    """Some threads that do as they like to the same few releases; answers how often what came of it, and where."""
    world, told = World(), Counter[str]()
    check_world()

    def live(chance: random.Random) -> Counter[str]:
        names, mine = [*ACTIONS, *OFTEN * 4], Counter[str]()
        for _ in range(actions):
            action = chance.choice(names)
            which, who, more = (chance.randrange(12) for _ in range(3))
            mine[f"{action} {do(world, action, which, who, more)}"] += 1
        return mine

    for number in range(rounds):
        done = crew.together(
            [
                lambda place=place: live(random.Random(seed * 1000 + number * 10 + place))  # type: ignore[misc]  # noqa: B023
                for place in range(THREADS)
            ]
        )
        for one in done:
            assert isinstance(one, Counter), (number, one)
            told += one
        check_world()
    return told, world


def test_a_crowd(shared_database: str) -> None:
    """No deadlock, no clash that leaks out of the domain, and all is well afterwards."""
    told, world = crowd(rounds=3, actions=15, seed=1)
    assert sum(told.values()) == 3 * THREADS * 15
    go_all_the_way(world, make.environment("production"))
    check_world()


@pytest.mark.slow
def test_a_crowd_for_long(shared_database: str) -> None:
    postgres = connection.vendor == "postgresql"
    _, world = crowd(rounds=12 if postgres else 4, actions=60, seed=2)
    for name in ("staging", "production"):
        go_all_the_way(world, make.environment(name))
    check_world()
    actions = set(Transition.objects.values_list("action", flat=True))
    assert {"propose", "approve", "start", "advance", "halt", "resume"} <= actions
