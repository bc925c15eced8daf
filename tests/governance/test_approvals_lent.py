"""Rights that were lent: what they give, to whom, for how long, and that four eyes hold for both."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from catalog import ownership
from catalog.access import NotAllowed, powers_of
from catalog.models import Approval, Delegation, Environment, Release, Role, State, Team, User
from catalog.releases import WrongState
from governance import approvals, rollouts
from governance.clearing import review
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db

NOW = make.NOW
HOUR = timedelta(hours=1)


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


def lend(giver: User, taker: User, *, hours: int = 24, **fields: Any) -> Delegation:
    """A loan of the giver's rights from now on."""
    told: dict[str, Any] = {"starts_at": NOW, "ends_at": NOW + hours * HOUR, "created_at": NOW, **fields}
    return Delegation.objects.create(giver=giver, taker=taker, **told)


def proposal(cast: make.Cast, name: str = "refund-check", **fields: Any) -> Release:
    """A proposal by Ines of a version that she published."""
    risk = {"risk_level": fields.pop("risk_level", "low")}
    version = make.version(name, cast=cast, publisher=fields.pop("publisher", None), **risk)
    return make.release(version, "production", cast=cast, state=State.PROPOSED, **fields)


def approve(release: Release, user: User, now: datetime = NOW) -> Release:
    """An approval, confirmed."""
    return make.approve(release, user, now=now)


def given(release: Release) -> list[tuple[str, str]]:
    """Who approved, with whose right."""
    rows = Approval.objects.filter(release=release, voided_at=None).order_by("created_at", "pk")
    return list(rows.values_list("user__username", "right_of__username"))


def test_who_was_lent_the_right_decides_with_it(cast: make.Cast) -> None:
    lend(cast.mara, cast.nora)
    release = approve(proposal(cast), cast.nora)
    assert release.state == State.APPROVED
    assert given(release) == [("nora", "mara")]
    assert rollouts.start(release=release, actor=crew.actor(cast.nora), now=NOW).state == State.LIVE


def test_giver_and_taker_never_count_twice(cast: make.Cast) -> None:
    lend(cast.mara, cast.nora)
    first = approve(proposal(cast, risk_level="high"), cast.nora)
    with pytest.raises(
        WrongState, match=r"^Nora Quist has approved this release already, with the right that you lent\.$"
    ):
        approve(first, cast.mara)
    second = approve(proposal(cast, "other", risk_level="high"), cast.mara)
    with pytest.raises(
        WrongState, match=r"^The right that Mara Lindqvist lent you has been used for this release already\.$"
    ):
        approve(second, cast.nora)
    assert [one.state for one in Release.objects.order_by("pk")] == ["proposed", "proposed"]
    assert given(first) == [("nora", "mara")]
    assert given(second) == [("mara", "mara")]


def test_one_person_with_two_rights_counts_once(cast: make.Cast) -> None:
    lend(cast.mara, cast.otto)
    release = approve(proposal(cast, risk_level="high"), cast.otto)
    assert given(release) == [("otto", "otto")]
    with pytest.raises(WrongState, match=r"^You have approved this release already\.$"):
        approve(release, cast.otto)
    assert approve(release, cast.mara).state == State.APPROVED


def test_rights_of_two_givers_are_two_rights_and_one_person(cast: make.Cast) -> None:
    lend(cast.mara, cast.nora)
    lend(cast.otto, cast.nora)
    release = approve(proposal(cast, risk_level="high"), cast.nora)
    with pytest.raises(WrongState, match=r"^You have approved this release already\.$"):
        approve(release, cast.nora)
    assert len(given(release)) == 1


def test_two_takers_of_one_giver_count_once(cast: make.Cast) -> None:
    lend(cast.mara, cast.nora)
    lend(cast.mara, cast.lena)
    release = approve(proposal(cast, risk_level="high"), cast.nora)
    with pytest.raises(WrongState, match=r"^The right that Mara Lindqvist lent you"):
        approve(release, cast.lena)


