"""The poll of the feed is answered early, and exactly as its endpoint would answer it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve
from pytest_django import Settings

from catalog.models import State, Token, Version
from catalog.resolution import Feed
from governance import usage
from portal import counters
from portal.api import polling, throttling
from tests import make
from tests.portal.api.callers import Caller, assert_problem

pytestmark = pytest.mark.django_db

TOLD = ("ETag", "Cache-Control", "X-Quartermaster-Assignment", "Content-Type",
        "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy")  # fmt: skip


@pytest.fixture
def endpoint_only(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Leaves every request to the endpoint from now on."""

    def leave() -> None:
        monkeypatch.setattr(polling, "_poll", lambda request: None)

    return leave


@pytest.fixture
def minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the limits stands still."""
    now = time.time()
    monkeypatch.setattr(throttling.time, "time", lambda: now)


def test_the_address_is_that_of_the_feed() -> None:
    assert resolve(polling.ADDRESS).url_name == "api-feed"


@pytest.mark.parametrize("path", ["feed", "feed?key=", "feed?key=session-1", "feed?key=会话&other=1"])
@pytest.mark.parametrize("match", [False, True])
def test_it_is_answered_as_by_the_endpoint(
    desk: Caller,
    cast: make.Cast,
    refunds: Version,
    endpoint_only: Callable[[], None],
    path: str,
    match: bool,
) -> None:
    newer = make.version(number="1.1.0", cast=cast, body="# Newer\n")
    make.release(newer, "production", cast=cast, state=State.CANARY, percent=50)
    headers = {"If_None_Match": desk.get(path)["ETag"]} if match else {}
    early = desk.get(path, **headers)
    endpoint_only()
    late = desk.get(path, **headers)
    assert early.status_code == late.status_code == (304 if match else 200)
    assert early.content == late.content
    assert {name: early.get(name) for name in TOLD} == {name: late.get(name) for name in TOLD}
    assert "Authorization" in early["Vary"]
    if not match:
        assert early["Content-Length"] == late["Content-Length"] == str(len(early.content))
        assert early["Content-Security-Policy"].startswith("default-src 'none'")
    assert "Set-Cookie" not in early


def test_it_is_counted_as_by_the_endpoint(
    desk: Caller, refunds: Version, endpoint_only: Callable[[], None]
) -> None:
    for leave in (lambda: None, endpoint_only):
        leave()
        answer = desk.get("feed")
        early = usage._counts.take()
        assert list(early.values()) == [1]
        desk.get("feed", If_None_Match=answer["ETag"])
        assert not usage._counts.take()


def test_the_endpoint_is_not_reached(desk: Caller, refunds: Version, monkeypatch: pytest.MonkeyPatch) -> None:
    assert desk.get("feed").status_code == 200

    def fail(*args: object, **more: object) -> HttpResponse:
        raise AssertionError("the endpoint was asked")

    monkeypatch.setattr("rest_framework.views.APIView.dispatch", fail)
    etag = desk.get("feed")["ETag"]
    assert desk.get("feed", If_None_Match=etag).status_code == 304


def test_what_is_refused_is_told_by_the_endpoint(cast: make.Cast, desk: Caller, refunds: Version) -> None:
    writes = make.token(agent=make.agent("other", team=cast.payments), scopes=("traces:write",))[1]
    assert_problem(Caller().get("feed"), 401, "not-authenticated")
    assert_problem(Caller("qm_unknown").get("feed"), 401, "token-invalid")
    assert_problem(Caller(writes).get("feed"), 403, "scope-missing")
    assert_problem(Caller(make.token(user=cast.ines)[1]).get("feed"), 403, "scope-missing")
    assert desk.post("feed").status_code == 405
    assert desk.get("feed", Accept="text/html").status_code == 406
    assert desk.get("feed", Accept="text/html, application/json").status_code == 200
    assert desk.get("feed?key=%00").status_code == 400
    told = {"Authorization": f"Bearer {desk.secret}", "Host": "elsewhere.example"}
    assert Client().get(polling.ADDRESS, headers=told).status_code == 400


def test_a_fault_on_the_way_is_the_endpoints_to_tell(
    desk: Caller, refunds: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**asked: object) -> Feed:
        raise RuntimeError("no room")

    monkeypatch.setattr(polling, "feed_of", fail)
    assert desk.get("feed").status_code == 200
    monkeypatch.setattr("portal.api.feed.feed_of", fail)
    answer = desk.client.get(polling.ADDRESS, headers={"Authorization": f"Bearer {desk.secret}"})
    assert_problem(answer, 500, "server-error")


@pytest.mark.parametrize("limit", [3, 100, 130])
def test_one_process_keeps_to_the_limit_exactly(
    desk: Caller, refunds: Version, settings: Settings, minute: None, limit: int
) -> None:
    settings.RATE_LIMIT = limit
    answers = [desk.get("feed").status_code for _ in range(limit + 3)]
    assert answers == [200] * limit + [429] * 3
    assert 1 <= int(desk.get("feed")["Retry-After"]) <= 60


def test_other_processes_are_heard_of_within_a_fiftieth_of_the_limit(
    desk: Caller, refunds: Version, settings: Settings, minute: None
) -> None:
    settings.RATE_LIMIT = 500
    assert desk.get("feed").status_code == 200
    counters.count("requests", str(Token.objects.get().pk), seconds=60, now=throttling.time.time(), by=500)
    answers = [desk.get("feed").status_code for _ in range(12)]
    assert answers == [200] * 8 + [429] * 4


def test_a_batch_is_told_at_once(
    desk: Caller, refunds: Version, settings: Settings, minute: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMIT = 500
    told: list[int] = []

    def count(name: str, key: str, *, by: int, **more: Any) -> int:
        told.append(by)
        return sum(told)

    monkeypatch.setattr(throttling, "count", count)
    for _ in range(35):
        assert desk.get("feed").status_code == 200
    assert told == [10, 10, 10]


def test_a_warm_poll_asks_the_database_nothing_whoever_polls(
    cast: make.Cast, desk: Caller, refunds: Version, settings: Settings, django_assert_num_queries: Any
) -> None:
    newer = make.version(number="1.1.0", cast=cast, body="# Newer\n")
    make.release(newer, "production", cast=cast, state=State.CANARY, percent=50)
    settings.RATE_LIMIT = 600
    etag = desk.get("feed")["ETag"]
    with django_assert_num_queries(0):
        for n in range(60):
            assert desk.get(f"feed?key=session-{n}").status_code == 200
        assert desk.get("feed", If_None_Match=etag).status_code == 304
