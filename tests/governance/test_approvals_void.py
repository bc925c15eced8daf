"""What an approval is for: when it holds no longer, and what follows; overrides and breaking the glass."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from catalog import lifecycle
from catalog.access import NotAllowed
from catalog.models import Approval, Environment, JournalEntry, Override, Release, Role, State, User, Version
from catalog.releases import NotCleared, WrongState
from governance import approvals, rollouts
from governance.approvals import NoSuchGate
from governance.clearing import review
from governance.refusals import ReasonMissing
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db

NOW = make.NOW
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def cast() -> make.Cast:
    """The cast; Mara and Otto may override gates."""
    made = make.cast()
    made.mara.grants.update(may_override=True)
    made.otto.grants.update(may_override=True)
    return made


def policy(**columns: Any) -> None:
    """Change the policy of production."""
    Environment.objects.filter(name="production").update(**columns)


def fresh(release: Release) -> Release:
    """The release as it is now."""
    return Release.objects.select_related("version", "environment", "skill__team").get(pk=release.pk)


def override(release: Release, user: User, gate: str = "evaluation", reason: str = "Run by hand.") -> Release:
    """Answer for a gate."""
    return approvals.override(release=release, gate=gate, actor=crew.actor(user), reason=reason, now=NOW)


def start(release: Release, user: User) -> Release:
    """A start for all."""
    return rollouts.start(release=release, actor=crew.actor(user), now=NOW)


def force(release: Release, user: User, reason: str = "The shop is down.") -> Release:
    """Break the glass."""
    return rollouts.break_glass(release=release, actor=crew.actor(user), reason=reason, now=LATER)


def last(release: Release) -> tuple[str, str, str]:
    """Action, state and reason of the last transition."""
    return release.transitions.order_by("-n").values_list("action", "to_state", "reason")[0]


# -- risk


def test_a_lower_risk_alone_voids_nothing(cast: make.Cast) -> None:
    version = make.version(cast=cast, risk_level="high")
    release = make.release(version, "production", cast=cast, state=State.APPROVED)
    Version.objects.filter(pk=version.pk).update(risk_level="low", suggested_risk="low")
    assert review(fresh(release)).void == ()
    assert start(release, cast.mara).state == State.LIVE


@pytest.mark.parametrize(
    ("before", "after", "holds"),
    [
        ("low", "medium", False),
        ("low", "high", False),
        ("medium", "high", False),
        ("medium", "low", True),
        ("high", "medium", True),
    ],
)
def test_an_approval_holds_up_to_the_risk_that_it_was_given_at(
    cast: make.Cast, before: str, after: str, holds: bool
) -> None:
    version = make.version(cast=cast, risk_level=before)
    release = make.release(version, "production", cast=cast, state=State.APPROVED)
    Version.objects.filter(pk=version.pk).update(risk_level=after)
    assert bool(review(fresh(release)).approvals) is holds


@pytest.mark.parametrize("name", ["mara", "otto"])
def test_what_is_enough_by_a_lower_risk_is_settled_by_a_click(cast: make.Cast, name: str) -> None:
    """Two were needed and Mara approved; now one is needed: her next click or Otto's settles it."""
    version = make.version(cast=cast, risk_level="high")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    make.approve(release, cast.mara)
    Version.objects.filter(pk=version.pk).update(risk_level="low", suggested_risk="low")
    done = make.approve(release, getattr(cast, name))
    assert done.state == State.APPROVED
    assert Approval.objects.count() == (1 if name == "mara" else 2)
    assert list(done.transitions.order_by("n").values_list("n", flat=True)) == [1, 2, 3]


# -- gates


def test_an_approval_is_void_where_a_gate_that_was_open_is_shut(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    release = make.release(version, "production", cast=cast, state=State.APPROVED)
    Version.objects.filter(pk=version.pk).update(deprecated_at=NOW)
    seen = review(fresh(release))
    assert (len(seen.approvals), len(seen.void), [gate.name for gate in seen.shut]) == (0, 1, ["stability"])
    with pytest.raises(NotCleared, match=r"^These gates are shut: stability\.$"):
        start(release, cast.mara)
    # Whoever answers for the gate opens it, and what was approved with it open holds again.
    override(release, cast.otto, "stability")
    assert start(release, cast.mara).state == State.LIVE


def test_an_approval_past_a_shut_gate_holds_when_somebody_answers_for_it(cast: make.Cast) -> None:
    policy(needs_evaluation=True)
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.APPROVED)
    assert len(review(fresh(release)).approvals) == 1
    override(release, cast.otto)
    assert start(release, cast.mara).state == State.LIVE


