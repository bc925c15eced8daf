"""Choosing a password by a link."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from catalog import people
from catalog.models import JournalEntry, User
from tests import cast as crew
from tests import make
from tests.make import Cast
from tests.portal.answers import text_of

pytestmark = pytest.mark.django_db
PASSWORD = "a kettle of seven fish"
CHOSEN = {"new_password1": PASSWORD, "new_password2": PASSWORD}


def address_of(cast: Cast, person: User) -> str:
    link = people.make_link(person=person, actor=crew.actor(cast.ada), now=make.NOW)
    return reverse("welcome", args=[link.uid, link.token])


@pytest.fixture
def wen(cast: Cast) -> User:
    return people.invite(username="wen", name="Wen Lidong", actor=crew.actor(cast.ada), now=make.NOW)


def test_a_password_is_chosen_and_signs_in_once(client: Client, cast: Cast, wen: User) -> None:
    address = address_of(cast, wen)
    page = client.get(address)
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    assert "Your user name is wen." in text_of(page)
    assert client.post(address, CHOSEN)["Location"] == "/"
    assert client.get("/profile/").status_code == 200
    assert JournalEntry.objects.get(verb="user.password").actor == "wen"
    other = Client()
    for answer in (other.get(address), other.post(address, CHOSEN)):
        assert answer.status_code == 410
        assert "This link works no more" in text_of(answer)
    assert other.get("/profile/").status_code == 302
    assert other.post("/sign-in/", {"username": "wen", "password": PASSWORD}).status_code == 302


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("", "", "This field is required."),
        ("short", "short", "This password is too short."),
        ("password123", "password123", "This password is too common."),
        ("84720174629", "84720174629", "This password is entirely numeric."),
        ("Wen Lidong1", "Wen Lidong1", "The password is too similar to the"),
        (PASSWORD, f"{PASSWORD}!", "password fields didn"),
    ],
)
def test_passwords_by_the_rules(
    client: Client, cast: Cast, wen: User, first: str, second: str, message: str
) -> None:
    address = address_of(cast, wen)
    answer = client.post(address, {"new_password1": first, "new_password2": second})
    assert answer.status_code == 422
    assert message in text_of(answer)
    if first:
        assert f'value="{first}"' not in text_of(answer)
    assert client.get(address).status_code == 200


def test_nothing_tells_whether_there_is_an_account(client: Client, cast: Cast, wen: User) -> None:
    good = address_of(cast, wen)
    closed = address_of(cast, cast.nora)
    User.objects.filter(username="nora").update(is_active=False)
    uid, token = good.split("/")[2:4]
    answers = {
        client.get(address).content
        for address in (
            closed,
            f"/welcome/{uid}/abc-0123456789/",
            f"/welcome/MDE5MzZmMGU/{token}/",
            f"/welcome/x/{token}/",
            "/welcome/%C3%A9/%C3%A9/",
        )
    }
    assert len({answer.split(b'id="main"')[1] for answer in answers}) == 1
    assert b"wen" not in answers.pop().split(b'id="main"')[1]


def test_a_closed_account_comes_in_by_no_link(client: Client, cast: Cast, wen: User) -> None:
    address = address_of(cast, wen)
    User.objects.filter(username="wen").update(is_active=False)
    assert client.post(address, CHOSEN).status_code == 410
    assert client.get("/profile/").status_code == 302


def test_who_is_signed_in_as_somebody_else_changes_over(client: Client, cast: Cast, wen: User) -> None:
    client.force_login(cast.ines)
    assert client.post(address_of(cast, wen), CHOSEN)["Location"] == "/"
    assert "Wen Li" in text_of(client.get("/profile/"))
    cast.ines.refresh_from_db()
    assert cast.ines.check_password(make.PASSWORD)


def test_other_methods(client: Client, cast: Cast, wen: User) -> None:
    assert client.put(address_of(cast, wen)).status_code == 405


def test_what_is_wrong_with_a_password_stands_at_the_first_field(
    client: Client, cast: Cast, wen: User
) -> None:
    answer = client.post(address_of(cast, wen), {"new_password1": "short", "new_password2": "short"})
    first, second = re.findall(r'<input[^>]*name="new_password[12]"[^>]*>', text_of(answer))
    assert 'aria-invalid="true"' in first
    assert "aria-invalid" not in second
