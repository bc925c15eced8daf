"""Requests that no browser of ours sends: each once led to a defect or past a check."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.test import Client

from catalog.models import Agent, Skill, Version
from governance.calls import BadCall, read_call
from portal.bodies import bound
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def ines(client: Client, cast: make.Cast) -> Client:
    """Ines, publisher in Payments, signed in."""
    client.force_login(cast.ines)
    return client


@pytest.mark.parametrize("charset", ["hex", "rot13", "unicode_escape", "undefined", '"zlib"'])
def test_the_charset_of_a_client_is_not_used(charset: str) -> None:
    seen: list[str] = []

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        seen.append(WSGIRequest(environ).GET["q"])
        return []

    wrapped: Any = bound(application, limit=lambda _: 10, folder=lambda: None)
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": "/",
        "QUERY_STRING": "q=%5Cx00",
        "CONTENT_TYPE": f"text/plain; charset={charset}",
        "wsgi.input": BytesIO(),
    }
    wrapped(environ, lambda *_: None)
    assert seen == ["\\x00"]


def test_the_catalog_shows_a_skill_whose_only_version_is_yanked(ines: Client, cast: make.Cast) -> None:
    version = make.version("refund-check", cast=cast)
    Version.objects.filter(pk=version.pk).update(yanked_at=make.NOW)
    Skill.objects.update(latest=None)
    answer = ines.get("/")
    assert answer.status_code == 200
    assert "refund-check" in answer.content.decode()


@pytest.mark.parametrize("address", ["foo", "skill-detail", "javascript:alert(1)", "//evil.example"])
def test_an_address_that_is_no_path_of_ours_leads_to_the_catalog(ines: Client, address: str) -> None:
    assert ines.get("/sign-in/", {"next": address})["Location"] == "/"
    answer = ines.post("/preferences/environment/", {"environment": ""}, headers={"Referer": address})
    assert answer["Location"] == "/"


def test_a_nul_in_a_tag_or_an_environment_is_refused(ines: Client) -> None:
    upload = BytesIO(make.skill_md(version="1.0.0"))
    upload.name = "SKILL.md"
    answer = ines.post("/publish/", {"team": "payments", "file": upload, "tags": "a\0b"})
    assert answer.status_code == 422
    answer = ines.post("/agents/new/", {"name": "bot", "team": "payments", "skill_tags": "a\0"})
    assert answer.status_code == 422
    assert not Skill.objects.exists()
    assert not Agent.objects.exists()
    assert ines.post("/preferences/environment/", {"environment": "a\0b"}).status_code == 400


@pytest.mark.parametrize("duration", [10**400, float("inf"), float("nan"), -1, True])
def test_a_duration_that_is_none_is_that_calls_fault_alone(duration: float) -> None:
    call = {
        "call_id": "c-1",
        "skill": "refund-check",
        "outcome": "ok",
        "started_at": "2026-11-30T09:00:00Z",
        "duration_ms": duration,
    }
    with pytest.raises(BadCall, match="duration_ms"):
        read_call(call, now=make.NOW)


@pytest.mark.parametrize("name", ["ines ", " INES", "\uff49\uff4e\uff45\uff53"])
def test_a_name_in_another_spelling_is_the_same_name_to_the_limit_of_tries(
    client: Client, cast: make.Cast, name: str
) -> None:
    while client.post("/sign-in/", {"username": "ines", "password": "wrong"}).status_code != 429:
        pass
    answer = client.post("/sign-in/", {"username": name, "password": make.PASSWORD})
    assert answer.status_code == 429


def test_answers_are_kept_out_of_shared_caches(ines: Client) -> None:
    assert ines.get("/")["Cache-Control"] == "private, no-cache"
    answer = ines.get("/api/v1/feed")
    assert answer["Cache-Control"] == "private, no-cache"
    assert "Authorization" in answer["Vary"]


@pytest.mark.parametrize(
    "kind", ["a/b; charset*=nope''utf-8", "a/b; X*=hex''q; y=1", "a/b;charset *=utf-7''x"]
)
def test_a_content_type_in_a_charset_of_its_own_is_read_without_it(kind: str) -> None:
    seen: list[str | None] = []

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        seen.append(WSGIRequest(environ).encoding)
        return []

    wrapped: Any = bound(application, limit=lambda _: 10, folder=lambda: None)
    wrapped({"REQUEST_METHOD": "GET", "CONTENT_TYPE": kind, "wsgi.input": BytesIO()}, lambda *_: None)
    assert seen == [None]


def test_a_tag_that_nobody_sees_is_refused(ines: Client) -> None:
    upload = BytesIO(make.skill_md(version="1.0.0"))
    upload.name = "SKILL.md"
    answer = ines.post("/publish/", {"team": "payments", "file": upload, "tags": "mon\u202eey"})
    assert answer.status_code == 422
    assert "mon\\u{202e}ey" in answer.content.decode()
    assert not Skill.objects.exists()