# -- overriding


def test_an_override_opens_a_gate_and_is_kept_for_ever(cast: make.Cast) -> None:
    policy(needs_evaluation=True)
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.APPROVED)
    release = override(release, cast.mara, reason="  Run by hand.  ")
    assert last(release) == ("override", "approved", "evaluation: Run by hand.")
    row = Override.objects.get()
    assert (row.gate, row.reason, row.user) == ("evaluation", "Run by hand.", cast.mara)
    assert row.detail == "An evaluation is asked for here, and none was reported."
    gate = next(one for one in review(fresh(release)).gates if one.name == "evaluation")
    assert (gate.passed, gate.is_open, gate.overridden) == (False, True, "mara: Run by hand.")
    entry = JournalEntry.objects.order_by("-n")[0]
    assert (entry.verb, entry.actor) == ("release.override", "mara")
    release = start(release, cast.mara)
    kept = release.transitions.get(action="start").clearance["gates"]
    assert [one["overridden"] for one in kept if one["name"] == "evaluation"] == ["mara: Run by hand."]
    assert Override.objects.count() == 1


@pytest.mark.parametrize(
    ("gate", "told"),
    [
        ("risk", r"^The gate risk follows from the policy of Production; an administrator changes that\.$"),
        ("permissions", r"^The gate permissions follows from the policy of Production"),
        ("stability", r"^The gate stability is open; there is nothing to override\.$"),
        ("luck", r"^There is no gate 'luck'; there are permissions, risk, stability"),
        ("", r"^There is no gate ''; "),
    ],
)
def test_what_nobody_answers_for(cast: make.Cast, gate: str, told: str) -> None:
    policy(needs_evaluation=True, permissions=[], highest_risk="low")
    version = make.version(cast=cast, permissions=("network",), risk_level="medium")
    release = make.release(version, "production", cast=cast, state=State.APPROVED)
    with pytest.raises(NoSuchGate, match=told):
        override(release, cast.mara, gate)
    assert not Override.objects.exists()


def test_an_override_needs_a_reason(cast: make.Cast) -> None:
    policy(needs_evaluation=True)
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    with pytest.raises(ReasonMissing):
        override(release, cast.mara, reason=" \n")
    assert not Override.objects.exists()


def test_an_override_of_a_hard_gate_that_was_written_anyway_opens_nothing(cast: make.Cast) -> None:
    policy(highest_risk="low")
    release = make.release(
        make.version(cast=cast, risk_level="medium"), "production", cast=cast, state=State.APPROVED
    )
    gate = next(one for one in review(fresh(release)).gates if one.name == "risk")
    bound = release.approvals.get().bound_to
    Override.objects.create(
        release=release,
        gate="risk",
        reason="x",
        detail=gate.detail,
        bound_to=bound,
        user=cast.mara,
        created_at=NOW,
    )
    assert [one.name for one in review(fresh(release)).shut] == ["risk"]


@pytest.mark.parametrize("near", ["proposer", "publisher"])
def test_four_eyes_hold_for_an_override(cast: make.Cast, near: str) -> None:
    policy(needs_evaluation=True)
    make.grant(cast.nora, Role.PUBLISHER, team=cast.payments)
    make.grant(cast.nora, Role.APPROVER, may_override=True)
    version = make.version(cast=cast, publisher=cast.nora if near == "publisher" else cast.ines)
    proposer = cast.nora if near == "proposer" else cast.ines
    release = make.release(version, "production", cast=cast, state=State.PROPOSED, proposer=proposer)
    with pytest.raises(NotAllowed, match=r"^You proposed this release or published its version; another"):
        override(release, cast.nora)
    assert override(release, cast.mara).state == State.PROPOSED


@pytest.mark.parametrize("name", ["ines", "sven", "ravi", "lena", "ada", "nora"])
def test_overriding_and_breaking_glass_need_the_right(cast: make.Cast, name: str) -> None:
    policy(needs_evaluation=True)
    cast.otto.grants.update(may_override=False)
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    for user in (getattr(cast, name), cast.otto):
        with pytest.raises(NotAllowed, match=r"^Overriding needs an approver for Production with that right"):
            override(release, user)
        with pytest.raises(NotAllowed, match=r"^Breaking the glass needs an approver for Production"):
            force(release, user)
    assert fresh(release).transitions.count() == 1


def worse_risk(release: Release) -> None:
    Version.objects.filter(pk=release.version_id).update(suggested_risk="medium")


