"""The calls of one trace, with their masked payloads."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from catalog.models import Agent
from governance.models import Call
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