@pytest.mark.parametrize("near", ["proposer", "publisher"])
@pytest.mark.parametrize("who", ["giver", "taker"])
def test_four_eyes_hold_for_giver_and_taker(cast: make.Cast, near: str, who: str) -> None:
    make.grant(cast.nora, Role.PUBLISHER, team=cast.payments)
    giver, taker = (cast.nora, cast.mara) if who == "giver" else (cast.mara, cast.nora)
    make.grant(cast.nora, Role.APPROVER)
    if who == "giver":
        cast.mara.grants.all().delete()
    lend(giver, taker)
    fields = {"proposer": cast.nora} if near == "proposer" else {"publisher": cast.nora}
    release = proposal(cast, **fields)
    told = {
        ("giver", "proposer"): "Who lent you the right proposed",
        ("giver", "publisher"): "Who lent you the right proposed",
        ("taker", "proposer"): "You proposed",
        ("taker", "publisher"): "You published",
    }[who, near]
    for act in (
        lambda: approve(release, taker),
        lambda: approvals.reject(release=release, actor=crew.actor(taker), reason="No.", now=NOW),
    ):
        with pytest.raises(NotAllowed, match=f"^{told}"):
            act()
    assert given(release) == []
    assert Release.objects.get(pk=release.pk).state == State.PROPOSED


def test_an_own_right_is_not_lost_by_a_loan_of_the_proposer(cast: make.Cast) -> None:
    """Ines proposed and lends her right; Mara decides with her own."""
    make.grant(cast.ines, Role.APPROVER)
    lend(cast.ines, cast.mara)
    assert given(approve(proposal(cast), cast.mara)) == [("mara", "mara")]


def test_who_proposed_falls_back_on_no_lent_right(cast: make.Cast) -> None:
    make.grant(cast.ines, Role.APPROVER)
    lend(cast.mara, cast.ines)
    with pytest.raises(NotAllowed, match=r"^You proposed this release; another approver decides\.$"):
        approve(proposal(cast), cast.ines)


@pytest.mark.parametrize(
    ("hours", "may"), [(-0.01, False), (0, True), (23.99, True), (24, False), (25, False)]
)
def test_a_loan_has_a_beginning_and_an_end(cast: make.Cast, hours: float, may: bool) -> None:
    lend(cast.mara, cast.nora)
    release, then = proposal(cast), NOW + hours * HOUR
    if may:
        assert approve(release, cast.nora, then).state == State.APPROVED
    else:
        with pytest.raises(NotAllowed, match=r"^Deciding needs the role approver for Production\.$"):
            approve(release, cast.nora, then)


def test_a_loan_that_was_ended_gives_nothing(cast: make.Cast) -> None:
    lend(cast.mara, cast.nora, ended_at=NOW)
    with pytest.raises(NotAllowed):
        approve(proposal(cast), cast.nora)


def test_what_was_approved_while_the_loan_lasted_holds(cast: make.Cast) -> None:
    loan = lend(cast.mara, cast.nora)
    release = approve(proposal(cast, risk_level="high"), cast.nora)
    Delegation.objects.filter(pk=loan.pk).update(ended_at=NOW + HOUR)
    assert len(review(release).approvals) == 1
    with pytest.raises(WrongState, match=r"^Nora Quist has approved this release already"):
        approve(release, cast.mara, NOW + 2 * HOUR)
    release = approve(release, cast.otto, NOW + 2 * HOUR)
    assert release.state == State.APPROVED
    with pytest.raises(NotAllowed):
        rollouts.start(release=release, actor=crew.actor(cast.nora), now=NOW + 2 * HOUR)
    started = rollouts.start(release=release, actor=crew.actor(cast.otto), now=NOW + 2 * HOUR)
    assert started.state == State.LIVE


@pytest.mark.parametrize("lost", ["grant", "account"])
def test_what_the_giver_no_longer_holds_is_not_lent(cast: make.Cast, lost: str) -> None:
    lend(cast.mara, cast.nora)
    if lost == "grant":
        cast.mara.grants.all().delete()
    else:
        User.objects.filter(pk=cast.mara.pk).update(is_active=False)
    with pytest.raises(NotAllowed):
        approve(proposal(cast), cast.nora)


def test_what_was_lent_is_not_lent_on(cast: make.Cast) -> None:
    lend(cast.mara, cast.nora)
    lend(cast.nora, cast.lena)
    with pytest.raises(NotAllowed):
        approve(proposal(cast), cast.lena)


