"""The calls of one trace, with their masked payloads."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from catalog.models import Agent, Role
from governance.models import Call
from governance.models.traces import Source
from governance.otlp import Span
from governance.traces import ingest
from tests import make
from tests.portal.answers import text_of
from tests.portal.reports import report

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("live")]


def test_a_trace_shows_each_call_with_its_masked_payloads(
    lena: Client, desk: Agent, django_assert_max_num_queries: Any
) -> None:
    call = {
        "trace_id": "run/7",
        "user_intent": "Give <b>mara@example.org</b> her money back",
        "candidates": ["refund-check", {"name": "order-find", "score": 0.4}],
        "selection_reason": "It checks refunds.",
        "parameters": {"order": 7, "mail": "mara@example.org"},
        "output": {"refunded": True},
        "input_tokens": 1500,
        "cost": "0.0042",
        "currency": "EUR",
        "spans": [
            {"span_id": "a", "name": "fetch order", "start_ms": 0, "duration_ms": 600},
            {"span_id": "b", "parent_id": "a", "name": "query", "start_ms": 100, "duration_ms": 300},
        ],
    }
    report(
        desk, call, {"trace_id": "run/7", "outcome": "error", "failed_stage": "output", "retryable": False}
    )
    with django_assert_max_num_queries(12):
        answer = lena.get("/traces/run/7/")
    text = text_of(answer)
    assert answer.status_code == 200
    assert "mara@example.org" not in text
    assert '<span class="mask">EMAIL·' in text
    assert "<b>mara" not in text
    assert "&quot;refunded&quot;: true" in text
    assert 'data-depth="1"' in text
    assert "0.0042 EUR" in text
    assert "trying again does not help" in text
    assert lena.post("/traces/run/7/").status_code == 405
    assert lena.get("/traces/no-such/").status_code == 404


def test_stages_are_told_as_far_as_they_are_known(lena: Client, desk: Agent) -> None:
    report(desk, {}, {"outcome": "error", "failed_stage": "permission"})
    text = text_of(lena.get("/traces/trace-0/"))
    assert "All stages passed, as reported by its outcome." in text
    assert 'class="stages"' not in text
    text = text_of(lena.get("/traces/trace-1/"))
    assert text.count("passed</span>") == 3
    assert text.count("not reached</span>") == 2


def test_a_personal_value_finds_its_mask(lena: Client, desk: Agent) -> None:
    report(desk, {"trace_id": "mara@example.org"})
    stored = Call.objects.get().trace_id
    assert "mara@" not in stored
    assert lena.get("/traces/mara@example.org/").status_code == 200
    assert stored in text_of(lena.get("/traces/", {"q": "mara@example.org"}))


def test_a_call_without_payloads_is_shown(lena: Client, desk: Agent) -> None:
    report(desk, {})
    Call.objects.get().detail.delete()
    assert "No payload is kept for this call." in text_of(lena.get("/traces/trace-0/"))


def test_bare_digits_are_an_id(lena: Client, desk: Agent) -> None:
    report(desk, {"trace_id": "13812345678"})
    assert lena.get("/traces/13812345678/").status_code == 200
    assert "13812345678" in text_of(lena.get("/traces/", {"q": "13812345678"}))
    assert "/traces/13812345678/" in text_of(lena.get("/search/", {"q": "1381234"}))


def test_what_is_not_there_is_said_in_words(lena: Client) -> None:
    answer = lena.get("/traces/mara@example.org/")
    assert answer.status_code == 404
    assert "There is no such trace" in text_of(answer)


def surround(agent: Agent, *spans: Span, environment: str = "production") -> None:
    """Let the agent report spans that concern no skill."""
    ingest(
        calls=[],
        spans=spans,
        agent_id=agent.pk,
        environment_id=make.environment(environment).pk,
        source=Source.OTLP,
        now=timezone.now(),
    )


def context(span_id: str, parent_id: str = "", **fields: Any) -> Span:
    """A span of trace-0."""
    start = timezone.now() - timedelta(hours=1)
    told = {"name": span_id, "failed": False, "started_at": start, "duration_ms": 2000, "attributes": {}}
    return Span(**{**told, "trace_id": "trace-0", "span_id": span_id, "parent_id": parent_id, **fields})


def test_the_spans_around_calls_stand_on_their_axis(
    lena: Client, desk: Agent, django_assert_max_num_queries: Any
) -> None:
    report(desk, {"parent_id": "turn"})
    surround(
        desk,
        context("run"),
        context(
            "turn", "run", name="chat", attributes={"prompt": "It is <b>mara@example.org</b>"}, failed=True
        ),
    )
    with django_assert_max_num_queries(10):
        answer = lena.get("/traces/trace-0/")
    lines = answer.context["lines"]
    assert [(line.name, line.place.depth) for line in lines] == [("run", 0), ("chat", 1), ("refund-check", 2)]
    text = text_of(answer)
    assert "2 spans of the agent around its calls" in text
    assert '<span class="mask">EMAIL·' in text
    assert "mara@" not in text
    assert "<b>" not in text[text.index("Timeline") :].split("</section>")[0]
    assert "reported as REST" in text


def test_a_call_alone_has_no_axis(lena: Client, desk: Agent) -> None:
    report(desk, {})
    assert "Timeline" not in text_of(lena.get("/traces/trace-0/"))


def test_spans_are_read_by_whoever_reads_a_call_beside_them(
    client: Client, cast: make.Cast, desk: Agent
) -> None:
    """Of that agent and environment: a trace's id is whatever an agent says."""
    report(desk, {})
    report(desk, {"skill": "unknown-skill"}, environment="staging")
    surround(desk, context("mine"))
    surround(desk, context("elsewhere"), environment="staging")
    surround(make.agent("night-desk", team=cast.support), context("of-another"))
    make.grant(cast.nora, Role.ANALYST, environment=make.environment("staging"))

    def seen(user: Any) -> set[str]:
        client.force_login(user)
        lines = client.get("/traces/trace-0/").context["lines"]
        return {line.name for line in lines if line.row is None}

    assert seen(cast.ines) == {"mine"}
    assert seen(cast.nora) == {"elsewhere"}
    assert seen(cast.lena) == {"mine", "elsewhere"}


