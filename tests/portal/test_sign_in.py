from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests import make

pytestmark = pytest.mark.django_db
ADDRESS = "/sign-in/"


def send(client: Client, password: str = make.PASSWORD, **fields: str) -> int:
    return client.post(ADDRESS, {"username": "ines", "password": password, **fields}).status_code


def test_signs_in_and_goes_to_the_catalog(client: Client) -> None:
    make.user("ines")
    answer = client.post(ADDRESS, {"username": "ines", "password": make.PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert client.get("/profile/").status_code == 200


def test_goes_where_it_was_asked_to(client: Client) -> None:
    make.user("ines")
    answer = client.post(ADDRESS, {"username": "ines", "password": make.PASSWORD, "next": "/profile/?a=1"})
    assert answer["Location"] == "/profile/?a=1"


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example"]
)
def test_never_goes_elsewhere(client: Client, target: str) -> None:
    make.user("ines")
    answer = client.post(ADDRESS, {"username": "ines", "password": make.PASSWORD, "next": target})
    assert answer["Location"] == "/"


def test_wrong_password_says_so_and_keeps_the_name(client: Client) -> None:
    make.user("ines")
    answer = client.post(ADDRESS, {"username": "ines", "password": "wrong", "next": "/profile/"})
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "Name and password do not match." in html
    assert 'value="ines"' in html
    assert 'name="next" value="/profile/"' in html
    assert "wrong" not in html


def test_someone_switched_off_stays_out(client: Client) -> None:
    make.user("ines", is_active=False)
    assert send(client) == 422


def test_waits_after_ten_failures_of_one_name(client: Client) -> None:
    make.user("ines")
    make.user("sven")
    assert [send(client, "wrong") for _ in range(10)] == [422] * 10
    assert send(client) == 429
    assert client.post(ADDRESS, {"username": "sven", "password": make.PASSWORD}).status_code == 302


def test_a_wait_of_five_minutes_is_enough(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    make.user("ines")
    later = timezone.now() + timedelta(minutes=5, seconds=1)
    for _ in range(10):
        send(client, "wrong")
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert send(client) == 302


def test_success_forgets_the_failures(client: Client) -> None:
    make.user("ines")
    for _ in range(9):
        send(client, "wrong")
    assert send(client) == 302
    client.logout()
    assert send(client, "wrong") == 422


def test_who_is_signed_in_goes_on(client: Client) -> None:
    client.force_login(make.user("ines"))
    assert client.get(ADDRESS, {"next": "/profile/"})["Location"] == "/profile/"


def test_is_not_kept_by_caches_and_names_nobody(client: Client) -> None:
    answer = client.get(ADDRESS)
    assert "no-store" in answer["Cache-Control"]
    assert 'action="/search/"' not in answer.content.decode()


def test_needs_the_token_of_the_form() -> None:
    make.user("ines")
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(ADDRESS, {"username": "ines", "password": make.PASSWORD}).status_code == 403


def test_other_methods_are_refused(client: Client) -> None:
    assert client.put(ADDRESS).status_code == 405


def test_no_password_is_looked_at_while_tries_cannot_be_counted(client: Client, settings: Settings) -> None:
    make.user("ines")
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": settings.REDIS_URL,
        }
    }
    for password in ("wrong", make.PASSWORD):
        answer = client.post(ADDRESS, {"username": "ines", "password": password})
        assert answer.status_code == 503
        assert "Nobody can sign in at the moment" in answer.content.decode()
    assert client.get(ADDRESS).status_code == 200
