"""Delegations: lent, ended, and what the taker may do by them, moment by moment."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from catalog import delegations, grants, visibility
from catalog.access import NotAllowed, Powers, powers_of
from catalog.delegations import LONGEST, NotLendable
from catalog.models import Delegation, JournalEntry, Release, Role, Skill, User
from tests import cast as crew
from tests import make

DAY = timedelta(days=1)


@pytest.fixture
def cast(db: None) -> make.Cast:
    return make.cast()


@pytest.fixture
def release(cast: make.Cast) -> Release:
    """refund-check of Payments, proposed for production by Ines."""
    return make.release(make.version(cast=cast), "production", cast=cast, state="proposed")


def lend(giver: User, taker: User, **more: Any) -> Delegation:
    told = {"actor": crew.actor(giver), "ends_at": make.NOW + 7 * DAY, "reason": "On leave.", "now": make.NOW}
    return delegations.lend(giver=giver, taker=taker, **{**told, **more})


def end(row: Delegation, by: User, now: datetime = make.NOW) -> Delegation:
    return delegations.end_delegation(delegation=row, actor=crew.actor(by), now=now)


def powers(user: User, now: datetime = make.NOW) -> Powers:
    return powers_of(User.objects.get(pk=user.pk), now=now)


# Lending


def test_rights_are_lent_and_told(cast: make.Cast) -> None:
    production = make.environment("production")
    row = lend(cast.mara, cast.nora, team=cast.payments, environment=production, reason=" On leave. ")
    assert (row.starts_at, row.ends_at, row.created_at) == (make.NOW, make.NOW + 7 * DAY, make.NOW)
    only = JournalEntry.objects.get()
    assert (only.verb, only.target, only.actor) == ("delegation.create", f"delegation {row.pk}", "mara")
    assert only.after == {
        "giver": "mara",
        "taker": "nora",
        "team": "payments",
        "environment": "production",
        "starts_at": "2026-11-30 09:00:00+00:00",
        "ends_at": "2026-12-07 09:00:00+00:00",
        "reason": "On leave.",
    }


@pytest.mark.parametrize(
    ("more", "field", "message"),
    [
        ({"reason": "  "}, "reason", "Give a reason; it is kept in the audit log."),
        ({"starts_at": make.NOW - DAY}, "starts_at", "now or later"),
        ({"starts_at": make.NOW + 366 * DAY, "ends_at": make.NOW + 367 * DAY}, "starts_at", "within a year"),
        ({"ends_at": make.NOW}, "ends_at", "It ends after it begins."),
        ({"starts_at": make.NOW + 8 * DAY}, "ends_at", "It ends after it begins."),
        ({"ends_at": make.NOW + LONGEST + DAY / 24}, "ends_at", "for at most 90 days"),
    ],
)
def test_terms_that_are_none(cast: make.Cast, more: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(NotLendable, match=message) as refused:
        lend(cast.mara, cast.nora, **more)
    assert refused.value.field == field
    assert not Delegation.objects.exists()


def test_ninety_days_from_a_later_start(cast: make.Cast) -> None:
    begin = make.NOW + 30 * DAY
    assert lend(cast.mara, cast.nora, starts_at=begin, ends_at=begin + LONGEST).starts_at == begin


def test_who_takes(cast: make.Cast) -> None:
    with pytest.raises(NotLendable, match="to somebody else"):
        lend(cast.mara, cast.mara)
    User.objects.filter(username="nora").update(is_active=False)
    with pytest.raises(NotLendable, match="The account of nora is closed"):
        lend(cast.mara, cast.nora)


@pytest.mark.parametrize("name", ["ines", "lena", "ravi", "ada", "nora"])
def test_who_approves_nothing_lends_nothing(cast: make.Cast, name: str) -> None:
    with pytest.raises(NotAllowed, match="Lending needs the role approver, held by yourself"):
        lend(getattr(cast, name), cast.sven)


def test_nobody_lends_for_somebody_else(cast: make.Cast) -> None:
    for by in (cast.ada, cast.nora, cast.otto):
        with pytest.raises(NotAllowed, match="by the person who holds them"):
            lend(cast.mara, cast.nora, actor=crew.actor(by))


def test_a_giver_lends_only_where_they_approve(cast: make.Cast) -> None:
    staging, production = make.environment("staging"), make.environment("production")
    make.grant(cast.lena, Role.APPROVER, team=cast.payments, environment=staging)
    for where in ({"team": cast.support}, {"environment": production}):
        with pytest.raises(NotLendable, match="no approver's right"):
            lend(cast.lena, cast.nora, **where)
    lend(cast.lena, cast.nora, environment=staging)


def test_what_was_lent_is_not_lent_on(cast: make.Cast, release: Release) -> None:
    lend(cast.mara, cast.nora)
    with pytest.raises(NotAllowed, match="held by yourself"):
        lend(cast.nora, cast.sven)
    make.delegation(cast.nora, cast.lena)
    assert powers(cast.nora).may_decide(release)
    assert not powers(cast.lena).may_decide(release)
    assert not powers(cast.lena).is_approver


def test_the_same_is_lent_once_at_a_time(cast: make.Cast) -> None:
    first = lend(cast.mara, cast.nora)
    with pytest.raises(NotLendable, match="lent to nora until 2026-12-07 09:00 UTC already"):
        lend(cast.mara, cast.nora, starts_at=make.NOW + 6 * DAY, ends_at=make.NOW + 9 * DAY)
    lend(cast.mara, cast.nora, starts_at=make.NOW + 7 * DAY, ends_at=make.NOW + 9 * DAY)
    lend(cast.mara, cast.nora, team=cast.payments)
    lend(cast.mara, cast.otto)
    end(first, cast.mara)
    lend(cast.mara, cast.nora)


def test_two_clicks_lend_once(shared_database: str) -> None:
    cast = make.cast()
    done = crew.together([lambda: lend(cast.mara, cast.nora)] * 5)
    assert sum(isinstance(one, Delegation) for one in done) == 1
    assert sum(isinstance(one, NotLendable) for one in done) == 4


# Ending


@pytest.mark.parametrize("name", ["mara", "nora", "ada"])
def test_giver_taker_and_administrators_end_it_once(cast: make.Cast, name: str) -> None:
    row = lend(cast.mara, cast.nora)
    for later in (DAY, 2 * DAY):
        assert end(row, getattr(cast, name), make.NOW + later).ended_at == make.NOW + DAY
    last = JournalEntry.objects.get(verb="delegation.end")
    assert (last.actor, last.before["taker"], last.after) == (name, "nora", None)


@pytest.mark.parametrize("name", ["otto", "ines", "sven"])
def test_nobody_else_ends_it(cast: make.Cast, name: str) -> None:
    row = lend(cast.mara, cast.nora)
    with pytest.raises(NotAllowed, match="who gave it, who took it, or an administrator"):
        end(row, getattr(cast, name))
    row.refresh_from_db()
    assert row.ended_at is None


def test_what_is_over_is_not_ended(cast: make.Cast) -> None:
    row = make.delegation(cast.mara, cast.nora, days=2)
    assert end(row, cast.mara, make.NOW + 2 * DAY).ended_at is None
    assert crew.verbs() == []


# What the taker may


@pytest.mark.parametrize(
    ("after", "may"),
    [(-1, False), (0, True), (1, True), (14 * 86400 - 1, True), (14 * 86400, False)],
)
def test_it_holds_from_its_start_until_before_its_end(
    cast: make.Cast, release: Release, after: int, may: bool
) -> None:
    make.delegation(cast.mara, cast.nora, days=14)
    held = powers(cast.nora, make.NOW + timedelta(seconds=after))
    assert held.may_decide(release) == may
    assert held.deciding_for(release) == ((cast.mara.pk,) if may else ())
    assert visibility.releases_to_decide(held).filter(pk=release.pk).exists() == may


def test_an_ended_one_gives_nothing(cast: make.Cast, release: Release) -> None:
    row = make.delegation(cast.mara, cast.nora)
    assert powers(cast.nora).may_decide(release)
    end(row, cast.nora)
    assert not powers(cast.nora).may_decide(release)
    assert powers(cast.nora).rights == ()


@pytest.mark.parametrize(
    ("grant", "loan", "may"),
    [
        (("all", "all"), ("all", "all"), True),
        (("all", "all"), ("payments", "production"), True),
        (("all", "all"), ("support", "all"), False),
        (("all", "all"), ("all", "staging"), False),
        (("payments", "all"), ("all", "production"), True),
        (("payments", "all"), ("support", "all"), False),
        (("all", "production"), ("payments", "all"), True),
        (("all", "staging"), ("payments", "all"), False),
        (("support", "all"), ("all", "all"), False),
        (("payments", "staging"), ("payments", "production"), False),
    ],
)
def test_it_is_cut_to_what_both_say(
    cast: make.Cast, release: Release, grant: tuple[str, str], loan: tuple[str, str], may: bool
) -> None:
    teams = {"payments": cast.payments, "support": cast.support, "all": None}
    giver = make.user("gina")
    make.grant(
        giver,
        Role.APPROVER,
        team=teams[grant[0]],
        environment=None if grant[1] == "all" else make.environment(grant[1]),
    )
    where = None if loan[1] == "all" else make.environment(loan[1])
    make.delegation(giver, cast.nora, team=teams[loan[0]], environment=where)
    assert powers(cast.nora).may_decide(release) == may
    assert powers(cast.nora).may_switch_off(release.skill, release.environment) == may


def test_it_gives_what_the_giver_holds_now(cast: make.Cast, release: Release) -> None:
    make.delegation(cast.mara, cast.nora)
    grant = cast.mara.grants.get()
    grants.take_grant(grant=grant, actor=crew.actor(cast.ada), now=make.NOW)
    assert not powers(cast.nora).may_decide(release)
    make.grant(cast.mara, Role.APPROVER, environment=make.environment("staging"))
    assert not powers(cast.nora).may_decide(release)
    make.grant(cast.mara, Role.APPROVER, team=cast.payments)
    assert powers(cast.nora).may_decide(release)


def test_a_closed_account_lends_and_takes_nothing(cast: make.Cast, release: Release) -> None:
    make.delegation(cast.mara, cast.nora)
    User.objects.filter(username="mara").update(is_active=False)
    assert not powers(cast.nora).may_decide(release)
    User.objects.filter(username="mara").update(is_active=True)
    User.objects.filter(username="nora").update(is_active=False)
    assert powers(cast.nora).rights == ()


def test_only_the_role_approver_is_lent_and_no_override(cast: make.Cast, release: Release) -> None:
    cast.mara.grants.update(may_override=True)
    for role in (Role.PUBLISHER, Role.ANALYST, Role.ADMIN):
        make.grant(cast.mara, role)
    make.delegation(cast.mara, cast.nora)
    taker = powers(cast.nora)
    assert {right.role for right in taker.rights} == {Role.APPROVER}
    assert not taker.may_override(release)
    assert not taker.may_break_glass(release)
    for held in (taker.is_admin, taker.is_publisher, taker.reads_some_traces):
        assert not held
    assert powers(cast.mara).may_override(release)


def test_four_eyes_hold_for_giver_and_taker(cast: make.Cast, release: Release) -> None:
    make.grant(cast.ines, Role.APPROVER)
    make.delegation(cast.ines, cast.nora)
    make.delegation(cast.mara, cast.ines)
    # Ines proposed and published: neither her right nor her hand counts.
    assert not powers(cast.nora).may_decide(release)
    assert not powers(cast.ines).may_decide(release)
    make.delegation(cast.mara, cast.nora)
    assert powers(cast.nora).deciding_for(release) == (cast.mara.pk,)


def test_two_givers_are_two_rights_and_ones_own_comes_first(cast: make.Cast, release: Release) -> None:
    make.delegation(cast.mara, cast.nora)
    make.delegation(cast.otto, cast.nora)
    assert set(powers(cast.nora).deciding_for(release)) == {cast.mara.pk, cast.otto.pk}
    make.grant(cast.nora, Role.APPROVER)
    assert powers(cast.nora).deciding_for(release)[0] == cast.nora.pk


def test_the_taker_sees_what_is_for_the_team_alone_while_it_holds(cast: make.Cast, release: Release) -> None:
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    skill = Skill.objects.get()
    make.delegation(cast.mara, cast.nora, team=cast.payments, days=2)
    make.delegation(cast.mara, cast.sven, team=cast.support, days=2)
    for user, day, sees in ((cast.nora, 1, True), (cast.nora, 3, False), (cast.sven, 1, False)):
        held = powers(user, make.NOW + day * DAY)
        assert held.may_see(skill) == sees
        assert visibility.visible_skills(held).exists() == sees
        assert visibility.visible_releases(held).filter(pk=release.pk).exists() == sees
    assert cast.payments.pk not in powers(cast.nora).team_ids


def test_powers_take_one_query(cast: make.Cast, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for giver in (cast.mara, cast.otto):
        make.delegation(giver, cast.nora)
        make.delegation(giver, cast.nora, team=cast.payments)
    nora = User.objects.get(username="nora")
    with django_assert_num_queries(1):
        held = powers_of(nora, now=make.NOW)
    assert len(held.rights) == 4


# Lists


def test_lists_say_what_each_gives_now(
    cast: make.Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    rows = [
        make.delegation(cast.mara, cast.nora),
        make.delegation(cast.mara, cast.nora, starts_at=make.NOW + DAY, team=cast.payments),
        make.delegation(cast.mara, cast.lena, ended_at=make.NOW),
        make.delegation(cast.mara, cast.sven, starts_at=make.NOW - 30 * DAY),
        make.delegation(cast.ines, cast.sven),
    ]
    with django_assert_num_queries(1):
        loans = delegations.as_loans(rows, now=make.NOW)
    assert [loan.state for loan in loans] == ["running", "planned", "ended", "over", "running"]
    assert [len(loan.lent) for loan in loans] == [1, 0, 0, 0, 0]
    assert [loan.is_open for loan in loans] == [True, True, False, False, True]


def test_whose_delegations_one_sees(cast: make.Cast) -> None:
    row = make.delegation(cast.mara, cast.nora)
    for name, sees in (("mara", 1), ("nora", 1), ("ada", 1), ("otto", 0), ("ines", 0)):
        assert delegations.visible_delegations(powers(getattr(cast, name))).count() == sees
    assert delegations.visible_delegations(powers(cast.nora)).get() == row
