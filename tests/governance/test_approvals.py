"""Releases as people decide on them: who may, how often, on what, and what becomes of it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from catalog import lifecycle, rollbacks, serving
from catalog.access import NotAllowed
from catalog.canaries import Plan
from catalog.clearance import Clearance, Gate
from catalog.journal import check_chain
from catalog.models import (
    Approval,
    Environment,
    JournalEntry,
    Release,
    Revision,
    Role,
    Skill,
    State,
    User,
    Version,
)
from catalog.releases import STARTS_FROM, NotCleared, WrongState
from governance import approvals, rollouts
from governance.approvals import NotConfirmed
from governance.clearing import review
from governance.refusals import ReasonMissing
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db

NOW = make.NOW
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


def propose(cast: make.Cast, version: Version, where: str = "production", **fields: Any) -> Release:
    """A proposal by Ines."""
    told: dict[str, Any] = {
        "actor": crew.actor(cast.ines),
        "now": NOW,
        "environment": make.environment(where),
    }
    return approvals.propose(version=version, **{**told, **fields})


def approve(release: Release, user: User, **fields: Any) -> Release:
    """An approval, confirmed."""
    told: dict[str, Any] = {"confirm": release.skill.name, "now": NOW}
    return approvals.approve(release=release, actor=crew.actor(user), **{**told, **fields})


def start(release: Release, user: User, percent: int | None = None, now: Any = NOW) -> Release:
    """A start."""
    return rollouts.start(release=release, actor=crew.actor(user), percent=percent, now=now)


def state_of(release: Release) -> str:
    """Its state in the database."""
    return Release.objects.get(pk=release.pk).state


# -- four eyes, by every path

Act = Callable[[Release, User], Release]
DECISIONS: dict[str, Act] = {
    "approve": lambda release, user: approve(release, user),
    "reject": lambda release, user: approvals.reject(
        release=release, actor=crew.actor(user), reason="No.", now=NOW
    ),
    "start": lambda release, user: start(release, user),
}


@pytest.mark.parametrize("action", DECISIONS)
@pytest.mark.parametrize("role", ["proposer", "publisher", "both"])
def test_neither_proposer_nor_publisher_decides(cast: make.Cast, action: str, role: str) -> None:
    make.grant(cast.ines, Role.APPROVER)
    make.grant(cast.ines, Role.ADMIN)
    make.grant(cast.mara, Role.PUBLISHER, team=cast.payments)
    version = make.version(cast=cast, publisher=cast.ines if role != "proposer" else cast.mara)
    proposer = cast.ines if role != "publisher" else cast.mara
    release = propose(cast, version, actor=crew.actor(proposer))
    if action == "start":
        release = approve(release, cast.otto)
    before = state_of(release)
    text = (
        "You proposed this release; another approver decides."
        if role != "publisher"
        else "You published this version; another approver decides."
    )
    with pytest.raises(NotAllowed) as refused:
        DECISIONS[action](release, cast.ines)
    assert str(refused.value) == text
    assert state_of(release) == before


@pytest.mark.parametrize("action", DECISIONS)
@pytest.mark.parametrize("name", ["sven", "lena", "ravi", "ada", "nora"])
def test_outsiders_and_administrators_do_not_decide(cast: make.Cast, action: str, name: str) -> None:
    release = propose(cast, make.version(cast=cast))
    if action == "start":
        release = approve(release, cast.otto)
    with pytest.raises(NotAllowed, match=r"^Deciding needs the role approver for Production\.$"):
        DECISIONS[action](release, getattr(cast, name))


def test_the_system_decides_nothing(cast: make.Cast) -> None:
    release = propose(cast, make.version(cast=cast))
    with pytest.raises(NotAllowed):
        approvals.approve(release=release, actor=crew.actor(None), now=NOW)
    with pytest.raises(NotAllowed):
        approvals.propose(
            version=make.version(number="1.1.0", cast=cast, body="1.1\n"),
            environment=make.environment("development"),
            actor=crew.actor(None),
            now=NOW,
        )


def test_a_right_that_was_taken_away_meanwhile_is_gone(cast: make.Cast) -> None:
    release = propose(cast, make.version(cast=cast))
    cast.mara.grants.all().delete()
    with pytest.raises(NotAllowed):
        approve(release, cast.mara)


@pytest.mark.parametrize("name", ["sven", "mara", "ravi", "ada", "lena", "nora"])
def test_who_may_not_propose_or_withdraw(cast: make.Cast, name: str) -> None:
    version, user = make.version(cast=cast), getattr(cast, name)
    with pytest.raises(NotAllowed, match=r"^Proposing needs the role publisher in Payments\.$"):
        propose(cast, version, actor=crew.actor(user))
    release = propose(cast, version)
    with pytest.raises(NotAllowed, match=r"^Withdrawing needs the role publisher in Payments\.$"):
        approvals.withdraw(release=release, actor=crew.actor(user), now=NOW)


@pytest.mark.parametrize(("name", "may"), [("ines", True), ("mara", True), ("sven", False), ("ada", False)])
def test_who_stops(cast: make.Cast, name: str, may: bool) -> None:
    live = make.release(make.version(cast=cast), "production", cast=cast)
    actor = crew.actor(getattr(cast, name))
    if may:
        done = rollouts.roll_back(release=live, actor=actor, reason="Wrong.", now=NOW)
        assert done.state == State.ROLLED_BACK
        return
    with pytest.raises(
        NotAllowed, match=r"^This needs an approver for Production or a publisher in Payments\.$"
    ):
        rollouts.roll_back(release=live, actor=actor, reason="Wrong.", now=NOW)


# -- how much is needed


@pytest.mark.parametrize(
    ("where", "risk", "needed", "confirmation"),
    [
        ("development", "low", 0, False),
        ("development", "high", 0, False),
        ("staging", "low", 1, False),
        ("staging", "high", 1, False),
        ("production", "low", 1, False),
        ("production", "medium", 1, False),
        ("production", "high", 2, True),
    ],
)
def test_needs_follow_environment_and_risk(
    cast: make.Cast, where: str, risk: str, needed: int, confirmation: bool
) -> None:
    release = propose(cast, make.version(cast=cast, risk_level=risk), where)
    needs = review(release).needs
    assert (needs.approvals, needs.confirmation) == (needed, confirmation)
    assert release.state == (State.LIVE if needed == 0 else State.PROPOSED)


def test_high_risk_takes_two_people_and_the_name_typed(cast: make.Cast) -> None:
    release = propose(cast, make.version(cast=cast, risk_level="high"))
    for typed in ("", "refund", "REFUND-CHECK", "refund-check "):
        with pytest.raises(
            NotConfirmed, match=r"^Type refund-check to confirm a high-risk release to Production\.$"
        ):
            approve(release, cast.mara, confirm=typed)
    assert not Approval.objects.exists()
    release = approve(release, cast.mara)
    assert release.state == State.PROPOSED
    with pytest.raises(WrongState, match=r"^You have approved this release already\.$"):
        approve(release, cast.mara)
    with pytest.raises(WrongState, match="waits for approval"):
        start(release, cast.mara)
    release = approve(release, cast.otto)
    assert release.state == State.APPROVED
    assert set(Approval.objects.values_list("confirmed", flat=True)) == {True}
    assert start(release, cast.otto).state == State.LIVE


def test_more_approvals_than_needed_are_refused(cast: make.Cast) -> None:
    release = approve(propose(cast, make.version(cast=cast)), cast.mara)
    with pytest.raises(WrongState, match=r"^This release is approved already; start it\.$"):
        approve(release, cast.otto)
    assert Approval.objects.count() == 1


# -- what an approval is for


def stricter(version: Version) -> None:
    Environment.objects.filter(name="production").update(needs_idempotency=False)


def riskier(version: Version) -> None:
    Version.objects.filter(pk=version.pk).update(suggested_risk="high")


@pytest.mark.parametrize("change", [stricter, riskier])
def test_approvals_are_void_when_policy_or_risk_changes(
    cast: make.Cast, change: Callable[[Version], None]
) -> None:
    version = make.version(cast=cast)
    release = approve(propose(cast, version), cast.mara)
    change(version)
    with pytest.raises(
        WrongState,
        match=r"^Its approvals are void, since the policy, the risk, the team or a gate has changed",
    ):
        start(release, cast.mara)
    assert state_of(release) == State.APPROVED
    # It is not at a dead end: whoever approved looks again, and the first word counts no more.
    needed = review(Release.objects.get(pk=release.pk)).needs.approvals
    for user in (cast.mara, cast.otto)[:needed]:
        release = approve(release, user)
    assert release.state == State.APPROVED
    assert Approval.objects.filter(voided_at=None).count() == needed
    assert Approval.objects.exclude(voided_at=None).get().user == cast.mara
    assert start(release, cast.mara).state == State.LIVE


def test_a_canary_whose_approvals_are_void_does_not_advance(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    canary = make.release(version, "production", cast=cast, state=State.CANARY)
    riskier(version)
    with pytest.raises(WrongState, match="halt it and propose the version again"):
        rollouts.advance(release=canary, actor=crew.actor(cast.mara), percent=50, now=NOW)
    assert (
        rollouts.halt(release=canary, actor=crew.actor(cast.mara), reason="Risk.", now=NOW).state == "halted"
    )


def test_a_policy_that_asks_for_approval_after_all(cast: make.Cast) -> None:
    """Cleared where none was asked for, held by a shut gate, and then one is asked for."""
    Environment.objects.filter(name="development").update(highest_risk="low")
    release = propose(cast, make.version(cast=cast, risk_level="high"), "development")
    assert release.state == State.APPROVED
    Environment.objects.filter(name="development").update(highest_risk="high", approvals_high=1)
    with pytest.raises(WrongState, match="void"):
        start(release, cast.ines)
    assert start(approve(release, cast.mara), cast.ines).state == State.LIVE


def test_a_proposal_meets_the_policy_as_it_is_now(cast: make.Cast) -> None:
    """The caller's environment is older than the policy."""
    old = make.environment("development")
    Environment.objects.filter(name="development").update(approvals_low=1)
    release = approvals.propose(
        version=make.version(cast=cast), environment=old, actor=crew.actor(cast.ines), now=NOW
    )
    assert release.state == State.PROPOSED


