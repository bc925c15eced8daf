"""Payloads of OpenTelemetry as calls and context: both encodings say the same."""

from __future__ import annotations

import copy
import gzip
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.calls import BadCall, read_call
from governance.otlp import Batch, Span, TooLarge, Unreadable, inflate, read_traces, room
from governance.otlp.room import MOST_RECORDS
from tests.governance.otlp_payloads import (
    ANY_ATTRIBUTES,
    ERROR,
    LOAD,
    PARENT,
    SPAN,
    START,
    TRACE,
    binary_spans,
    json_spans,
    span,
)

NOW = datetime(2026, 12, 1, tzinfo=UTC)
ODD_VALUES = {
    "text": "永久 x",
    "yes": True,
    "no": False,
    "largest": 2**63 - 1,
    "least": -(2**63),
    "share": 0.5,
    "endless": float("inf"),
    "empty": None,
    "utf-8": "日本".encode(),
    "bytes": b"\xff\xfe\x00",
    "list": ["a", 1, [True, {"deep": [None]}]],
    "map": {"a": {"b": "c"}, "n": 5},
}


def both(*spans: dict[str, Any], **more: Any) -> Batch:
    """What is read of the spans in either encoding, which must be one and the same."""
    binary = read_traces(binary_spans(*spans, **more), now=NOW)
    assert read_traces(json_spans(*spans, **more), now=NOW) == binary
    return binary


