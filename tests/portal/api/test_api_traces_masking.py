"""Personal data in calls: masked before anything is written, wherever an agent puts it."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection

from governance.models import Call, SubjectTag, TaskOutcome
from tests import make
from tests.portal.api.callers import Caller
from tests.portal.api.conftest import caller
from tests.portal.api.test_api_traces import call, report

pytestmark = pytest.mark.django_db

MAIL = "ina.berg@example.com"
PHONE = "+49 151 23456789"
CARD = "4111 1111 1111 1111"
IBAN = "DE89370400440532013000"
KEY = "sk-proj-4f9aK2mQ8rT6vX1zB3nC7dE5"
RAW = (MAIL, PHONE, CARD, IBAN, KEY)
TEXT = f"I am {MAIL}, call {PHONE}, card {CARD}, IBAN {IBAN}, key {KEY}."


def everything_written() -> str:
    """All rows of all tables, as one text."""
    rows: list[str] = []
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            cursor.execute(f'SELECT * FROM "{model._meta.db_table}"')
            rows += [str(row) for row in cursor.fetchall()]
    return "\n".join(rows)


def test_nothing_raw_is_written_anywhere(desk: Caller, cast: make.Cast) -> None:
    texts = dict.fromkeys(
        (
            *("call_id", "trace_id", "parent_id", "session_id", "skill", "version", "fallback_for", "model"),
            *("error_code", "selection_reason"),
        ),
        f"{MAIL} {KEY}",
    )
    sent = call(
        **{**texts, "user_intent": TEXT, "candidates": [TEXT, {"name": TEXT}]},
        parameters={TEXT: TEXT, "nested": [{"deeper": [TEXT]}], "json": f'{{"inside": "{MAIL}"}}'},
        output=TEXT,
        spans=[{"span_id": MAIL, "name": TEXT, "start_ms": 0, "duration_ms": 1, "attributes": {"a": TEXT}}],
    )
    told = report(desk, sent, tasks=[{"task_id": MAIL, "trace_id": MAIL, "completed": True}])
    assert told["accepted"] == 1, told
    written = everything_written()
    for raw in (*RAW, CARD.replace(" ", ""), "ina.berg", "4111 1111", "4f9aK2mQ8rT6"):
        assert raw not in written, raw
    answered = caller(cast, "lena").get("traces").content.decode()
    assert MAIL not in answered


def test_the_same_value_gets_the_same_mask(desk: Caller, cast: make.Cast) -> None:
    report(desk, call("c-1", user_intent=f"from {MAIL}"), call("c-2", output=[f"to {MAIL}"]))
    body = caller(cast, "lena").get("traces/t-1").json()
    first, second = sorted(body["calls"], key=lambda one: str(one["call_id"]))
    mask = first["user_intent"].removeprefix("from ")
    assert mask.startswith("[EMAIL·")
    assert second["output"] == [f"to {mask}"]
    assert SubjectTag.objects.filter(kind="EMAIL").values("hash").distinct().count() == 1


def test_a_masked_id_is_found_by_what_it_was(desk: Caller, cast: make.Cast) -> None:
    report(desk, call(trace_id=MAIL, user_intent=f"from {MAIL}"))
    lena = caller(cast, "lena")
    assert lena.get(f"traces/{MAIL}").json()["calls"][0]["call_id"] == "c-1"
    assert len(lena.get(f"traces?q={MAIL}").json()["items"]) == 1
    assert report(desk, call(trace_id=MAIL))["duplicates"] == 1


@pytest.mark.parametrize("trace_id", ["13800138000", "4915112345678", MAIL])
def test_a_task_names_its_trace_as_the_calls_do(desk: Caller, trace_id: str) -> None:
    report(desk, call(trace_id=trace_id), tasks=[{"task_id": "t", "trace_id": trace_id, "completed": True}])
    assert TaskOutcome.objects.get().trace_id == Call.objects.get().trace_id


def test_a_refusal_does_not_repeat_what_was_sent(desk: Caller) -> None:
    told = report(desk, call(kind=MAIL), call("c-2", started_at=MAIL), call("c-3", cost=MAIL))
    assert len(told["rejected"]) == 3
    assert MAIL not in str(told)