def test_what_the_catalog_does_not_have_is_marked(lena: Client, desk: Agent) -> None:
    report(desk, {"skill": "no-such"}, {"version": "9.9.9"}, {"version": ""})
    assert "No skill of this name is in the catalog." in text_of(lena.get("/traces/trace-0/"))
    assert "The catalog has no such version of it." in text_of(lena.get("/traces/trace-1/"))
    assert "nknown" not in text_of(lena.get("/traces/trace-2/"))
    text = text_of(lena.get("/traces/"))
    assert text.count("unknown skill") == 1
    assert text.count("unknown version") == 1


def test_a_clock_that_is_off_is_said_and_taken_off(lena: Client, desk: Agent, cast: make.Cast) -> None:
    ahead = timezone.now() + timedelta(hours=3, seconds=30)
    report(desk, {"started_at": ahead.isoformat()})
    other = make.agent("night-desk", team=cast.support)
    report(other, {"started_at": (timezone.now() - timedelta(seconds=9)).isoformat()})
    answer = lena.get("/traces/trace-0/")
    assert "The agent&#x27;s clock is 3 h ahead." in text_of(answer)
    assert max(line.place.start_ms for line in answer.context["lines"]) < 60_000


def test_many_spans_are_cut_and_said(lena: Client, desk: Agent, cast: make.Cast) -> None:
    report(desk, {})
    report(desk, {}, environment="staging")
    for environment in ("production", "staging"):
        surround(desk, *(context(f"{n}") for n in range(150)), environment=environment)
    answer = lena.get("/traces/trace-0/")
    assert answer.context["span_count"] == 200
    assert "there are more" in text_of(answer)
