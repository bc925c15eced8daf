from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from catalog.models import Skill, State
from governance.models import Call
from tests import make
from tests.make import Cast
from tests.portal.pages import HTMX, is_page, links, signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/search/"
MOST_QUERIES = 8


@pytest.fixture
def cast() -> Cast:
    cast = make.cast()
    version = make.version("refund-check", cast=cast)
    make.release(version, "production", cast=cast, state=State.PROPOSED)
    agent = make.agent(team=cast.payments)
    for n in range(3):
        Call.objects.create(
            agent=agent,
            environment=make.environment("production"),
            call_id=f"call-{n}",
            trace_id=f"8f2c-41d{n // 2}",
            skill=version.skill,
            kind="called",
            outcome="ok",
            started_at=make.NOW,
            received_at=make.NOW,
            duration_ms=5,
        )
    return cast


def found(cast: Cast, name: str, text: str) -> list[str]:
    html = signed_in(getattr(cast, name)).get(ADDRESS, {"q": text}, headers=HTMX).content.decode()
    assert not is_page(html)
    return links(html)


def test_finds_skills_and_their_open_releases(cast: Cast) -> None:
    release = Skill.objects.get().releases.get()
    assert found(cast, "nora", "refund") == ["/skills/refund-check/", f"/releases/{release.pk}/"]


def test_finds_a_release_by_version_or_id(cast: Cast) -> None:
    release = Skill.objects.get().releases.get()
    assert f"/releases/{release.pk}/" in found(cast, "nora", "refund 1.0")
    assert f"/releases/{release.pk}/" not in found(cast, "nora", "refund 2")
    assert found(cast, "nora", str(release.pk)) == [f"/releases/{release.pk}/"]


def test_an_index_finds_traces_by_the_beginning_of_their_id(cast: Cast) -> None:
    with CaptureQueriesContext(connection) as asked:
        found(cast, "lena", "8f2c-41d")
    [sql] = [one["sql"] for one in asked if "DISTINCT" in one["sql"] and "8f2c-41d" in one["sql"]]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {'QUERY PLAN ' if connection.vendor == 'sqlite' else ''}{sql}")
        plan = " ".join(str(row) for row in cursor.fetchall())
    assert "call_by_trace" in plan
    assert ("(trace_id>? AND trace_id<?)" if connection.vendor == "sqlite" else "~>=~") in plan, plan


def test_finds_traces_for_those_who_may_read_them(cast: Cast) -> None:
    assert found(cast, "lena", "8f2c-41d") == ["/traces/8f2c-41d0/", "/traces/8f2c-41d1/"]
    assert found(cast, "ines", "8f2c-41d1") == ["/traces/8f2c-41d1/"]
    assert found(cast, "nora", "8f2c-41d") == []
    assert found(cast, "sven", "8f2c-41d") == []


def test_says_that_nothing_was_found(cast: Cast) -> None:
    html = signed_in(cast.nora).get(ADDRESS, {"q": "<b>x"}, headers=HTMX).content.decode()
    assert "Nothing matches “&lt;b&gt;x”." in html


@pytest.mark.parametrize("text", ["", " ", "r", "%", "_" * 3, "'\"", "x" * 5000])
def test_odd_words_are_no_fault(cast: Cast, text: str) -> None:
    assert found(cast, "lena", text) == []


def test_the_page_has_more(cast: Cast) -> None:
    html = signed_in(cast.nora).get(ADDRESS, {"q": "refund"}).content.decode()
    assert is_page(html)
    assert "Results for “refund”" in html
    assert 'href="/?q=refund"' in html


def test_does_not_leak_a_team_skill(cast: Cast) -> None:
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert found(cast, "sven", "refund") == []
    assert len(found(cast, "ravi", "refund")) == 2


def test_queries_are_bounded(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    client = signed_in(cast.lena)
    with django_assert_max_num_queries(MOST_QUERIES):
        client.get(ADDRESS, {"q": "8f2c"}, headers=HTMX)


def test_needs_a_sign_in_and_a_safe_method(client: Client, cast: Cast) -> None:
    assert client.get(ADDRESS).status_code == 302
    assert signed_in(cast.ines).post(ADDRESS).status_code == 405
