"""Releases under anything that may happen to them, in any order, and at the same time."""

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

from catalog.models import Release, Transition
from tests import cast as crew
from tests.governance.world import ACTIONS, GROUPS, World, check_world, do, do_some

NUMBER = st.integers(0, 11)
THREADS = 4


class Machine(RuleBasedStateMachine):
    """One example: its own savepoint in the test's transaction, over one world."""

    world: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.outer = transaction.atomic()
        self.outer.__enter__()
        self.seen: set[int] = set()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.outer.__exit__(None, None, None)

    @invariant()
    def all_is_well(self) -> None:
        """What holds at any time."""
        check_world(self.seen)


def _rule(group: str) -> Callable[..., None]:
    def happen(self: Machine, which: int, who: int, more: int) -> None:
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
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.django_db
def test_whatever_happens() -> None:
    walk(6, 20)


@pytest.mark.slow
@pytest.mark.django_db
def test_whatever_happens_often() -> None:
    walk(60, 50)


# What moves releases on, more often than what ends them.
OFTEN = ("propose", "approve", "approve", "start", "advance", "halt", "resume", "roll_back")


def crowd(rounds: int, actions: int, seed: int) -> Counter[str]:
    """Some threads that do as they like to the same few releases; answers how often what came of it."""
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
    return told


def test_a_crowd(shared_database: str) -> None:
    """No deadlock, no clash that leaks out of the domain, and all is well afterwards."""
    told = crowd(rounds=3, actions=15, seed=1)
    assert sum(told.values()) == 3 * THREADS * 15
    assert Release.objects.exists()


@pytest.mark.slow
def test_a_crowd_for_long(shared_database: str) -> None:
    postgres = connection.vendor == "postgresql"
    told = crowd(rounds=12 if postgres else 4, actions=60, seed=2)
    actions = set(Transition.objects.values_list("action", flat=True))
    assert {"propose", "approve", "start", "advance", "halt"} <= actions, told
