"""A person's page: roles, tokens, skills, delegations, and what administrators do there."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Role
from tests import make
from tests.make import Cast
from tests.portal.answers import text_of
from tests.portal.pages import signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/people/ines/"
MOST_QUERIES = 18


@pytest.fixture
def ada(cast: Cast) -> Client:
    return signed_in(cast.ada)


def test_it_shows_what_is_theirs(cast: Cast, ada: Client) -> None:
    make.version(cast=cast)
    token, secret = make.token(user=cast.ines)
    make.delegation(cast.mara, cast.ines, starts_at=datetime.now(UTC))
    html = ada.get(ADDRESS).content.decode()
    for told in ("Publisher", "Payments", "refund-check", f"{token.prefix}…", "Mara Lindqvist → Ines Okafor"):
        assert told in html
    assert secret not in html
    assert token.sha256 not in html
    empty = text_of(ada.get("/people/nora/"))
    for told in ("No role", "No token", "No skill", "Nothing lent or taken", "never signed in"):
        assert told in empty


def test_a_role_is_given_and_holds_in_the_next_request(cast: Cast, ada: Client) -> None:
    nora = signed_in(cast.nora)
    assert nora.get("/inbox/").content.decode().count("/publish/") == 0
    answer = ada.post("/people/nora/grant/", {"role": "publisher", "team": "payments"})
    assert answer["Location"] == "/people/nora/"
    assert '<a href="/publish/"' in nora.get("/").content.decode()
    ada.post(f"/grants/{cast.nora.grants.get().pk}/remove/")
    assert '<a href="/publish/"' not in nora.get("/").content.decode()


def test_roles_that_are_none(cast: Cast, ada: Client) -> None:
    for sent, message in (
        ({"role": "admin", "team": "payments"}, "whole instance"),
        ({"role": "reader", "may_override": "on"}, "beside the role approver alone"),
        ({"role": ""}, "This field is required."),
    ):
        answer = ada.post("/people/nora/grant/", sent)
        assert answer.status_code == 422
        assert message in text_of(answer)
    assert not cast.nora.grants.exists()


def test_the_last_administrator_stays(cast: Cast, ada: Client) -> None:
    answer = ada.post(f"/grants/{cast.ada.grants.get().pk}/remove/")
    assert answer.status_code == 409
    assert "Ada Moreau is the last administrator; make another one first." in text_of(answer)
    text = text_of(ada.get("/people/ada/close/"))
    assert "The last administrator stays" in text
    assert 'name="reason"' not in text
    assert ada.post("/people/ada/close/", {"reason": "Left."}).status_code == 409
    make.grant(cast.nora, Role.ADMIN)
    assert ada.post(f"/grants/{cast.ada.grants.get().pk}/remove/").status_code == 302
    assert ada.get("/people/").status_code == 403


def test_a_token_of_somebody_is_revoked(cast: Cast, ada: Client) -> None:
    token, _ = make.token(user=cast.ines)
    address = f"{ADDRESS}tokens/{token.pk}/revoke/"
    for _ in range(2):
        assert ada.post(address)["Location"] == ADDRESS
    token.refresh_from_db()
    assert token.revoked_at
    assert ada.post(f"/people/nora/tokens/{token.pk}/revoke/").status_code == 404
    assert ada.get(address).status_code == 405
    assert signed_in(cast.mara).post(address).status_code == 403


def test_a_link_is_made_anew(cast: Cast, ada: Client) -> None:
    answer = ada.post(f"{ADDRESS}link/")
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    assert "http://testserver/welcome/" in answer.content.decode()
    assert "A new link for Ines Okafor" in answer.content.decode()
    assert ada.get(f"{ADDRESS}link/").status_code == 405


def test_an_account_is_closed_after_it_is_shown_what_goes(cast: Cast, ada: Client) -> None:
    skill = make.skill(cast=cast)
    ines = signed_in(cast.ines)
    text = text_of(ada.get(f"{ADDRESS}close/"))
    assert "Owner of 1 skill" in text
    assert "1 role" in text
    answer = ada.post(f"{ADDRESS}close/", {"heir-payments": "ravi"})
    assert answer.status_code == 422
    assert "Give a reason; it is kept in the audit log." in text_of(answer)
    assert ines.get("/profile/").status_code == 200
    sent = {"heir-payments": "ravi", "reason": "Left."}
    assert ada.post(f"{ADDRESS}close/", sent)["Location"] == ADDRESS
    assert ines.get("/profile/")["Location"] == "/sign-in/?next=/profile/"
    skill.refresh_from_db()
    assert skill.owner == cast.ravi
    assert ada.post(f"{ADDRESS}close/", sent).status_code == 409
    assert "Open the account again" in text_of(ada.get(ADDRESS))
    for act in ("link", "grant"):
        assert ada.post(f"{ADDRESS}{act}/", {"role": "reader"}).status_code in {409, 422}


def test_an_opened_account_has_neither_role_nor_session_nor_password(cast: Cast, ada: Client) -> None:
    ines = signed_in(cast.ines)
    ada.post(f"{ADDRESS}close/", {"reason": "Left."})
    assert ada.post(f"{ADDRESS}open/")["Location"] == ADDRESS
    assert ada.post(f"{ADDRESS}open/").status_code == 409
    assert ines.get("/profile/").status_code == 302
    assert not cast.ines.grants.exists()
    sent = {"username": "ines", "password": make.PASSWORD}
    assert Client().post("/sign-in/", sent).status_code == 422


def test_unknown_people_and_other_methods(cast: Cast, ada: Client) -> None:
    answer = ada.get("/people/nobody/")
    assert answer.status_code == 404
    assert "There is nobody called nobody" in text_of(answer)
    assert ada.post(ADDRESS).status_code == 405
    assert ada.get(f"{ADDRESS}open/").status_code == 405
    assert ada.get(f"{ADDRESS}grant/").status_code == 405


@pytest.mark.parametrize("name", ["ines", "mara", "nora"])
def test_who_may_not(cast: Cast, name: str) -> None:
    client = signed_in(getattr(cast, name))
    for act in ("link", "grant", "close", "open"):
        assert client.post(f"{ADDRESS}{act}/", {"role": "admin", "reason": "x"}).status_code == 403
    cast.ines.refresh_from_db()
    assert cast.ines.is_active


def test_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for n in range(12):
        make.version(f"skill-{n}", cast=cast)
        make.token(user=cast.ines)
        make.grant(cast.ines, Role.READER, team=make.team(f"t{n}"))
        make.delegation(cast.mara, cast.ines, team=make.team(f"u{n}"), starts_at=datetime.now(UTC))
    client = signed_in(cast.ada)
    for address in (ADDRESS, f"{ADDRESS}close/"):
        with django_assert_max_num_queries(MOST_QUERIES):
            client.get(address)