def other_policy(release: Release) -> None:
    policy(needs_idempotency=False)


def other_detail(release: Release) -> None:
    Version.objects.filter(pk=release.version_id).update(stability="stable", prerelease=True)


@pytest.mark.parametrize("change", [worse_risk, other_policy, other_detail])
def test_an_override_is_for_what_it_saw(cast: make.Cast, change: Callable[[Release], None]) -> None:
    version = make.version(cast=cast, stability="experimental")
    release = make.release(version, "production", cast=cast, state=State.APPROVED)
    override(release, cast.mara, "stability")
    assert review(fresh(release)).shut == ()
    change(release)
    assert [gate.name for gate in review(fresh(release)).shut] == ["stability"]
    assert Override.objects.count() == 1


# -- breaking the glass


@pytest.mark.parametrize("state", ["proposed", "approved", "canary", "halted"])
def test_broken_glass_makes_it_live_at_once(cast: make.Cast, state: str) -> None:
    first = make.release(make.version(cast=cast), "production", cast=cast)
    release = make.release(
        make.version(number="1.1.0", cast=cast, body="1.1\n"), "production", cast=cast, state=state
    )
    policy(needs_evaluation=True)
    release = force(release, cast.mara)
    assert (release.state, release.percent, release.previous) == (State.LIVE, 100, first.version)
    assert last(release) == ("break_glass", "live", "The shop is down.")
    assert fresh(first).state == State.SUPERSEDED
    kept = release.transitions.get(action="break_glass").clearance["gates"]
    told = {gate["name"]: gate["overridden"] for gate in kept if not gate["passed"]}
    assert told == {"evaluation": "Glass broken by mara: The shop is down."}
    assert JournalEntry.objects.filter(verb="release.break_glass", actor="mara").count() == 1


def test_the_proposer_may_break_the_glass(cast: make.Cast) -> None:
    make.grant(cast.ines, Role.APPROVER, may_override=True)
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    assert force(release, cast.ines).state == State.LIVE
    assert not Approval.objects.exists()


@pytest.mark.parametrize(
    ("columns", "gate"), [({"permissions": []}, "permissions"), ({"highest_risk": "low"}, "risk")]
)
def test_what_the_policy_does_not_allow_stays_shut(
    cast: make.Cast, columns: dict[str, Any], gate: str
) -> None:
    policy(needs_evaluation=True, **columns)
    version = make.version(cast=cast, permissions=("network",), risk_level="medium")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    with pytest.raises(NotCleared, match=rf"^These gates are shut: {gate}\.$"):
        force(release, cast.mara)
    assert fresh(release).state == State.PROPOSED
    assert fresh(release).transitions.count() == 1


def test_what_was_taken_back_or_expired_is_not_forced(cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    with pytest.raises(WrongState, match=r"^This proposal has expired"):
        rollouts.break_glass(
            release=release, actor=crew.actor(cast.mara), reason="x", now=NOW + timedelta(days=14)
        )
    lifecycle.yank(version=release.version, actor=crew.actor(cast.ines), reason="Typo.", now=NOW)
    with pytest.raises(WrongState, match=r"^Version 1\.0\.0 is yanked\.$"):
        force(release, cast.mara)


def test_a_rollback_of_what_was_forced_puts_back_the_one_before(cast: make.Cast) -> None:
    first = make.release(make.version(cast=cast), "production", cast=cast)
    second = make.version(number="1.1.0", cast=cast, body="1.1\n")
    forced = force(make.release(second, "production", cast=cast, state=State.PROPOSED), cast.mara)
    done = rollouts.roll_back(release=forced, actor=crew.actor(cast.ines), reason="Wrong.", now=LATER)
    assert done.state == State.ROLLED_BACK
    assert fresh(first).state == State.LIVE


@pytest.mark.parametrize("state", ["proposed", "approved"])
def test_what_nobody_approved_is_not_put_back(cast: make.Cast, state: str) -> None:
    first = make.release(make.version(cast=cast), "production", cast=cast, state=state)
    first = force(first, cast.mara)
    second = make.release(make.version(number="1.1.0", cast=cast, body="1.1\n"), "production", cast=cast)
    done = rollouts.roll_back(release=second, actor=crew.actor(cast.ines), reason="Wrong.", now=LATER)
    if state == "approved":
        assert fresh(first).state == State.LIVE
        return
    assert fresh(first).state == State.SUPERSEDED
    assert last(done)[2] == (
        "Wrong. 1.0.0 is not put back: It went live by breaking the glass, and lacks approvals."
    )
