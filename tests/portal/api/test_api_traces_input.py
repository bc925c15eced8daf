"""What agents send as calls: nothing of it is a 500, and what is wrong is rejected by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_django import Settings

from governance.models import Call, CallDetail
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.test_api_traces import call, report

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"call_id": ""}, "call-id-missing"),
        ({"call_id": None}, "call-id-missing"),
        ({"call_id": 5}, "field-invalid"),
        ({"call_id": "x" * 201}, "field-too-long"),
        ({"outcome": None}, "outcome-missing"),
        ({"outcome": "fine"}, "field-invalid"),
        ({"outcome": []}, "field-invalid"),
        ({"failed_stage": "output"}, "stage-without-error"),
        ({"outcome": "error", "failed_stage": "thinking"}, "field-invalid"),
        ({"skill": None}, "skill-missing"),
        ({"skill": ["a"]}, "field-invalid"),
        ({"kind": "guessed"}, "field-invalid"),
        ({"kind": {}}, "field-invalid"),
        ({"attempt": 0}, "field-invalid"),
        ({"attempt": True}, "field-invalid"),
        ({"attempt": 10**30}, "field-invalid"),
        ({"replanned": "yes"}, "field-invalid"),
        ({"retryable": 1}, "field-invalid"),
        ({"started_at": "yesterday"}, "field-invalid"),
        ({"started_at": None}, "field-invalid"),
        ({"started_at": 1764504000}, "field-invalid"),
        ({"started_at": "0001-01-01T00:00:00+14:00"}, "field-invalid"),
        ({"started_at": "9999-12-31T23:59:59-14:00"}, "field-invalid"),
        ({"duration_ms": -1}, "field-invalid"),
        ({"duration_ms": "12"}, "field-invalid"),
        ({"duration_ms": 10**30}, "field-invalid"),
        ({"duration_ms": None}, "field-invalid"),
        ({"input_tokens": 1.5}, "field-invalid"),
        ({"input_tokens": 10**13}, "field-invalid"),
        ({"output_tokens": "5"}, "field-invalid"),
        ({"cost": "free"}, "field-invalid"),
        ({"cost": "NaN"}, "field-invalid"),
        ({"cost": "Infinity"}, "field-invalid"),
        ({"cost": "-1"}, "field-invalid"),
        ({"cost": True}, "field-invalid"),
        ({"cost": []}, "field-invalid"),
        ({"cost": "1e999999999", "currency": "EUR"}, "field-invalid"),
        ({"cost": "9999999999.999999999", "currency": "EUR"}, "field-invalid"),
        ({"cost": "1"}, "currency-missing"),
        ({"currency": "EURO"}, "field-too-long"),
        ({"cache_hit": "no"}, "field-invalid"),
        ({"candidates": "a"}, "field-invalid"),
        ({"candidates": ["a"] * 1001}, "field-invalid"),
        ({"user_intent": 5}, "field-invalid"),
        ({"user_intent": "x" * 20_001}, "field-too-long"),
        ({"spans": [5]}, "span-invalid"),
        ({"spans": [{"attributes": []}]}, "span-invalid"),
        ({"spans": [{"start_ms": "a"}]}, "field-invalid"),
    ],
)
def test_a_bad_call_is_rejected_by_itself(desk: Caller, fields: dict[str, Any], code: str) -> None:
    told = report(desk, call("good"), call(**fields), call("fine"))
    assert told["accepted"] == 2
    (rejected,) = told["rejected"]
    assert list(rejected) == ["index", "code", "message"]
    assert (rejected["index"], rejected["code"]) == (1, code)
    assert set(Call.objects.values_list("call_id", flat=True)) == {"good", "fine"}


@pytest.mark.parametrize("raw", [5, None, "x", [], True, 1.5])
def test_a_call_that_is_no_object(desk: Caller, raw: object) -> None:
    assert report(desk, raw)["rejected"][0]["code"] == "call-invalid"


@pytest.mark.parametrize(
    "fields",
    [
        *({"cost": "0.00000000001", "currency": "EUR"}, {"cost": 5, "currency": "ßßß"}, {"cost": 1e-300}),
        *(
            {"duration_ms": 0.4},
            {"attempt": None},
            {"version": "x" * 255},
            {"parameters": 5},
            {"output": None},
        ),
        {"started_at": "2026-11-30 12:00"},
    ],
)
def test_odd_values_that_are_taken(desk: Caller, fields: dict[str, Any]) -> None:
    told = report(desk, call(**{"currency": "EUR", **fields}))
    assert told == {"accepted": 1, "duplicates": 0, "rejected": []}


@pytest.mark.parametrize(
    "text", ["a\x00b", "a\ud83db", "\udfff", "\ufffe", "\x1b[31m", "\u202e", "𝕏" * 100, '{"a": "\\u0000"}']
)
def test_odd_characters_lose_no_call(desk: Caller, text: str) -> None:
    sent = call(text[:20], skill=text[:20], user_intent=text, parameters={text: [text]}, error_code=text)
    told = desk.post("traces", json.dumps({"calls": [sent, call("fine")]}))
    assert told.json()["accepted"] == 2
    for row in CallDetail.objects.all():
        assert "\x00" not in row.user_intent
        row.user_intent.encode()


def test_json_inside_a_text_may_hold_half_a_character(desk: Caller) -> None:
    inside = '{"mail": "ina@example.com", "cut": "\\ud83d"}'
    told = report(desk, call(output=inside, parameters={"a": inside}, user_intent=inside))
    assert told["accepted"] == 1
    assert "ina@example.com" not in CallDetail.objects.get().output


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 400, "-0.0", "1" * 30])
def test_odd_numbers_lose_no_call(desk: Caller, number: str) -> None:
    raw = json.dumps({"calls": [call(parameters={"n": 0.5})]}).replace("0.5", number)
    assert desk.post("traces", raw).json()["accepted"] == 1
    assert CallDetail.objects.count() == 1


@pytest.mark.parametrize("levels", [50, 300, 900])
def test_deep_nesting_is_cut(desk: Caller, levels: int) -> None:
    for n, odd in enumerate(("", "\x00", "\ud800")):
        raw = json.dumps({"calls": [call(f"c-{n}", parameters="HERE", user_intent=odd)]})
        raw = raw.replace('"HERE"', f'{"[" * levels}"x@example.com"{"]" * levels}')
        answer = desk.post("traces", raw, Idempotency_Key=f"key-{n}")
        # Python's own reader, which half a character needs, gives up before ours does.
        assert answer.status_code == 202 or (levels == 900 and odd == "\ud800"), answer.content
    for detail in CallDetail.objects.all():
        kept = json.dumps(detail.parameters)
        assert "x@example.com" not in kept
        assert kept.count("[") <= 122


def test_nesting_beyond_all_reason_is_refused(desk: Caller) -> None:
    for inside in ("[" * 100_000, '{"a":' * 100_000, "[" * 500_000 + "]" * 500_000):
        assert_problem(desk.post("traces", '{"calls": ' + inside + "}"), 400, "body-invalid")


@pytest.mark.parametrize(
    "body", ["nothing", "{", "[]", "5", "null", '"x"', b"\xff\xfe", b"\x00", '{"calls": [}', "{'a': 1}"]
)
def test_a_body_that_is_no_object(desk: Caller, body: str | bytes) -> None:
    assert_problem(desk.post("traces", body), 400, "body-invalid")


def test_a_body_with_a_byte_order_mark_or_broken_utf8(desk: Caller) -> None:
    raw = json.dumps({"calls": [call("c-1")]}).encode()
    assert desk.post("traces", b"\xef\xbb\xbf" + raw).json()["accepted"] == 1
    broken = json.dumps({"calls": [call("c-2", user_intent="HERE")]}).encode().replace(b"HERE", b"\xff")
    assert desk.post("traces", broken).json()["accepted"] == 1


@pytest.mark.parametrize(
    "body", [{"calls": 5}, {"calls": None}, {"calls": {}}, {"tasks": "x"}, {"tasks": {"a": 1}}]
)
def test_lists_of_another_type(desk: Caller, body: dict[str, Any]) -> None:
    assert_problem(desk.post("traces", body), 422, "field-invalid")


def test_an_empty_batch(desk: Caller) -> None:
    for body in ({}, {"calls": []}, {"calls": [], "tasks": []}):
        assert desk.post("traces", body).json() == {"accepted": 0, "duplicates": 0, "rejected": []}


def test_limits(desk: Caller, settings: Settings) -> None:
    assert_problem(desk.post("traces", {"calls": [{}] * 1001}), 413, "batch-too-large")
    assert_problem(desk.post("traces", {"tasks": [{}] * 1001}), 413, "batch-too-large")
    assert report(desk, *[call(f"c-{n}") for n in range(1000)])["accepted"] == 1000
    assert settings.MAX_TRACE_BYTES == 5 * 1024 * 1024
    padding = " " * settings.MAX_TRACE_BYTES
    assert_problem(desk.post("traces", '{"calls": []}' + padding), 413, "body-too-large")