@pytest.mark.parametrize(
    ("own", "loan", "may"),
    [
        ({}, {"team": "payments"}, True),
        ({}, {"team": "support"}, False),
        ({}, {"environment": "production"}, True),
        ({}, {"environment": "staging"}, False),
        ({"team": "support"}, {}, False),
        ({"team": "payments", "environment": "production"}, {"team": "payments"}, True),
        ({"environment": "staging"}, {"environment": "production"}, False),
        ({"environment": "production"}, {"team": "support"}, False),
    ],
)
def test_a_loan_is_cut_to_what_it_names_and_what_is_held(
    cast: make.Cast, own: dict[str, str], loan: dict[str, str], may: bool
) -> None:
    cast.mara.grants.all().delete()
    make.grant(cast.mara, Role.APPROVER, **named(own))
    lend(cast.mara, cast.nora, **named(loan))
    assert powers_of(cast.nora, now=NOW).may_decide(proposal(cast)) is may


def named(told: dict[str, str]) -> dict[str, Any]:
    """Team and environment by their names."""
    found: dict[str, Any] = {}
    if "team" in told:
        found["team"] = Team.objects.get(slug=told["team"])
    if "environment" in told:
        found["environment"] = make.environment(told["environment"])
    return found


def test_overriding_and_breaking_glass_are_not_lent(cast: make.Cast) -> None:
    cast.mara.grants.update(may_override=True)
    lend(cast.mara, cast.nora)
    Environment.objects.filter(name="production").update(needs_evaluation=True)
    release = proposal(cast)
    with pytest.raises(NotAllowed, match=r"^Overriding needs an approver for Production with that right\.$"):
        approvals.override(
            release=release, gate="evaluation", actor=crew.actor(cast.nora), reason="x", now=NOW
        )
    with pytest.raises(NotAllowed, match=r"^Breaking the glass needs an approver for Production"):
        rollouts.break_glass(release=release, actor=crew.actor(cast.nora), reason="x", now=NOW)


# -- where the policy wants approvers from outside


@pytest.fixture
def outside() -> None:
    """Production wants approvers who do not publish for the owning team."""
    Environment.objects.filter(name="production").update(outside_approval=True)


@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize("who", ["mara", "nora"])
def test_outside_approval_counts_for_user_and_giver(cast: make.Cast, who: str) -> None:
    lend(cast.mara, cast.nora)
    insider = getattr(cast, who)
    make.grant(insider, Role.PUBLISHER, team=cast.payments)
    with pytest.raises(NotAllowed, match=r"^Production wants approvers who do not publish for Payments\.$"):
        approve(proposal(cast), cast.nora)
    if who == "nora":
        assert approve(proposal(cast, "other"), cast.mara).state == State.APPROVED


@pytest.mark.usefixtures("outside")
def test_an_insider_of_another_team_is_outside_enough(cast: make.Cast) -> None:
    make.grant(cast.mara, Role.PUBLISHER, team=cast.support)
    assert approve(proposal(cast), cast.mara).state == State.APPROVED


@pytest.mark.usefixtures("outside")
def test_the_own_right_of_an_outsider_is_used_although_an_insider_lends_one(cast: make.Cast) -> None:
    make.grant(cast.mara, Role.PUBLISHER, team=cast.payments)
    lend(cast.mara, cast.otto)
    release = proposal(cast)
    assert powers_of(cast.otto, now=NOW).deciding_for(release) == (cast.otto.pk,)
    assert given(approve(release, cast.otto)) == [("otto", "otto")]


@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize("there_and_back", [True, False])
def test_an_approval_from_outside_of_one_team_is_none_for_another(
    cast: make.Cast, there_and_back: bool
) -> None:
    make.grant(cast.mara, Role.PUBLISHER, team=cast.payments)
    make.grant(cast.ines, Role.PUBLISHER, team=cast.support)
    release = proposal(cast)
    if there_and_back:
        move(release, cast.support, cast.ines)
        approve(release, cast.mara)
        move(release, cast.payments, cast.ines)
    else:
        approve(release, cast.otto)
        move(release, cast.support, cast.ines)
    with pytest.raises(WrongState, match="Its approvals are void, since the policy, the risk, the team"):
        rollouts.start(release=release, actor=crew.actor(cast.otto), now=NOW)


def test_a_transfer_leaves_approvals_where_insiders_approve(cast: make.Cast) -> None:
    make.grant(cast.ines, Role.PUBLISHER, team=cast.support)
    release = approve(proposal(cast), cast.mara)
    move(release, cast.support, cast.ines)
    assert rollouts.start(release=release, actor=crew.actor(cast.otto), now=NOW).state == State.LIVE


def move(release: Release, team: Team, user: User) -> None:
    """Give the skill of a release to another team."""
    ownership.transfer(skill=release.skill, team=team, actor=crew.actor(user), reason="Moved.", now=NOW)
