"""Every pair of clicks that meet on one release: one end, the right counts, and the loser is told so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from catalog.canaries import Plan
from catalog.journal import check_chain
from catalog.models import Approval, Environment, Release, State, Transition, Version
from catalog.releases import WrongState
from catalog.tokens import USER_SCOPES
from catalog.transitions import lock_environment
from governance import approvals, rollouts
from governance.clearing import review
from tests import cast as crew
from tests import make
from tests.portal.api.callers import Caller, document

NOW = make.NOW
ROUNDS, MANY = 12, 200

Work = Callable[[], Any]


class Scene:
    """A cast and two versions of a skill, proposed anew for each round."""

    def __init__(self) -> None:
        self.cast = make.cast()
        self.cast.otto.grants.update(may_override=True)
        self.version = make.version(cast=self.cast)
        self.other = make.version(number="1.1.0", cast=self.cast, body="1.1\n")

    def release(self, version: Version, state: str) -> Release:
        """A release of the version in this state; its canary is for a fifth of the callers."""
        made = approvals.propose(
            version=version,
            environment=make.environment("production"),
            actor=crew.actor(self.cast.ines),
            plan=Plan(percent=20),
            now=NOW,
        )
        if state != State.PROPOSED:
            made = make.approve(made, self.cast.mara)
        if state == State.HALTED:
            made = self.act("start", made, "mara")()
            made = self.act("halt", made, "mara", reason="Errors.")()
        assert made.state == state
        return made

    def begin(self, state: str) -> Release:
        """A new round: what the one before has left open is closed."""
        open_ones = (State.PROPOSED, State.APPROVED, State.CANARY, State.LIVE, State.HALTED)
        Release.objects.filter(state__in=open_ones).update(state=State.REJECTED)
        return self.release(self.version, state)

    def act(self, action: str, release: Release, who: str, **fields: Any) -> Work:
        """An action of one of the cast, to be done later."""
        known: dict[str, Callable[..., Release]] = {
            "approve": approvals.approve,
            "reject": approvals.reject,
            "withdraw": approvals.withdraw,
            "start": rollouts.start,
            "halt": rollouts.halt,
            "resume": rollouts.resume,
            "break_glass": rollouts.break_glass,
        }
        actor = crew.actor(getattr(self.cast, who))
        return lambda: known[action](release=release, actor=actor, now=NOW, **fields)


@dataclass(frozen=True)
class Race:
    """From which state, which clicks, and how it may end: state, actions in their order, how many lose."""

    state: str
    works: Callable[[Scene, Release], list[Work]]
    ends: frozenset[tuple[str, tuple[str, ...], int]]


def change_policy() -> None:
    """Another policy, as an administrator saves it: the environment is locked first."""
    with transaction.atomic():
        where = lock_environment(make.environment("production"))
        where.needs_idempotency = not where.needs_idempotency
        where.save(update_fields=["needs_idempotency"])


def another_canary(scene: Scene) -> Work:
    """The start of a canary of the other version."""
    return scene.act("start", scene.release(scene.other, State.APPROVED), "mara")


RACES: dict[str, Race] = {
    "two approvers": Race(
        "proposed",
        lambda scene, one: [scene.act("approve", one, "mara"), scene.act("approve", one, "otto")],
        frozenset({("approved", ("approve",), 1)}),
    ),
    "approve, reject": Race(
        "proposed",
        lambda scene, one: [
            scene.act("approve", one, "mara"),
            scene.act("reject", one, "otto", reason="No."),
        ],
        frozenset({("rejected", ("approve", "reject"), 0), ("rejected", ("reject",), 1)}),
    ),
    "approve, withdraw": Race(
        "proposed",
        lambda scene, one: [scene.act("approve", one, "mara"), scene.act("withdraw", one, "ines")],
        frozenset({("withdrawn", ("approve", "withdraw"), 0), ("withdrawn", ("withdraw",), 1)}),
    ),
    "approve, another policy": Race(
        "proposed",
        lambda scene, one: [scene.act("approve", one, "mara"), change_policy],
        frozenset({("approved", ("approve",), 0)}),
    ),
    "start, start": Race(
        "approved",
        lambda scene, one: [scene.act("start", one, "mara"), scene.act("start", one, "otto", percent=100)],
        frozenset({("canary", ("start",), 1), ("live", ("start",), 1)}),
    ),
    "start, halt": Race(
        "approved",
        lambda scene, one: [scene.act("start", one, "mara"), scene.act("halt", one, "ines", reason="No.")],
        frozenset({("halted", ("start", "halt"), 0), ("canary", ("start",), 1)}),
    ),
    "start, withdraw": Race(
        "approved",
        lambda scene, one: [scene.act("start", one, "mara"), scene.act("withdraw", one, "ines")],
        frozenset({("canary", ("start",), 1), ("withdrawn", ("withdraw",), 1)}),
    ),
    "break the glass, reject": Race(
        "proposed",
        lambda scene, one: [
            scene.act("break_glass", one, "otto", reason="The shop is down."),
            scene.act("reject", one, "mara", reason="No."),
        ],
        frozenset({("live", ("break_glass",), 1), ("rejected", ("reject",), 1)}),
    ),
    "resume, another canary": Race(
        "halted",
        lambda scene, one: [scene.act("resume", one, "otto"), another_canary(scene)],
        frozenset({("canary", ("resume",), 1), ("halted", (), 1)}),
    ),
    "resume, resume": Race(
        "halted",
        lambda scene, one: [scene.act("resume", one, "otto"), scene.act("resume", one, "mara")],
        frozenset({("canary", ("resume",), 1)}),
    ),
}


def run(race: Race, scene: Scene) -> None:
    """One round."""
    release = scene.begin(race.state)
    before = release.transitions.count()
    works = race.works(scene, release)
    done = crew.together(works)
    lost = sum(isinstance(one, WrongState) for one in done)
    assert not any(isinstance(one, Exception) and not isinstance(one, WrongState) for one in done), done
    rows = list(Transition.objects.filter(release=release).order_by("n").values_list("n", "action"))
    assert [n for n, _ in rows] == list(range(1, len(rows) + 1))
    actions = tuple(action for _, action in rows[before:])
    now = Release.objects.select_related("version", "environment").get(pk=release.pk)
    assert (now.state, actions, lost) in race.ends, done
    given = Approval.objects.filter(release=release).count()
    assert given == [action for _, action in rows].count("approve")
    beside = Release.objects.filter(skill=release.skill, environment=release.environment)
    assert beside.filter(state=State.CANARY).count() <= 1
    assert beside.filter(state=State.LIVE).count() <= 1
    if race.works is RACES["approve, another policy"].works:
        _approval_counts_or_is_void(scene, now)


def _approval_counts_or_is_void(scene: Scene, release: Release) -> None:
    """Whoever came first, nothing is served on an approval of the policy before."""
    start = scene.act("start", release, "mara")
    if review(release).approvals:
        assert start().state == State.CANARY
        return
    with pytest.raises(WrongState, match="void"):
        start()


@pytest.mark.parametrize("name", RACES)
def test_two_clicks_at_once(shared_database: str, name: str) -> None:
    scene = Scene()
    for _ in range(ROUNDS):
        run(RACES[name], scene)
    assert check_chain().intact


@pytest.mark.slow
@pytest.mark.parametrize("name", RACES)
def test_two_clicks_at_once_many_times(shared_database: str, name: str) -> None:
    scene = Scene()
    # On SQLite one writes at a time.
    for _ in range(ROUNDS if connection.vendor == "sqlite" else MANY):
        run(RACES[name], scene)
    assert check_chain().intact


def test_the_loser_gets_a_409(shared_database: str) -> None:
    scene = Scene()
    callers = {
        name: Caller(make.token(user=getattr(scene.cast, name), scopes=USER_SCOPES)[1])
        for name in ("mara", "otto")
    }
    document()  # what answers are held against is made once, before threads ask for it
    for _ in range(ROUNDS // 2):
        key = str(scene.begin(State.PROPOSED).pk)
        works = [partial(who.post, f"releases/{key}/approve") for who in callers.values()]
        answers = sorted(crew.together(works), key=lambda answer: answer.status_code)
        assert [answer.status_code for answer in answers] == [200, 409], answers
        assert answers[1].json()["code"] == "wrong-state"
        assert Approval.objects.filter(release=key).count() == 1
    assert Environment.objects.count() == 3
