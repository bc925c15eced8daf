"""Delegations: listed, lent, ended; and the profile that tells of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Delegation
from tests import make
from tests.make import Cast
from tests.portal.answers import HTMX, text_of
from tests.portal.pages import is_page, signed_in

pytestmark = pytest.mark.django_db
ADDRESS, NEW = "/delegations/", "/delegations/new/"
MOST_QUERIES = 16


def soon(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M")


def running(cast: Cast, **more: object) -> Delegation:
    return make.delegation(cast.mara, cast.nora, starts_at=datetime.now(UTC), **more)  # type: ignore[arg-type]


def test_rights_are_lent(cast: Cast) -> None:
    mara = signed_in(cast.mara)
    assert "All that I approve for" in text_of(mara.get(NEW))
    sent = {"taker": "nora", "team": "payments", "starts_at": soon(0), "ends_at": soon(7), "reason": "Leave."}
    assert mara.post(NEW, sent)["Location"] == ADDRESS
    row = Delegation.objects.get()
    assert (row.giver, row.taker, row.team, row.environment) == (cast.mara, cast.nora, cast.payments, None)
    again = mara.post(NEW, sent)
    assert again.status_code == 422
    assert "The same rights are lent to nora until" in text_of(again)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"taker": ""}, "Give a user name."),
        ({"taker": "who"}, "There is no account of that name, or it is closed."),
        ({"taker": "mara"}, "Lend your rights to somebody else."),
        ({"ends_at": ""}, "Give a date and a time."),
        ({"ends_at": "tomorrow"}, "This is no date with a time."),
        ({"ends_at": soon(91)}, "for at most 90 days"),
        ({"starts_at": soon(-2)}, "It begins now or later"),
        ({"reason": ""}, "Give a reason; it is kept in the audit log."),
        ({"team": "x"}, "Select a valid choice."),
    ],
)
def test_what_cannot_be_lent_comes_back(cast: Cast, sent: dict[str, str], message: str) -> None:
    told = {"taker": "nora", "ends_at": soon(7), "reason": "Leave.", **sent}
    answer = signed_in(cast.mara).post(NEW, told)
    assert answer.status_code == 422
    assert message in text_of(answer)
    assert not Delegation.objects.exists()


@pytest.mark.parametrize("name", ["ines", "ravi", "ada", "nora"])
def test_who_has_nothing_to_lend(cast: Cast, name: str) -> None:
    running(cast)
    client = signed_in(getattr(cast, name))
    for answer in (client.get(NEW), client.post(NEW, {"taker": "sven"})):
        assert answer.status_code == 403
        assert "You have nothing to lend" in text_of(answer)
    assert NEW not in client.get(ADDRESS).content.decode()


def test_the_list_tells_mine_and_past(cast: Cast) -> None:
    running(cast)
    make.delegation(cast.otto, cast.mara, ended_at=make.NOW)
    mara, nora = (text_of(signed_in(one).get(ADDRESS)) for one in (cast.mara, cast.nora))
    assert "You lend" in mara
    assert "In force" in mara
    assert "Otto Kraus → Mara Lindqvist" in mara
    assert "Ended early" in mara
    assert "Lent to you" in nora
    assert "Otto Kraus" not in nora
    empty = text_of(signed_in(cast.lena).get(ADDRESS))
    assert "Nothing is lent at the moment" in empty
    assert "Mara Lindqvist" not in empty


def test_a_giver_who_lost_the_role_lends_nothing(cast: Cast) -> None:
    running(cast)
    cast.mara.grants.all().delete()
    assert "Gives nothing: the right is gone" in text_of(signed_in(cast.nora).get(ADDRESS))
    assert "by a right of" not in text_of(signed_in(cast.nora).get("/profile/"))


def test_administrators_see_everybodys(cast: Cast) -> None:
    running(cast)
    make.delegation(cast.otto, cast.sven, ended_at=make.NOW)
    ada = signed_in(cast.ada)
    text = text_of(ada.get(ADDRESS))
    assert "Between others" in text
    assert "Otto Kraus" not in text
    part = ada.get(f"{ADDRESS}?everybody=1", headers=HTMX).content.decode()
    assert not is_page(part)
    assert "Otto Kraus → Sven Berg" in part
    assert "Otto Kraus" not in text_of(signed_in(cast.nora).get(f"{ADDRESS}?everybody=1"))


@pytest.mark.parametrize("name", ["mara", "nora", "ada"])
def test_it_is_ended_early(cast: Cast, name: str) -> None:
    row, client = running(cast), signed_in(getattr(cast, name))
    for _ in range(2):
        assert client.post(f"{ADDRESS}{row.pk}/end/")["Location"] == ADDRESS
    row.refresh_from_db()
    assert row.ended_at


def test_outsiders_and_other_methods(client: Client, cast: Cast) -> None:
    row = running(cast)
    address = f"{ADDRESS}{row.pk}/end/"
    assert client.get(ADDRESS).status_code == 302
    assert client.post(address).status_code == 302
    assert signed_in(cast.otto).post(address).status_code == 404
    assert signed_in(cast.mara).get(address).status_code == 405
    assert signed_in(cast.mara).post(ADDRESS).status_code == 405
    row.refresh_from_db()
    assert row.ended_at is None


def test_the_profile_tells_what_is_lent_and_taken(cast: Cast) -> None:
    running(cast, team=cast.payments)
    make.delegation(cast.otto, cast.nora, starts_at=datetime.now(UTC) + timedelta(days=1))
    taker = text_of(signed_in(cast.nora).get("/profile/"))
    assert "Approver, by a right of Mara Lindqvist" in taker
    assert "Otto Kraus" not in taker
    assert "What you lend" in text_of(signed_in(cast.mara).get("/profile/"))


def test_what_is_lent_shows_in_the_sidebar_of_the_taker(cast: Cast) -> None:
    row = running(cast)
    nora = signed_in(cast.nora)
    assert '<a href="/inbox/"' in nora.get("/").content.decode()
    signed_in(cast.mara).post(f"{ADDRESS}{row.pk}/end/")
    assert '<a href="/inbox/"' not in nora.get("/").content.decode()


def test_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for n in range(12):
        team = make.team(f"t{n}")
        make.delegation(make.user(f"p{n}"), cast.nora, team=team, starts_at=datetime.now(UTC))
        make.delegation(cast.nora, cast.otto, team=team, ended_at=make.NOW)
    client = signed_in(cast.nora)
    for address in (ADDRESS, "/profile/"):
        with django_assert_max_num_queries(MOST_QUERIES):
            client.get(address)
