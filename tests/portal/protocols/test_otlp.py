"""Spans and log records by OTLP/HTTP: taken once, answered in the encoding of the request."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from django.test import Client

from catalog.models import Version
from governance import store
from governance.models import Call, ContextSpan, Intake
from governance.models.traces import Source
from tests import make
from tests.governance.otlp_payloads import (
    LOAD,
    SPAN,
    START,
    TRACE,
    binary_records,
    binary_spans,
    json_records,
    json_spans,
    record,
    span,
)
from tests.portal.protocols.sender import LOGS, PROTOBUF, Sender, partial_of

pytestmark = pytest.mark.django_db
ENCODINGS = pytest.mark.parametrize("encode", [binary_spans, json_spans])


def numbered(number: int, **fields: Any) -> dict[str, Any]:
    """A span with an id of its own that concerns no skill."""
    return span("chat", {"n": number}, span_id=f"{number + 1:016x}", **fields)


@ENCODINGS
def test_a_call_and_its_context_are_kept_and_sent_again_change_nothing(
    desk: Sender, refunds: Version, encode: Any
) -> None:
    payload = encode(span(attributes={**LOAD, "skill.version": "1.0.0"}), numbered(5))
    for _ in range(2):
        answer = desk.send(payload)
        assert (answer.status_code, answer.content) == (200, b"" if encode is binary_spans else b"{}")
        assert "Set-Cookie" not in answer
    [call] = Call.objects.all()
    assert (call.call_id, call.trace_id, call.source) == (f"{TRACE}-{SPAN}", TRACE, Source.OTLP)
    assert (call.skill, call.version, call.kind, call.arm) == (refunds.skill, refunds, "loaded", "stable")
    assert call.detail.parameters == {"skill_name": "refund-check"}
    [context] = ContextSpan.objects.all()
    assert (context.trace_id, context.span_id) == (TRACE, f"{TRACE}-0000000000000006")
    counted = Intake.objects.values_list("source", "accepted", "duplicates", "rejected", "spans")
    assert list(counted) == [(Source.OTLP, 1, 1, 0, 1)]


def test_one_span_by_both_encodings_is_one_call(desk: Sender) -> None:
    for encode in (binary_spans, json_spans):
        assert partial_of(desk.send(encode(span()))) == (0, "")
    assert Call.objects.count() == 1


def test_the_same_ids_of_another_agent_and_environment_are_other_calls(desk: Sender, cast: make.Cast) -> None:
    agent = make.agent("back-office", team=cast.support)
    for secret in (
        desk.secret,
        make.token(agent=agent, scopes=("traces:write",))[1],
        make.token(agent=agent, environment="staging", scopes=("traces:write",))[1],
    ):
        assert partial_of(Sender(secret).send(binary_spans(span()))) == (0, "")
    told = Call.objects.values_list("agent__name", "environment__name").order_by("pk")
    assert list(told) == [
        ("front-desk", "production"),
        ("back-office", "production"),
        ("back-office", "staging"),
    ]


def test_a_span_id_that_comes_again_in_another_trace_is_another_call(desk: Sender) -> None:
    desk.send(binary_spans(span(), span(trace_id="ab" * 16)))
    assert Call.objects.count() == 2


@ENCODINGS
def test_what_cannot_be_taken_is_told_and_the_rest_is_taken(desk: Sender, encode: Any) -> None:
    bad = span(attributes={**LOAD, "quartermaster.attempt": -1}, span_id="bb" * 8)
    rejected, message = partial_of(desk.send(encode(span(), bad, span(span_id="cd"), numbered(1))))
    assert rejected == 2
    assert message == (
        "Span cd: its span id has 2 hex digits; 16 are needed. "
        f"Span {'bb' * 8}: attempt is not a whole number from 1 to 1000000."
    )
    assert (Call.objects.count(), ContextSpan.objects.count()) == (1, 1)
    assert Intake.objects.get().rejected == 2


def test_the_first_problems_are_told_and_the_others_counted(desk: Sender) -> None:
    told = partial_of(desk.send(binary_spans(*[span(span_id="")] * 5)))
    one = "Span without an id: its span id has 0 hex digits; 16 are needed."
    assert told == (5, f"{one} {one} {one} 2 more were not taken.")
    assert (Intake.objects.get().rejected, Call.objects.count()) == (5, 0)


@ENCODINGS
def test_what_began_the_day_after_tomorrow_is_not_taken_call_or_context(desk: Sender, encode: Any) -> None:
    ahead = {"start_time_unix_nano": 2**63 - 1, "end_time_unix_nano": 2**63 - 1}
    rejected, message = partial_of(desk.send(encode(span(**ahead), numbered(1, **ahead), numbered(2))))
    assert rejected == 2
    assert message == (
        f"Span {2:016x}: it began more than a day ahead of the server's time; set the agent's clock. "
        f"Span {SPAN}: started_at is more than a day ahead of the server's time; set the agent's clock."
    )
    assert (Call.objects.count(), ContextSpan.objects.count()) == (0, 1)
    assert Intake.objects.get().rejected == 2


@ENCODINGS
def test_of_a_trace_so_much_context_is_kept(desk: Sender, encode: Any) -> None:
    payload = encode(span(), *(numbered(number) for number in range(store.MOST_SPANS + 3)))
    warning = "3 spans that concern no skill were not kept: a trace keeps 200."
    assert partial_of(desk.send(payload)) == (0, warning)
    assert (Call.objects.count(), ContextSpan.objects.count()) == (1, 200)
    assert Intake.objects.get().dropped == 3


@ENCODINGS
@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "GZIP"])
def test_gzip(desk: Sender, encode: Any, coding: str) -> None:
    payload = encode(span())
    plain = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    kind = PROTOBUF if isinstance(payload, bytes) else "application/json"
    halves = gzip.compress(plain[:50]) + gzip.compress(plain[50:])
    assert partial_of(desk.send(halves, kind=kind, Content_Encoding=coding)) == (0, "")
    assert Call.objects.count() == 1


def test_the_type_may_have_parameters(desk: Sender) -> None:
    body = json.dumps(json_spans(span())).encode()
    answer = desk.client.post(
        "/v1/traces",
        body,
        "Application/JSON; charset=utf-8",
        headers={
            "Authorization": f"Bearer {desk.secret}",
            "Content-Encoding": "identity",
            "Accept": "text/html",
        },
    )
    assert (answer.status_code, answer.content, answer["Content-Type"]) == (200, b"{}", "application/json")
    assert Call.objects.count() == 1


def test_no_cookie_is_asked_for_and_no_forgery_token(desk: Sender) -> None:
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post(
        "/v1/traces", binary_spans(span()), PROTOBUF, headers={"Authorization": f"Bearer {desk.secret}"}
    )
    assert answer.status_code == 200


def test_json_that_holds_what_no_database_takes(desk: Sender) -> None:
    text = json.dumps(json_spans(span(attributes={**LOAD, "odd": "a\0b\ud800"}))).replace(
        '"kind": 1', '"kind": NaN'
    )
    assert partial_of(desk.send(text.encode(), kind="application/json")) == (0, "")
    [call] = Call.objects.select_related("detail")
    assert call.detail.spans[0]["attributes"]["odd"] == "a\ufffdb\ufffd"


def test_numbers_that_are_none_are_stored_as_nothing(desk: Sender) -> None:
    for encode, number in ((binary_spans, "aa" * 8), (json_spans, "bb" * 8)):
        attributes = {**LOAD, "a": float("nan"), "b": float("-inf"), "c": [float("inf")]}
        assert partial_of(desk.send(encode(span(attributes=attributes, span_id=number)))) == (0, "")
    for call in Call.objects.select_related("detail"):
        kept = call.detail.spans[0]["attributes"]
        assert (kept["a"], kept["b"], kept["c"]) == (None, None, [None])


def test_personal_data_is_masked_before_it_is_written(desk: Sender) -> None:
    secret = "ina@example.com"
    told = {**LOAD, "note": secret, "raw": secret.encode(), "gen_ai.tool.call.result": {"mail": secret}}
    event = ("exception", START, {"exception.message": f"No such user {secret}"})
    for encode, last in ((binary_spans, "a"), (json_spans, "b")):
        act = span(attributes=told, events=[event], status=(2, secret), span_id=last * 16)
        other = span(f"chat {secret}", told | {"gen_ai.tool.name": "mail"}, span_id=last * 15 + "c")
        assert partial_of(desk.send(encode(act, other, resource={"who": secret}))) == (0, "")
    for encode in (binary_records, json_records):
        sent = record(attributes={"skill.name": "a", "user.email": secret}, span_id="ab" * 8)
        assert partial_of(desk.send(encode(sent, resource={"who": secret}), LOGS)) == (0, "")
    rows = [
        *Call.objects.values(),
        *Call.objects.values_list("detail__spans", "detail__output", "detail__parameters"),
        *ContextSpan.objects.values(),
    ]
    assert len(rows) == 8
    assert secret not in str(rows)
    assert str(rows).count("[EMAIL·") >= 10


@pytest.mark.slow
def test_ten_thousand_spans_in_one_request(desk: Sender) -> None:
    traces = [f"{number + 1:032x}" for number in range(100)]
    spans = [
        span("chat" if number % 2 else "x", {"a": 1} if number % 2 else LOAD, trace_id=traces[number % 100],
             span_id=f"{number + 1:016x}")
        for number in range(10_000)
    ]  # fmt: skip
    assert partial_of(desk.send(binary_spans(*spans))) == (0, "")
    assert (Call.objects.count(), ContextSpan.objects.count()) == (5000, 5000)


@pytest.mark.parametrize("encode", [binary_records, json_records])
def test_a_skill_that_was_activated_is_a_call_and_sent_again_the_same(desk: Sender, encode: Any) -> None:
    payload = encode(record(), record("user_prompt", {"prompt": "secret words"}), record(attributes={}))
    told = (1, "Record number 3: its skill_activated event has no attribute gen_ai.skill.name or skill.name.")
    for _ in range(2):
        assert partial_of(desk.send(payload, LOGS)) == told
    [call] = Call.objects.select_related("detail")
    assert (call.skill_text, call.kind, call.source, call.trace_id) == (
        *("refund-check", "loaded", Source.LOGS, call.call_id),
    )
    assert "secret words" not in str(Call.objects.values("detail__spans"))
    assert desk.send(encode(record()), LOGS).content in {b"", b"{}"}
    assert Call.objects.count() == 1


def test_the_id_of_a_record_cannot_be_found_by_trying_values(desk: Sender, settings: Any) -> None:
    desk.send(binary_records(record()), LOGS)
    settings.SECRET_KEY = "another instance"
    desk.send(binary_records(record()), LOGS)
    assert Call.objects.count() == 2
