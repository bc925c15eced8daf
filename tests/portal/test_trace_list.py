"""The list of calls."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from catalog.models import Agent
from tests import make
from tests.portal.answers import HTMX, text_of
from tests.portal.reports import report

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("live")]


def test_nothing_was_reported_yet(lena: Client) -> None:
    assert "No telemetry yet" in text_of(lena.get("/traces/"))
    assert lena.post("/traces/").status_code == 405


def test_calls_are_listed_with_their_stages(lena: Client, desk: Agent) -> None:
    report(
        desk,
        {},
        {"outcome": "error", "failed_stage": "execution", "error_code": "timeout"},
        {"outcome": "error", "failed_stage": "permission", "error_code": "denied"},
        {"outcome": "error", "error_code": "broken"},
    )
    text = text_of(lena.get("/traces/"))
    for label in (
        "All stages passed, as reported by its outcome",
        "Failed at Execution",
        "Denied at Permission",
        "Failed; the stage was not reported",
    ):
        assert f'aria-label="{label}"' in text
    assert "Execution: timeout" in text
    assert text.index("trace-3") < text.index("trace-0")


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"outcome": "error"}, {1}),
        ({"stage": "execution"}, {1}),
        ({"agent": "front-desk"}, {0, 1, 2}),
        ({"agent": "nobody"}, set()),
        ({"skill": "refund-check"}, {0, 1}),
        ({"skill": "unknown-skill"}, {2}),
        ({"environment": "production"}, {0, 1, 2}),
        ({"environment": "staging"}, set()),
        ({"q": "timeout"}, {1}),
        ({"q": "trace-2"}, {2}),
        ({"q": "refund"}, {0, 1}),
        ({"until": "2001-01-01T00:00"}, set()),
        ({"since": "2001-01-01T00:00", "outcome": "ok"}, {0, 2}),
    ],
)
def test_filters(lena: Client, desk: Agent, asked: dict[str, str], found: set[int]) -> None:
    report(
        desk,
        {},
        {"outcome": "error", "failed_stage": "execution", "error_code": "timeout"},
        {"skill": "unknown-skill"},
    )
    text = text_of(lena.get("/traces/", asked, headers=HTMX))
    assert {n for n in range(3) if f"/traces/trace-{n}/" in text} == found
    assert ("No call matches" in text) is not bool(found)
    assert "<html" not in text


def test_a_filter_that_makes_no_sense_is_said(lena: Client, desk: Agent) -> None:
    report(desk, {})
    text = text_of(lena.get("/traces/", {"since": "yesterday-ish", "before": "x", "outcome": "meh"}))
    assert "Enter a valid date/time." in text
    assert "trace-0" in text


def test_pages_go_by_key(lena: Client, desk: Agent, django_assert_max_num_queries: Any) -> None:
    report(desk, *[{} for _ in range(120)])
    with django_assert_max_num_queries(12):
        page = lena.get("/traces/", {"environment": "production"})
    assert not page.context["page"].newer
    seen = [row.call.trace_id for row in page.context["rows"]]
    assert seen[0] == "trace-119"
    while page.context["page"].older:
        cursor = page.context["page"].older
        assert f"environment=production&amp;before={cursor}" in page.content.decode()
        page = lena.get("/traces/", {"environment": "production", "before": cursor})
        seen += [row.call.trace_id for row in page.context["rows"]]
    assert seen == [f"trace-{n}" for n in reversed(range(120))]
    back = lena.get("/traces/", {"after": page.context["page"].newer})
    assert [row.call.trace_id for row in back.context["rows"]] == [
        f"trace-{n}" for n in reversed(range(20, 70))
    ]
    assert back.context["page"].newer
    assert back.context["page"].older


def test_the_environment_of_the_sidebar_narrows_the_list(lena: Client, desk: Agent) -> None:
    report(desk, {})
    session = lena.session
    session["environment"] = "staging"
    session.save()
    assert "No call matches" in text_of(lena.get("/traces/"))
    assert "trace-0" in text_of(lena.get("/traces/", {"environment": ""}))


def test_publishers_read_their_own_and_others_nothing(client: Client, cast: make.Cast, desk: Agent) -> None:
    report(desk, {}, {"skill": "unknown-skill"})
    client.force_login(cast.ines)
    text = text_of(client.get("/traces/"))
    assert "trace-0" in text
    assert "trace-1" not in text
    for user in (cast.sven, cast.ravi, cast.mara, cast.ada, cast.nora):
        client.force_login(user)
        assert "trace-0" not in text_of(client.get("/traces/"))
        assert client.get("/traces/trace-0/").status_code == 404
    client.force_login(cast.ravi)
    answer = client.get("/traces/")
    assert answer.status_code == 403
    assert "You do not read traces" in text_of(answer)


def test_what_is_known_of_the_stages_and_no_more(lena: Client, desk: Agent) -> None:
    report(desk, {"kind": "resource"})
    assert 'class="strip"' not in text_of(lena.get("/traces/"))
    assert 'class="stages"' not in text_of(lena.get("/traces/trace-0/"))


def test_a_part_of_the_intent_is_found(lena: Client, desk: Agent) -> None:
    report(desk, {"user_intent": "Give the money back"}, {})
    text = text_of(lena.get("/traces/", {"q": "MONEY"}))
    assert "/traces/trace-0/" in text
    assert "/traces/trace-1/" not in text
