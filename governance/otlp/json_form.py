"""OTLP payloads in JSON (OTLP 1.x, "JSON Protobuf Encoding").

Ids are hex and not base64, 64-bit numbers are strings or numbers, enumerations numbers or names, keys in
camelCase or as in the .proto files; what is unknown is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from governance.otlp.json_fields import (
    attributes_of,
    choice_of,
    get,
    id_in,
    list_of,
    mapping_of,
    plain,
    text_in,
    time_in,
)
from governance.otlp.records import (
    Event,
    Odd,
    Origin,
    Refused,
    Sent,
    SentLog,
    Unreadable,
    check_ids,
)
from governance.otlp.room import Room, check_count
from governance.otlp.values import MOST_EVENTS, MOST_LINKS

KINDS = {f"SPAN_KIND_{name}": number for number, name in enumerate(
    ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
)}  # fmt: skip


def read_spans(data: object) -> Iterator[Sent | Refused]:
    """Every span of an ExportTraceServiceRequest that was parsed from JSON; raises Unreadable, TooLarge."""
    room = Room()
    for span, origin in _walk(data, "resourceSpans", "scopeSpans", "spans", "spans", room):
        try:
            yield _read_span(mapping_of(span, "it"), origin, room)
        except Odd as fault:
            yield Refused(_label(span), str(fault))


def read_records(data: object) -> Iterator[SentLog | Refused]:
    """Every record of an ExportLogsServiceRequest that was parsed from JSON; raises Unreadable, TooLarge."""
    room = Room()
    for record, origin in _walk(data, "resourceLogs", "scopeLogs", "logRecords", "log records", room):
        try:
            yield _read_record(mapping_of(record, "it"), origin, room)
        except Odd as fault:
            yield Refused(_label(record), str(fault))


def _walk(
    data: object, resources: str, scopes: str, records: str, what: str, room: Room
) -> Iterator[tuple[object, Origin]]:
    """Each record beside its origin. What lies above the records must be sound."""
    try:
        found = [
            (one, _origin(resource, scope, room))
            for resource in map(_whole, list_of(_whole(data), resources))
            for scope in map(_whole, list_of(resource, scopes))
            for one in [list_of(scope, records)]
        ]
    except Odd as fault:
        raise Unreadable(f"The body is not an OTLP request in JSON: {fault}.") from fault
    check_count(max(len(found), sum(len(inner) for inner, _ in found)), what)
    return ((one, origin) for inner, origin in found for one in inner)


def _origin(resource: Mapping[str, Any], scope: Mapping[str, Any], room: Room) -> Origin:
    attributes = attributes_of(mapping_of(resource.get("resource") or {}, "resource"), room)
    named = mapping_of(scope.get("scope") or {}, "scope")
    return Origin(attributes, f"{text_in(named, 'name')} {text_in(named, 'version')}".strip())


def _read_span(span: Mapping[str, Any], origin: Origin, room: Room) -> Sent:
    trace_id, span_id = id_in(span, "traceId"), id_in(span, "spanId")
    check_ids(trace_id, span_id)
    parent_id = id_in(span, "parentSpanId", strict=False)
    status = mapping_of(span.get("status") or {}, "status")
    return Sent(
        trace_id,
        span_id,
        parent_id if len(parent_id) == 16 and parent_id.strip("0") else "",
        text_in(span, "name"),
        choice_of(span.get("kind"), KINDS),
        time_in(span, "startTimeUnixNano"),
        time_in(span, "endTimeUnixNano"),
        choice_of(status.get("code"), {"STATUS_CODE_ERROR": 2}) == 2,
        text_in(status, "message"),
        attributes_of(span, room),
        [_event(mapping_of(one, "an event"), room) for one in list_of(span, "events")[-MOST_EVENTS:]],
        [_link(mapping_of(one, "a link")) for one in list_of(span, "links")[:MOST_LINKS]],
        origin,
    )


def _event(event: Mapping[str, Any], room: Room) -> Event:
    return Event(text_in(event, "name"), time_in(event, "timeUnixNano"), attributes_of(event, room))


def _link(link: Mapping[str, Any]) -> str:
    return f"{id_in(link, 'traceId', strict=False)}-{id_in(link, 'spanId', strict=False)}"


def _read_record(record: Mapping[str, Any], origin: Origin, room: Room) -> SentLog:
    return SentLog(
        id_in(record, "traceId", strict=False),
        id_in(record, "spanId", strict=False),
        time_in(record, "timeUnixNano") or time_in(record, "observedTimeUnixNano"),
        text_in(record, "eventName"),
        plain(record.get("body"), room),
        attributes_of(record, room),
        origin,
    )


def _label(record: object) -> str:
    found = get(record, "spanId") if isinstance(record, Mapping) else None
    return found[:32] if isinstance(found, str) else ""


def _whole(data: object) -> Mapping[str, Any]:
    return mapping_of(data, "what holds them")