def the_call(*spans: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The one call that is made of them, which the contract takes."""
    batch = both(*spans, **more)
    [call] = batch.calls
    read_call(copy.deepcopy(call), now=NOW)
    return call


def the_span(one: dict[str, Any], **more: Any) -> Span:
    """The one span of context."""
    batch = both(one, **more)
    assert batch.calls == ()
    return batch.spans[0]


def test_a_tool_that_loads_a_skill_is_a_call_with_all_that_it_tells() -> None:
    attributes = {
        **LOAD,
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.call.result": "# Refund check",
        "gen_ai.conversation.id": "s-1",
        "gen_ai.request.model": "asked",
        "gen_ai.response.model": "answered",
        "gen_ai.usage.input_tokens": 24,
        "gen_ai.usage.output_tokens": 14.0,
        "skill.version": "1.0.0",
    }
    event = ("cache.miss", START + 5_000_000, {"key": "a"})
    sent = span(attributes=attributes, kind=3, events=[event], links=[("ab" * 16, "cd" * 8)])
    assert the_call(sent, resource={"service.name": "desk", "process.pid": 5}, scope="framework") == {
        "call_id": f"{TRACE}-{SPAN}",
        "trace_id": TRACE,
        "parent_id": f"{TRACE}-{PARENT}",
        "session_id": "s-1",
        "skill": "refund-check",
        "version": "1.0.0",
        "kind": "loaded",
        "model": "answered",
        "user_intent": "",
        "parameters": {"skill_name": "refund-check"},
        "output": "# Refund check",
        "outcome": "ok",
        "error_code": "",
        "started_at": "2026-11-30T12:00:00+00:00",
        "duration_ms": 12,
        "input_tokens": 24,
        "output_tokens": 14,
        "spans": [
            {
                "span_id": f"{TRACE}-{SPAN}",
                "parent_id": "",
                "name": "execute_tool load_skill",
                "start_ms": 0,
                "duration_ms": 12,
                "attributes": {
                    "gen_ai.tool.name": "load_skill",
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.call.id": "call_1",
                    "resource": {"service.name": "desk"},
                    "otel.scope": "framework",
                    "span.kind": "client",
                    "links": [f"{'ab' * 16}-{'cd' * 8}"],
                },
            },
            {
                "span_id": "",
                "parent_id": f"{TRACE}-{SPAN}",
                "name": "cache.miss",
                "start_ms": 5,
                "duration_ms": 0,
                "attributes": {"key": "a"},
            },
        ],
    }


def test_a_span_that_concerns_no_skill_is_context() -> None:
    event = ("exception", START + 1_000_000, {"exception.type": "KeyError"})
    sent = span("chat m-1", {"a": 1}, status=(ERROR, "It broke"), events=[event], parent_span_id="")
    assert the_span(sent, resource={"service.name": "desk", "host.name": "h"}, scope="sdk") == Span(
        trace_id=TRACE,
        span_id=f"{TRACE}-{SPAN}",
        parent_id="",
        name="chat m-1",
        failed=True,
        started_at=datetime(2026, 11, 30, 12, tzinfo=UTC),
        duration_ms=12,
        attributes={
            "a": 1,
            "service.name": "desk",
            "otel.scope": "sdk",
            "status.message": "It broke",
            "events": [{"name": "exception", "at_ms": 1, "exception.type": "KeyError"}],
        },
    )


def test_every_kind_of_value_reads_the_same() -> None:
    kept = the_span(span("chat", ODD_VALUES)).attributes
    assert kept == {**ODD_VALUES, "utf-8": "日本", "bytes": "//4A", "otel.scope": "desk"}


@given(
    attributes=ANY_ATTRIBUTES,
    times=st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)),
    kind=st.integers(0, 5),
    code=st.integers(0, 2),
)
def test_whatever_a_span_holds_both_encodings_say_the_same(
    attributes: dict[str, Any], times: tuple[int, int], kind: int, code: int
) -> None:
    one = span(
        attributes=attributes,
        start_time_unix_nano=times[0],
        end_time_unix_nano=times[1],
        kind=kind,
        status=(code, ""),
        events=[("e", times[1], attributes)],
    )
    batch = both(one, resource=attributes)
    assert len(batch.calls) + len(batch.spans) + len(batch.refused) == 1
    assert all("a day ahead" in one.message for one in batch.refused)
    for call in batch.calls:
        with suppress(BadCall):
            read_call(call, now=NOW)


def test_of_a_key_that_comes_twice_the_last_holds() -> None:
    assert the_span(span("chat", [("a", "first"), ("a", "last")])).attributes["a"] == "last"


def test_what_lies_too_deep_is_cut() -> None:
    value: Any = "x"
    for _ in range(20):
        value = [value]
    kept = the_span(span("chat", {"a": value})).attributes["a"]
    depth = 0
    while isinstance(kept, list):
        [kept], depth = kept, depth + 1
    assert (kept, depth) == ("[TOO DEEP]", 16)


@pytest.mark.parametrize(
    ("start", "end", "told"),
    [
        (START, START + 1_499_999, ("2026-11-30T12:00:00+00:00", 1)),
        (START, 0, ("2026-11-30T12:00:00+00:00", 0)),
        (0, START, ("2026-11-30T12:00:00+00:00", 0)),
        (START, START - 5_000_000_000, ("2026-11-30T12:00:00+00:00", 0)),
        (0, 0, ("2026-12-01T00:00:00+00:00", 0)),
        (1, 2, ("2026-12-01T00:00:00+00:00", 0)),
        # Hours and years off are as they are told.
        (START + 10**14, START + 10**14, ("2026-12-01T15:46:40+00:00", 0)),
        (START - 30 * 365 * 86400 * 10**9, START, ("1996-12-07T12:00:00+00:00", 315360000000)),
        (2**64 - 1, 2**64 - 1, ("2554-07-21T23:34:33.709551+00:00", 0)),
    ],
)
def test_times(start: int, end: int, told: tuple[str, int]) -> None:
    [call] = both(span(start_time_unix_nano=start, end_time_unix_nano=end)).calls
    assert (call["started_at"], call["duration_ms"]) == told


@pytest.mark.parametrize(("nanoseconds", "is_taken"), [(0, True), (1000, False)])
def test_context_is_taken_up_to_a_day_ahead(nanoseconds: int, is_taken: bool) -> None:
    day = int((NOW + timedelta(days=1)).timestamp()) * 10**9
    batch = both(span("chat", {}, start_time_unix_nano=day + nanoseconds, end_time_unix_nano=0))
    assert (len(batch.spans), len(batch.refused)) == ((1, 0) if is_taken else (0, 1))


@pytest.mark.parametrize(
    ("fields", "label", "message"),
    [
        ({"trace_id": "00" * 16}, SPAN, "its trace id is all zeros"),
        ({"trace_id": ""}, SPAN, "its trace id has 0 hex digits; 32 are needed"),
        ({"trace_id": "ab" * 8}, SPAN, "its trace id has 16 hex digits; 32 are needed"),
        ({"span_id": "00" * 8}, "00" * 8, "its span id is all zeros"),
        ({"span_id": "abcd"}, "abcd", "its span id has 4 hex digits; 16 are needed"),
        ({"span_id": ""}, "", "its span id has 0 hex digits; 16 are needed"),
    ],
)
def test_a_span_without_sound_ids_is_refused_by_itself(
    fields: dict[str, str], label: str, message: str
) -> None:
    batch = both(span(**fields), span())
    assert len(batch.calls) == 1
    [refused] = batch.refused
    assert (refused.label, refused.message) == (label, message)


@pytest.mark.parametrize("parent", ["00" * 8, "abcd"])
def test_a_parent_that_is_none_is_left_out(parent: str) -> None:
    assert the_call(span(parent_span_id=parent))["parent_id"] == ""


def test_many_attributes_long_texts_and_many_events_are_bounded() -> None:
    events = [(f"e{number}", START, {}) for number in range(40)]
    attributes = {"long": "x" * 65_537, "nested": ["y" * 70_000], **{f"a{n}": n for n in range(200)}}
    kept = the_span(span("chat", attributes, events=events)).attributes
    assert kept["long"] == "[TOO LONG: 65537 characters]"
    assert kept["nested"] == ["[TOO LONG: 70000 characters]"]
    assert (kept["a125"], "a126" in kept, kept["attributes.left_out"]) == (125, False, 74)
    assert [event["name"] for event in kept["events"]] == [f"e{number}" for number in range(8, 40)]


@pytest.mark.parametrize(
    ("tail", "kept"),
    [
        ("?page=b&mail=ina.doe@example.com", "?page=b"),
        (" for ina.doe@example.com", " for"),
        (" card 4111 1111 1111 1111 11", " card"),
        ("x" * 40, "x" * 20),
    ],
)
def test_a_name_is_not_cut_within_a_value(tail: str, kept: str) -> None:
    """It is masked after it is cut, and half of an address is none."""
    sent = span(name="x" * 280 + tail, attributes={})
    (context,) = read_traces(json_spans(sent), now=NOW).spans
    assert context.name == "x" * 280 + kept


def test_what_json_may_look_like() -> None:
    told = {
        "resource_spans": [
            {
                "unknown": {"a": 1},
                "scope_spans": [
                    {
                        "spans": [
                            {
                                "trace_id": TRACE.upper(),
                                "span_id": SPAN.upper(),
                                "parentSpanId": None,
                                "name": "execute_tool load_skill",
                                "kind": "SPAN_KIND_CLIENT",
                                "startTimeUnixNano": START,
                                "end_time_unix_nano": float(START),
                                "status": {"code": "STATUS_CODE_ERROR"},
                                "flags": 257,
                                "attributes": [
                                    {"key": "gen_ai.skill.name", "value": {"string_value": "refund-check"}},
                                    {"key": "tokens", "value": {"int_value": 5}},
                                    {"key": "float", "value": {"doubleValue": "0.5"}},
                                    {"key": "url", "value": {"bytesValue": "_-8"}},
                                    {"key": "not", "value": {"bytesValue": "x"}},
                                    {"key": "future", "value": {"newValue": 1}},
                                    {"key": "bare", "value": "text"},
                                    {"key": "none"},
                                ],
                            }
                        ]
                    }
                ],
            }
        ]
    }
    [call] = read_traces(told, now=NOW).calls
    assert (call["call_id"], call["parent_id"], call["outcome"]) == (f"{TRACE}-{SPAN}", "", "error")
    assert call["spans"][0]["attributes"] == {
        "tokens": 5,
        "float": 0.5,
        "url": "/+8=",
        "not": "x",
        "future": None,
        "bare": "text",
        "none": None,
        "span.kind": "client",
    }


def in_a_request(one: Any) -> dict[str, Any]:
    """A request in JSON with this as its only span."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}


@pytest.mark.parametrize(
    ("one", "message"),
    [
        (5, "it is no object"),
        ({"traceId": "W47/95gDgQPSabYzgT/GDA==", "spanId": SPAN}, "traceId is not written in hex digits"),
        ({"traceId": 5, "spanId": SPAN}, "traceId is not written in hex digits"),
        ({"name": 5}, "name is not text"),
        ({"attributes": {"a": 1}}, "attributes is no list"),
        ({"attributes": [5]}, "an attribute is no object with key and value"),
        ({"events": [5]}, "an event is no object"),
        ({"links": [5]}, "a link is no object"),
        ({"status": 5}, "status is no object"),
        ({"startTimeUnixNano": "soon"}, "startTimeUnixNano is not a number of nanoseconds"),
        ({"startTimeUnixNano": -1}, "startTimeUnixNano is not a number of nanoseconds"),
        ({"endTimeUnixNano": 2**64}, "endTimeUnixNano is not a number of nanoseconds"),
    ],
)
def test_a_span_that_is_none_is_refused_by_itself(one: Any, message: str) -> None:
    sent = {"traceId": TRACE, "spanId": SPAN, **one} if isinstance(one, dict) else one
    [refused] = read_traces(in_a_request(sent), now=NOW).refused
    assert refused.message == message


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"\xff\xff", "The body is not an ExportTraceServiceRequest in protobuf."),
        ([], "The body is not an OTLP request in JSON: what holds them is no object."),
        ({"resourceSpans": {}}, "The body is not an OTLP request in JSON: resourceSpans is no list."),
        ({"resourceSpans": [5]}, "The body is not an OTLP request in JSON: what holds them is no object."),
        (
            {"resourceSpans": [{"resource": 5, "scopeSpans": [{}]}]},
            "The body is not an OTLP request in JSON: resource is no object.",
        ),
        (
            {"resourceSpans": [{"scopeSpans": [{"scope": {"name": 5}}]}]},
            "The body is not an OTLP request in JSON: name is not text.",
        ),
    ],
)
def test_a_request_that_is_none(payload: object, message: str) -> None:
    with pytest.raises(Unreadable) as told:
        read_traces(payload, now=NOW)
    assert str(told.value) == message