# -- gates


def test_a_shut_gate_keeps_it_from_starting(cast: make.Cast) -> None:
    release = approve(propose(cast, make.version(cast=cast, stability="experimental")), cast.mara)
    with pytest.raises(NotCleared, match=r"^These gates are shut: stability\.$"):
        start(release, cast.mara)
    assert state_of(release) == State.APPROVED


def test_a_gate_that_shuts_holds_a_canary(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    canary = make.release(version, "production", cast=cast, state=State.CANARY)
    Version.objects.filter(pk=version.pk).update(deprecated_at=NOW)
    with pytest.raises(NotCleared, match="stability"):
        rollouts.advance(release=canary, actor=crew.actor(cast.mara), percent=100, now=NOW)


def test_in_development_a_shut_gate_leaves_it_approved(cast: make.Cast) -> None:
    Environment.objects.filter(name="development").update(permissions=[])
    version = make.version(cast=cast, permissions=("network",))
    release = propose(cast, version, "development")
    assert release.state == State.APPROVED
    assert [gate.name for gate in review(release).shut] == ["permissions"]


# -- the way of a release


def test_states_and_transitions_from_proposal_to_live(cast: make.Cast) -> None:
    first = make.release(make.version(cast=cast), "production", cast=cast)
    release = propose(cast, make.version(number="1.1.0", cast=cast, body="1.1\n"), plan=Plan(percent=5))
    release = approve(release, cast.mara, note="Read it.")
    release = start(release, cast.otto)
    assert (release.state, release.percent) == (State.CANARY, 5)
    release = rollouts.advance(release=release, actor=crew.actor(cast.otto), percent=50, now=NOW)
    assert (release.state, release.percent) == (State.CANARY, 50)
    release = rollouts.advance(release=release, actor=crew.actor(cast.otto), percent=100, now=LATER)
    assert (release.state, release.percent, release.previous) == (State.LIVE, 100, first.version)
    rows = release.transitions.order_by("n").values_list("n", "action", "from_state", "to_state", "actor")
    assert list(rows) == [
        (1, "propose", "", "proposed", cast.ines.pk),
        (2, "approve", "proposed", "approved", cast.mara.pk),
        (3, "start", "approved", "canary", cast.otto.pk),
        (4, "advance", "canary", "canary", cast.otto.pk),
        (5, "advance", "canary", "live", cast.otto.pk),
    ]
    first.refresh_from_db()
    assert (first.state, first.percent) == (State.SUPERSEDED, 0)
    assert first.transitions.order_by("-n").values_list("action", flat=True)[0] == "supersede"
    told = list(JournalEntry.objects.filter(target="refund-check 1.1.0 in production"))
    assert [entry.verb for entry in told] == [
        "release.propose", "release.approve", "release.start", "release.advance", "release.advance",
    ]  # fmt: skip
    assert told[1].before == {"state": "proposed"}
    assert told[1].after == {"state": "approved", "percent": 0, "reason": "Read it.", "id": str(release.pk)}
    assert check_chain().intact


def test_every_change_that_the_feed_shows_is_a_revision(cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    second = make.version(number="1.1.0", cast=cast, body="1.1\n")
    canary = make.release(second, "production", cast=cast, state=State.CANARY)
    rollouts.advance(release=canary, actor=crew.actor(cast.mara), percent=60, now=NOW)
    rollouts.halt(release=canary, actor=crew.actor(cast.mara), reason="Errors.", now=NOW)
    rows = Revision.objects.filter(environment__name="production").order_by("n")
    assert list(rows.values_list("n", "changes")) == [(n, ["refund-check"]) for n in (1, 2, 3, 4)]
    assert make.environment("production").revision == 4
    assert make.environment("staging").revision == 0


@pytest.mark.parametrize(
    ("plan", "percent", "served"),
    [
        (Plan(), None, 100),
        (Plan(percent=20), None, 20),
        (Plan(percent=5, steps=(5, 25, 50)), None, 5),
        (Plan(percent=20), 40, 40),
        (Plan(), 1, 1),
        (Plan(percent=20), 100, 100),
    ],
)
def test_share_of_a_start(cast: make.Cast, plan: Plan, percent: int | None, served: int) -> None:
    release = approve(propose(cast, make.version(cast=cast), plan=plan), cast.mara)
    release = start(release, cast.mara, percent)
    assert (release.percent, release.state) == (served, State.LIVE if served == 100 else State.CANARY)


@pytest.mark.parametrize("percent", [0, -1, 101])
def test_no_share_is_out_of_bounds(cast: make.Cast, percent: int) -> None:
    release = approve(propose(cast, make.version(cast=cast)), cast.mara)
    with pytest.raises(ValueError, match="1 to 100 percent"):
        start(release, cast.mara, percent)
    assert state_of(release) == State.APPROVED


ACTIONS: dict[str, Callable[[Release, make.Cast], Release]] = {
    "approve": lambda release, cast: approve(release, cast.otto),
    "reject": lambda release, cast: DECISIONS["reject"](release, cast.mara),
    "withdraw": lambda release, cast: approvals.withdraw(
        release=release, actor=crew.actor(cast.ines), now=NOW
    ),
    "start": lambda release, cast: start(release, cast.mara),
    "advance": lambda release, cast: rollouts.advance(
        release=release, actor=crew.actor(cast.mara), percent=50, now=NOW
    ),
    "halt": lambda release, cast: rollouts.halt(
        release=release, actor=crew.actor(cast.mara), reason="Stop.", now=NOW
    ),
    "rollback": lambda release, cast: rollouts.roll_back(
        release=release, actor=crew.actor(cast.mara), reason="Stop.", now=NOW
    ),
    "resume": lambda release, cast: rollouts.resume(release=release, actor=crew.actor(cast.mara), now=NOW),
    "override": lambda release, cast: override_evaluation(release, cast.mara),
    "break_glass": lambda release, cast: rollouts.break_glass(
        release=release, actor=crew.actor(cast.mara), reason="The shop is down.", now=NOW
    ),
}


def override_evaluation(release: Release, user: User) -> Release:
    """Answer for the gate `evaluation`, which is shut from now on."""
    where = Environment.objects.filter(pk=release.environment_id)
    where.update(needs_evaluation=True)
    try:
        return approvals.override(
            release=release, gate="evaluation", actor=crew.actor(user), reason="Run by hand.", now=NOW
        )
    finally:
        where.update(needs_evaluation=False)


def brought_to(state: str, version: Version, cast: make.Cast) -> Release:
    """A release in production in this state, those that follow from another's or from time included."""
    if state not in {"superseded", "expired"}:
        return make.release(version, "production", cast=cast, state=state)
    first = State.LIVE if state == "superseded" else State.PROPOSED
    release = make.release(version, "production", cast=cast, state=first)
    if state == "superseded":
        after = make.version(version.skill.name, "1.1.0", cast=cast, body="1.1\n")
        make.release(after, "production", cast=cast)
    else:
        approvals.expire_proposals(now=NOW + timedelta(days=14))
    return Release.objects.get(pk=release.pk)


WAYS = {
    "proposed": {
        "approve": "approved",
        "reject": "rejected",
        "withdraw": "withdrawn",
        "override": "proposed",
        "break_glass": "live",
    },
    "approved": {
        "reject": "rejected",
        "withdraw": "withdrawn",
        "start": "live",
        "override": "approved",
        "break_glass": "live",
    },
    "canary": {"advance": "canary", "halt": "halted", "override": "canary", "break_glass": "live"},
    "live": {"rollback": "rolled_back"},
    "halted": {"resume": "canary", "override": "halted", "break_glass": "live"},
    "rejected": {},
    "withdrawn": {},
    "rolled_back": {},
    "superseded": {},
    "expired": {},
}
SAID = {
    "proposed": "waits for approval",
    "approved": "is approved",
    "canary": "is a canary",
    "live": "is live",
    "rejected": "was rejected",
    "withdrawn": "was withdrawn",
    "halted": "was halted",
    "rolled_back": "was rolled back",
    "superseded": "was superseded",
    "expired": "has expired",
}


def test_the_tables_are_whole() -> None:
    """Every state and every action that people take stands in them."""
    assert set(WAYS) == set(SAID) == set(State.values)
    assert set(ACTIONS) == {*STARTS_FROM} - {"expire", "hold", "supersede", "restore"}


@pytest.mark.parametrize("state", WAYS)
def test_which_action_starts_from_which_state(cast: make.Cast, state: str) -> None:
    cast.mara.grants.update(may_override=True)
    version = make.version(cast=cast)
    for number, (action, act) in enumerate(ACTIONS.items()):
        if number:
            version = make.version(f"skill-{number}", cast=cast)
        release = brought_to(state, version, cast)
        if action in WAYS[state]:
            assert act(release, cast).state == WAYS[state][action]
            continue
        count = release.transitions.count()
        with pytest.raises(WrongState, match=f"^This release {SAID[state]}"):
            act(release, cast)
        assert (state_of(release), release.transitions.count()) == (state, count)


@pytest.mark.parametrize("reason", ["", "  \n"])
@pytest.mark.parametrize(
    ("action", "state"),
    [
        (approvals.reject, "proposed"),
        (rollouts.halt, "canary"),
        (rollouts.roll_back, "live"),
        (rollouts.break_glass, "proposed"),
    ],
)
def test_what_takes_away_or_forces_needs_a_reason(
    cast: make.Cast, action: Callable[..., Release], state: str, reason: str
) -> None:
    cast.mara.grants.update(may_override=True)
    release = make.release(make.version(cast=cast), "production", cast=cast, state=state)
    with pytest.raises(ReasonMissing, match="Give a reason"):
        action(release=release, actor=crew.actor(cast.mara), reason=reason, now=NOW)
    assert state_of(release) == state


# -- one open release of a version


@pytest.mark.parametrize("state", ["proposed", "approved", "canary", "live"])
def test_one_release_of_a_version_is_open_in_an_environment(cast: make.Cast, state: str) -> None:
    version = make.version(cast=cast)
    make.release(version, "production", cast=cast, state=state)
    with pytest.raises(
        WrongState, match=r"^A release of refund-check 1\.0\.0 is open in Production already\.$"
    ):
        propose(cast, version)
    assert propose(cast, version, "staging").state == State.PROPOSED


@pytest.mark.parametrize("state", ["rejected", "withdrawn", "halted", "rolled_back"])
def test_what_is_closed_can_be_proposed_again(cast: make.Cast, state: str) -> None:
    version = make.version(cast=cast)
    make.release(version, "production", cast=cast, state=state)
    assert propose(cast, version).state == State.PROPOSED


def test_one_canary_of_a_skill_runs_in_an_environment(cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast, state=State.CANARY)
    other = make.version(number="1.1.0", cast=cast, body="1.1\n")
    release = approve(propose(cast, other), cast.mara)
    with pytest.raises(WrongState, match=r"^Another canary of refund-check runs in Production"):
        start(release, cast.mara, 10)
    assert state_of(release) == State.APPROVED
    assert start(release, cast.mara, 100).state == State.LIVE


@pytest.mark.parametrize("mark", ["yanked_at", "revoked_at"])
def test_what_was_taken_back_is_neither_proposed_nor_started(cast: make.Cast, mark: str) -> None:
    version = make.version(cast=cast)
    release = approve(propose(cast, version), cast.mara)
    Version.objects.filter(pk=version.pk).update(**{mark: NOW})
    word = mark.removesuffix("_at")
    with pytest.raises(WrongState, match=rf"^Version 1\.0\.0 is {word}\.$"):
        start(release, cast.mara)
    with pytest.raises(WrongState, match=rf"^Version 1\.0\.0 is {word}\.$"):
        propose(cast, version, "staging")


def test_a_deleted_skill_is_not_proposed(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    Skill.objects.update(deleted_at=NOW)
    with pytest.raises(WrongState, match=r"^The skill refund-check is deleted\.$"):
        propose(cast, version)


# -- rolling back


def lives(cast: make.Cast, *numbers: str) -> list[Release]:
    """Versions that went live in production one after the other."""
    return [
        make.release(
            make.version(number=number, cast=cast, body=f"{number}\n"),
            "production",
            cast=cast,
            now=NOW + timedelta(hours=hours),
        )
        for hours, number in enumerate(numbers)
    ]


def roll_back(cast: make.Cast, release: Release, hours: int = 9) -> Release:
    """A rollback by Mara."""
    now = NOW + timedelta(hours=hours)
    return rollouts.roll_back(release=release, actor=crew.actor(cast.mara), reason="Wrong.", now=now)


def live_now() -> list[str]:
    """The versions that are live in production."""
    rows = Release.objects.filter(environment__name="production", state=State.LIVE)
    return list(rows.values_list("version__version", flat=True))


def test_a_rollback_restores_the_one_before(cast: make.Cast) -> None:
    first, second = lives(cast, "1.0.0", "1.1.0")
    assert roll_back(cast, second).state == State.ROLLED_BACK
    first.refresh_from_db()
    assert (first.state, first.percent) == (State.LIVE, 100)
    assert first.transitions.order_by("-n").values_list("action", "reason")[0] == ("restore", "Wrong.")
    assert live_now() == ["1.0.0"]


def test_rollbacks_go_back_step_by_step(cast: make.Cast) -> None:
    releases_made = lives(cast, "1.0.0", "1.1.0", "1.2.0")
    for hours, (release, left) in enumerate(
        zip(reversed(releases_made), (["1.1.0"], ["1.0.0"], []), strict=True), start=5
    ):
        roll_back(cast, Release.objects.get(pk=release.pk), hours)
        assert live_now() == left
    with pytest.raises(WrongState, match=r"^This release was rolled back; it cannot be rolled back now\.$"):
        roll_back(cast, releases_made[0])


def test_a_rollback_of_the_first_leaves_nothing(cast: make.Cast) -> None:
    [only] = lives(cast, "1.0.0")
    roll_back(cast, only)
    assert live_now() == []
    assert make.environment("production").revision == 2


@pytest.mark.parametrize("mark", ["yanked_at", "revoked_at"])
def test_what_was_taken_back_is_not_restored(cast: make.Cast, mark: str) -> None:
    first, second = lives(cast, "1.0.0", "1.1.0")
    Version.objects.filter(pk=first.version_id).update(**{mark: NOW})
    roll_back(cast, second)
    assert live_now() == []


@pytest.mark.parametrize(
    ("state", "ends"), [("proposed", "withdrawn"), ("approved", "withdrawn"), ("canary", "halted")]
)
def test_a_rollback_makes_way_where_the_one_before_was_proposed_again(
    cast: make.Cast, state: str, ends: str
) -> None:
    first, second = lives(cast, "1.0.0", "1.1.0")
    again = make.release(first.version, "production", cast=cast, state=state)
    roll_back(cast, second)
    assert live_now() == ["1.0.0"]
    assert state_of(first) == State.LIVE
    assert state_of(again) == ends
    assert again.transitions.order_by("-n").values_list("reason", flat=True)[0] == (
        "1.0.0 is live again by a rollback."
    )


def test_what_was_rolled_back_can_go_live_again_and_back(cast: make.Cast) -> None:
    _, second = lives(cast, "1.0.0", "1.1.0")
    roll_back(cast, second)
    again = make.release(second.version, "production", cast=cast, now=NOW + timedelta(hours=10))
    assert live_now() == ["1.1.0"]
    roll_back(cast, again, 11)
    assert live_now() == ["1.0.0"]


def test_a_halt_leaves_the_live_one(cast: make.Cast) -> None:
    lives(cast, "1.0.0")
    canary = make.release(
        make.version(number="1.1.0", cast=cast, body="1.1\n"), "production", cast=cast, state=State.CANARY
    )
    halted = rollouts.halt(release=canary, actor=crew.actor(cast.ines), reason="Errors.", now=NOW)
    assert (halted.state, halted.percent) == (State.HALTED, 20)
    assert live_now() == ["1.0.0"]


# -- expiry


@pytest.mark.parametrize("state", ["proposed", "approved"])
def test_a_proposal_expires_after_14_days(cast: make.Cast, state: str) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=state)
    end = NOW + timedelta(days=14)
    assert release.expires_at == end
    assert approvals.expire_proposals(now=end - timedelta(seconds=1)) == 0
    assert approvals.expire_proposals(now=end) == 1
    assert approvals.expire_proposals(now=end) == 0
    assert state_of(release) == State.EXPIRED
    last = release.transitions.order_by("-n").first()
    assert last is not None
    assert (last.action, last.actor, last.reason) == ("expire", None, "Nobody decided in time.")
    assert JournalEntry.objects.order_by("-n").values_list("actor", "origin")[0] == ("system", "scheduler")


@pytest.mark.parametrize("state", ["canary", "live", "rejected"])
def test_what_was_decided_does_not_expire(cast: make.Cast, state: str) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=state)
    assert approvals.expire_proposals(now=NOW + timedelta(days=400)) == 0
    assert state_of(release) == state


def test_what_is_overdue_is_not_decided_before_the_job_has_closed_it(cast: make.Cast) -> None:
    late = NOW + timedelta(days=14)
    release = propose(cast, make.version(cast=cast))
    with pytest.raises(WrongState, match=r"^This proposal has expired; propose the version again\.$"):
        approve(release, cast.mara, now=late)
    release = approve(release, cast.mara)
    with pytest.raises(WrongState, match="has expired"):
        start(release, cast.mara, now=late)


# -- nothing is changed without a clearance for just that


def clearance(release: Release, **fields: Any) -> Clearance:
    """Leave to start this release."""
    told: dict[str, Any] = {
        "action": "start",
        "environment": release.environment.name,
        "bundle_sha256": release.bundle_sha256,
        "declaration_sha256": release.declaration_sha256,
        "gates": (Gate("risk", True, ""),),
    }
    return Clearance(**{**told, **fields})


@pytest.mark.parametrize(
    "other",
    [
        {"action": "advance"},
        {"environment": "staging"},
        {"bundle_sha256": "0" * 64},
        {"declaration_sha256": "0" * 64},
        {"gates": ()},
        {"gates": (Gate("risk", True, ""), Gate("stability", False, "no"))},
    ],
)
def test_a_clearance_of_something_else_clears_nothing(cast: make.Cast, other: dict[str, Any]) -> None:
    release = approve(propose(cast, make.version(cast=cast)), cast.mara)
    told: dict[str, Any] = {"release": release, "percent": 100, "actor": crew.actor(cast.mara), "now": NOW}
    with pytest.raises(NotCleared):
        serving.start(clearance=clearance(release, **other), **told)
    assert state_of(release) == State.APPROVED
    assert serving.start(clearance=clearance(release), **told).state == State.LIVE


def test_what_is_replaced_or_put_back_has_a_clearance_of_its_own(cast: make.Cast) -> None:
    first = make.release(make.version(cast=cast), "production", cast=cast)
    second = make.release(make.version(number="1.1.0", cast=cast, body="1.1\n"), "production", cast=cast)
    roll_back(cast, second)
    for action, gates in (("supersede", 0), ("restore", 6)):
        kept = first.transitions.get(action=action).clearance
        assert (kept["action"], kept["bundle_sha256"], len(kept["gates"])) == (
            action,
            first.bundle_sha256,
            gates,
        )
    third = approve(propose(cast, make.version(number="1.2.0", cast=cast, body="1.2\n")), cast.mara)
    told: dict[str, Any] = {"release": third, "percent": 100, "actor": crew.actor(cast.mara), "now": NOW}
    for replaced in (None, clearance(first), clearance(third, action="supersede")):
        with pytest.raises(NotCleared):
            serving.start(clearance=clearance(third), replaced=replaced, **told)
    live = Release.objects.get(state=State.LIVE)
    assert live == first
    serving.start(clearance=clearance(third), replaced=clearance(first, action="supersede"), **told)
    back: dict[str, Any] = {**told, "release": third, "reason": "Wrong."}
    back.pop("percent")
    for restore in (
        None,
        clearance(first),
        clearance(third, action="restore"),
        clearance(first, action="restore", gates=()),
    ):
        with pytest.raises(NotCleared):
            rollbacks.roll_back(clearance=clearance(third, action="rollback"), restore=restore, **back)
    assert state_of(third) == State.LIVE


def test_what_a_gate_keeps_out_by_now_is_not_put_back(cast: make.Cast) -> None:
    first = make.release(make.version(cast=cast, permissions=("send",)), "production", cast=cast)
    second = make.release(make.version(number="1.1.0", cast=cast, body="1.1\n"), "production", cast=cast)
    Environment.objects.filter(name="production").update(permissions=["network"])
    assert roll_back(cast, second).state == State.ROLLED_BACK
    assert state_of(first) == State.SUPERSEDED
    assert not Release.objects.filter(state=State.LIVE).exists()
    told = second.transitions.get(action="rollback")
    assert told.reason == "Wrong. 1.0.0 is not put back: Not allowed here: send."


def test_governance_alone_makes_clearances() -> None:
    """Whoever makes a clearance decides; another place that did would be a way round every gate."""
    makers = set()
    for floor in ("catalog", "governance", "portal"):
        for path in (crew.ROOT / floor).rglob("*.py"):
            calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
            names = {getattr(call.func, "id", getattr(call.func, "attr", "")) for call in calls}
            makers |= {str(path.relative_to(crew.ROOT))} if "Clearance" in names else set()
    assert makers == {"governance/clearing.py"}


def test_the_clearance_is_kept_with_the_transition(cast: make.Cast) -> None:
    release = start(approve(propose(cast, make.version(cast=cast)), cast.mara), cast.mara)
    kept = release.transitions.get(action="start").clearance
    assert kept["approvals"] == ["mara"]
    assert [gate["name"] for gate in kept["gates"]] == [
        "permissions", "risk", "stability", "idempotency", "evaluation", "dependencies",
    ]  # fmt: skip
    assert kept["bundle_sha256"] == release.bundle_sha256


def test_a_version_that_is_yanked_while_live_stays_a_release(cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast)
    lifecycle.yank(version=release.version, actor=crew.actor(cast.ines), reason="Typo.", now=NOW)
    assert state_of(release) == State.LIVE
