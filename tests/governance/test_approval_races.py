"""Two people click at once: one end, the right counts, and the loser is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from catalog.journal import check_chain
from catalog.models import Approval, Release, State, Transition, User, Version
from catalog.releases import WrongState
from governance import approvals, rollouts
from tests import cast as crew
from tests import make

ROUNDS = 40
NOW = make.NOW


class Scene:
    """A cast and a version with many proposals, one a round."""

    def __init__(self, risk: str = "low") -> None:
        self.cast = make.cast()
        self.risk = risk
        self.version: Version | None = None

    def proposal(self) -> Release:
        """The version proposed once more; what the round before has left open is closed."""
        if self.version is None:
            self.version = make.version(cast=self.cast, risk_level=self.risk)
        Release.objects.filter(state__in=("proposed", "approved", "canary", "live")).update(state="rejected")
        self.propose()
        return Release.objects.get(state="proposed")

    def propose(self) -> str:
        """Propose the version in production, and nothing else."""
        assert self.version is not None
        where, actor = make.environment("production"), crew.actor(self.cast.ines)
        return approvals.propose(version=self.version, environment=where, actor=actor, now=NOW).state

    def approve(self, release: Release, user: User) -> Callable[[], Any]:
        """An approval, to be given later."""
        name = release.skill.name
        return lambda: approvals.approve(release=release, actor=crew.actor(user), confirm=name, now=NOW).state


def outcome(done: list[Any]) -> tuple[list[str], int]:
    """The states of those that came through, and how many lost; anything else is a fault."""
    states = sorted(str(one) for one in done if isinstance(one, str))
    lost = sum(isinstance(one, WrongState) for one in done)
    assert len(states) + lost == len(done), done
    return states, lost


def transitions(release: Release) -> list[tuple[int, str]]:
    """Number and action of each."""
    return list(Transition.objects.filter(release=release).order_by("n").values_list("n", "action"))


@pytest.fixture
def scene(shared_database: str) -> Scene:
    """A low-risk scene."""
    return Scene()


def test_two_approvers_at_once_where_one_is_enough(scene: Scene) -> None:
    for _ in range(ROUNDS):
        release = scene.proposal()
        works = [scene.approve(release, scene.cast.mara), scene.approve(release, scene.cast.otto)]
        assert outcome(crew.together(works)) == (["approved"], 1)
        assert Approval.objects.filter(release=release, voided_at=None).count() == 1
        assert transitions(release) == [(1, "propose"), (2, "approve")]
    assert check_chain().intact


def test_two_approvers_at_once_where_both_are_needed(shared_database: str) -> None:
    scene = Scene("high")
    for _ in range(ROUNDS):
        release = scene.proposal()
        works = [scene.approve(release, scene.cast.mara), scene.approve(release, scene.cast.otto)]
        assert outcome(crew.together(works)) == (["approved", "proposed"], 0)
        assert Approval.objects.filter(release=release, voided_at=None).count() == 2
        assert Release.objects.get(pk=release.pk).state == State.APPROVED
        assert transitions(release) == [(1, "propose"), (2, "approve"), (3, "approve")]


def test_one_approver_who_clicks_four_times(shared_database: str) -> None:
    scene = Scene("high")
    for _ in range(ROUNDS // 2):
        release = scene.proposal()
        assert outcome(crew.together([scene.approve(release, scene.cast.mara)] * 4)) == (["proposed"], 3)
        assert Approval.objects.filter(release=release).count() == 1
        assert Release.objects.get(pk=release.pk).state == State.PROPOSED


def test_approve_against_reject(scene: Scene) -> None:
    for _ in range(ROUNDS):
        release = scene.proposal()

        def reject(release: Release = release) -> str:
            actor = crew.actor(scene.cast.otto)
            return approvals.reject(release=release, actor=actor, reason="No.", now=NOW).state

        states, lost = outcome(crew.together([scene.approve(release, scene.cast.mara), reject]))
        # An approved release can still be rejected; what is rejected is not approved any more.
        assert (states, lost) in ((["approved", "rejected"], 0), (["rejected"], 1))
        assert Release.objects.get(pk=release.pk).state == State.REJECTED
        assert Approval.objects.filter(release=release).count() == (1 if lost == 0 else 0)
        assert [n for n, _ in transitions(release)] == list(range(1, 4 if lost == 0 else 3))


def test_start_against_withdraw(scene: Scene) -> None:
    for _ in range(ROUNDS):
        release = scene.proposal()
        scene.approve(release, scene.cast.mara)()

        def start(release: Release = release) -> str:
            return rollouts.start(release=release, actor=crew.actor(scene.cast.mara), now=NOW).state

        def withdraw(release: Release = release) -> str:
            return approvals.withdraw(release=release, actor=crew.actor(scene.cast.ines), now=NOW).state

        states, lost = outcome(crew.together([start, withdraw]))
        assert (states in (["live"], ["withdrawn"]), lost) == (True, 1)
        assert Release.objects.get(pk=release.pk).state == states[0]
        assert [n for n, _ in transitions(release)] == [1, 2, 3]


def test_two_proposals_at_once(scene: Scene) -> None:
    scene.proposal()
    for _ in range(ROUNDS // 2):
        Release.objects.filter(state="proposed").update(state="rejected")
        propose = scene.propose
        assert outcome(crew.together([propose] * 3)) == (["proposed"], 2)


def test_two_versions_of_a_skill_start_at_once(scene: Scene) -> None:
    """Both go live, one after the other: one is live at the end, and the other superseded."""
    cast = scene.cast
    for n in range(ROUNDS // 4):
        made = [
            make.release(
                make.version("refund-check", f"{n}.{m}.0", cast=cast, body=f"{n}.{m}\n"),
                "production",
                cast=cast,
                state=State.APPROVED,
            )
            for m in (1, 2)
        ]
        works = [
            lambda release=release: (
                rollouts.start(  # type: ignore[misc]
                    release=release, actor=crew.actor(cast.mara), now=NOW
                ).state
            )
            for release in made
        ]
        assert outcome(crew.together(works)) == (["live", "live"], 0)
        live = Release.objects.get(environment__name="production", state=State.LIVE)
        other = next(release for release in made if release.pk != live.pk)
        assert Release.objects.get(pk=other.pk).state == State.SUPERSEDED
        assert live.previous_id == other.version_id
    assert make.environment("production").revision == 2 * (ROUNDS // 4)


def test_publishing_and_proposing_one_skill_do_not_block_each_other(scene: Scene) -> None:
    """Locks are taken in one order: a deadlock would end one of the two with a fault."""
    scene.proposal()
    for n in range(ROUNDS // 2):
        Release.objects.filter(state="proposed").update(state="rejected")

        def publish(number: str = f"2.{n}.0") -> str:
            return make.version("refund-check", number, cast=scene.cast, body=f"{number}\n").version

        done = crew.together([scene.propose, publish])
        assert done == ["proposed", f"2.{n}.0"]