def test_an_empty_request_holds_nothing() -> None:
    assert read_traces(b"", now=NOW) == read_traces({}, now=NOW) == Batch()


def test_more_spans_than_are_taken_at_a_time() -> None:
    many: list[Any] = [{}] * (MOST_RECORDS + 1)
    binary = b"\x0a\x00" * (MOST_RECORDS + 1)
    for payload in ({"resourceSpans": [{"scopeSpans": [{"spans": many}]}]}, binary):
        with pytest.raises(TooLarge, match=r"^A request has at most 20000 spans; send fewer at a time\.$"):
            read_traces(payload, now=NOW)


@pytest.mark.parametrize(
    "attributes", [[("a", "")] * 300, {"a": [None] * 299}, {"a": [[[None] * 148, None]]}]
)
def test_more_values_than_are_taken_at_a_time(attributes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_VALUES", 599)
    one = span("chat", attributes)
    fits = read_traces(binary_spans(one), now=NOW)
    assert len(fits.spans) == 1
    for payload in (binary_spans(*[one] * 4), json_spans(*[one] * 4)):
        with pytest.raises(TooLarge) as told:
            read_traces(payload, now=NOW)
        assert str(told.value) == "A request holds at most 599 values; send fewer records at a time."


def test_gzip_of_one_member_or_several() -> None:
    assert inflate(gzip.compress(b"abc"), most=3) == b"abc"
    assert (
        inflate(gzip.compress(b"abc") + gzip.compress(b"") + gzip.compress(b"d") + b"\0\0", most=4) == b"abcd"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"abc", "The body is not gzip, though Content-Encoding says so."),
        (gzip.compress(b"abc", mtime=0)[:-3], "The gzip body ends before its end; it was cut off."),
        (gzip.compress(b"abc", mtime=0) + b"rest", "The body is not gzip, though Content-Encoding says so."),
        (
            gzip.compress(b"abc", mtime=0)[:-8] + b"\0" * 8,
            "The body is not gzip, though Content-Encoding says so.",
        ),
        (gzip.compress(b"", mtime=0) * 65, "The gzip body has over 64 members; send it as one."),
    ],
)
def test_gzip_that_is_none(body: bytes, message: str) -> None:
    with pytest.raises(Unreadable) as told:
        inflate(body, most=1000)
    assert str(told.value) == message


def test_a_bomb_is_not_inflated() -> None:
    for bomb in (gzip.compress(bytes(10**8)), gzip.compress(b"x" * 600) * 2):
        with pytest.raises(TooLarge) as told:
            inflate(bomb, most=1000)
        assert str(told.value) == "The body inflates to over 1000 bytes; send fewer records at a time."
