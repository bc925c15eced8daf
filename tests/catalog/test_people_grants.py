"""Grants: given, changed and taken by administrators, of whom one always stays."""

from __future__ import annotations

from typing import Any

import pytest

from catalog import grants
from catalog.access import NotAllowed, powers_of
from catalog.grants import BadGrant, LastAdministrator, Wanted
from catalog.models import Grant, JournalEntry, Role, User
from tests import cast as crew
from tests import make


@pytest.fixture
def cast(db: None) -> make.Cast:
    return make.cast()


def give(cast: make.Cast, user: User, *wanted: Any, **more: Any) -> Grant:
    return grants.give_grant(
        user=user, wanted=Wanted(*wanted, **more), actor=crew.actor(cast.ada), now=make.NOW
    )


def take(by: User, grant: Grant) -> None:
    grants.take_grant(grant=grant, actor=crew.actor(by), now=make.NOW)


def test_a_grant_is_given_once_and_holds_at_once(cast: make.Cast) -> None:
    assert not powers_of(cast.nora).may_publish(cast.payments)
    first = give(cast, cast.nora, Role.PUBLISHER, cast.payments)
    assert give(cast, cast.nora, Role.PUBLISHER, cast.payments) == first
    assert powers_of(cast.nora).may_publish(cast.payments)
    only = JournalEntry.objects.get()
    assert (only.verb, only.target, only.actor, only.before) == ("grant.create", "user nora", "ada", None)
    assert only.after == {
        "role": "publisher", "team": "payments", "environment": None, "may_override": False,
    }  # fmt: skip
    take(cast.ada, first)
    take(cast.ada, first)
    assert not powers_of(cast.nora).may_publish(cast.payments)
    last = JournalEntry.objects.order_by("-n")[0]
    assert (last.n, last.verb, last.before, last.after) == (2, "grant.remove", only.after, None)


def test_the_right_to_override_is_given_and_taken_alone(cast: make.Cast) -> None:
    production = make.environment("production")
    first = give(cast, cast.nora, Role.APPROVER, None, production)
    assert not first.may_override
    assert give(cast, cast.nora, Role.APPROVER, None, production, may_override=True).may_override
    assert give(cast, cast.nora, Role.APPROVER, None, production).may_override
    assert not give(cast, cast.nora, Role.APPROVER, None, production, may_override=False).may_override
    told = [(one.before and one.before["may_override"], one.after["may_override"])
            for one in JournalEntry.objects.order_by("n")]  # fmt: skip
    assert told == [(None, False), (False, True), (True, False)]
    assert cast.nora.grants.count() == 1


@pytest.mark.parametrize("role", [Role.READER, Role.PUBLISHER, Role.ANALYST, Role.ADMIN])
def test_only_approvers_override(cast: make.Cast, role: Role) -> None:
    with pytest.raises(BadGrant, match="beside the role approver alone"):
        give(cast, cast.nora, role, may_override=True)
    assert not cast.nora.grants.exists()


def test_an_administrator_is_one_of_everything(cast: make.Cast) -> None:
    for part in ({"team": cast.payments}, {"environment": make.environment("staging")}):
        with pytest.raises(BadGrant, match="whole instance"):
            give(cast, cast.nora, Role.ADMIN, **part)


def test_a_closed_account_gets_nothing(cast: make.Cast) -> None:
    User.objects.filter(username="nora").update(is_active=False)
    with pytest.raises(BadGrant, match="The account of nora is closed; open it first"):
        give(cast, cast.nora, Role.READER)


@pytest.mark.parametrize("name", ["ines", "mara", "lena", "ravi", "nora"])
def test_only_administrators(cast: make.Cast, name: str) -> None:
    by = getattr(cast, name)
    with pytest.raises(NotAllowed, match="given and taken by administrators"):
        grants.give_grant(user=by, wanted=Wanted(Role.ADMIN), actor=crew.actor(by), now=make.NOW)
    with pytest.raises(NotAllowed):
        take(by, cast.mara.grants.get())
    assert crew.verbs() == []


def test_the_last_administrator_stays(cast: make.Cast) -> None:
    with pytest.raises(LastAdministrator, match="Ada Moreau is the last administrator; make another one"):
        take(cast.ada, cast.ada.grants.get())
    assert cast.ada.grants.exists()
    assert crew.verbs() == []
    give(cast, cast.nora, Role.ADMIN)
    take(cast.ada, cast.ada.grants.get())
    with pytest.raises(LastAdministrator):
        take(cast.nora, cast.nora.grants.get())


@pytest.mark.parametrize(
    ("fields", "stays"),
    [
        ({"is_superuser": True}, False),
        ({"is_superuser": True, "is_active": False}, True),
        ({"is_active": False}, True),
    ],
)
def test_who_counts_as_another_administrator(cast: make.Cast, fields: dict[str, bool], stays: bool) -> None:
    make.grant(make.user("old", **fields), Role.ADMIN)
    if stays:
        with pytest.raises(LastAdministrator):
            take(cast.ada, cast.ada.grants.get())
    else:
        take(cast.ada, cast.ada.grants.get())


def test_administrators_of_a_part_do_not_count(cast: make.Cast) -> None:
    make.grant(cast.nora, Role.ADMIN, team=cast.payments)
    make.grant(cast.otto, Role.ADMIN, environment=make.environment("staging"))
    assert list(grants.administrators()) == [cast.ada]


def test_two_who_take_each_others_role_leave_one(shared_database: str) -> None:
    cast = make.cast()
    held = [cast.ada.grants.get(), *(make.grant(one, Role.ADMIN) for one in (cast.nora, cast.otto))]
    works = [(lambda by=by, of=of: take(by, of)) for by, of in zip(
        (cast.nora, cast.otto, cast.ada), held, strict=True)]  # fmt: skip
    done = crew.together(works)
    assert grants.administrators().count() >= 1
    refused = [one for one in done if isinstance(one, Exception)]
    assert all(isinstance(one, NotAllowed | LastAdministrator) for one in refused)
    assert crew.verbs().count("grant.remove") == 3 - grants.administrators().count()
