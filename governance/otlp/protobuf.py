"""OTLP payloads in protobuf. Message by message: `MessageToDict` takes five times as long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from opentelemetry.proto.trace.v1.trace_pb2 import Status

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
from governance.otlp.room import Room, check_wire
from governance.otlp.values import DEPTH, MOST_EVENTS, MOST_LINKS, bytes_as_text
from governance.storable import TOO_DEEP

Pairs = Sequence[KeyValue]


def read_spans(body: bytes) -> Iterator[Sent | Refused]:
    """Every span of an ExportTraceServiceRequest; raises Unreadable, TooLarge."""
    check_wire(body, "spans")
    try:
        message = ExportTraceServiceRequest.FromString(body)
    except DecodeError as fault:
        raise Unreadable("The body is not an ExportTraceServiceRequest in protobuf.") from fault
    room = Room()
    for resource in message.resource_spans:
        for scope in resource.scope_spans:
            origin = _origin(resource.resource.attributes, scope.scope, room)
            for span in scope.spans:
                yield _read_span(span, origin, room)


def read_records(body: bytes) -> Iterator[SentLog | Refused]:
    """Every record of an ExportLogsServiceRequest; raises Unreadable, TooLarge."""
    check_wire(body, "log records")
    try:
        message = ExportLogsServiceRequest.FromString(body)
    except DecodeError as fault:
        raise Unreadable("The body is not an ExportLogsServiceRequest in protobuf.") from fault
    room = Room()
    for resource in message.resource_logs:
        for scope in resource.scope_logs:
            origin = _origin(resource.resource.attributes, scope.scope, room)
            for record in scope.log_records:
                yield _read_record(record, origin, room)


def _origin(attributes: Pairs, scope: InstrumentationScope, room: Room) -> Origin:
    return Origin(_attributes(attributes, room), f"{scope.name} {scope.version}".strip())


def _read_span(span: SpanMessage, origin: Origin, room: Room) -> Sent | Refused:
    trace_id, span_id, parent_id = span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()
    try:
        check_ids(trace_id, span_id)
    except Odd as fault:
        return Refused(span_id, str(fault))
    status = span.status
    return Sent(
        trace_id,
        span_id,
        parent_id if len(parent_id) == 16 and parent_id.strip("0") else "",
        span.name,
        span.kind,
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        status.code == Status.STATUS_CODE_ERROR,
        status.message,
        _attributes(span.attributes, room),
        [
            Event(one.name, one.time_unix_nano, _attributes(one.attributes, room))
            for one in span.events[-MOST_EVENTS:]
        ],
        [f"{one.trace_id.hex()}-{one.span_id.hex()}" for one in span.links[:MOST_LINKS]],
        origin,
    )


def _read_record(record: LogRecord, origin: Origin, room: Room) -> SentLog:
    return SentLog(
        record.trace_id.hex(),
        record.span_id.hex(),
        record.time_unix_nano or record.observed_time_unix_nano,
        record.event_name,
        _plain(record.body, room),
        _attributes(record.attributes, room),
        origin,
    )


def _attributes(pairs: Pairs, room: Room, depth: int = 0) -> dict[str, Any]:
    """By their keys; of two with one key the last one holds."""
    room.take(len(pairs))
    return {pair.key: _plain(pair.value, room, depth) for pair in pairs}


def _plain(value: AnyValue, room: Room, depth: int = 0) -> Any:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return value.string_value
    if kind is None:
        return None
    if kind == "bytes_value":
        return bytes_as_text(value.bytes_value)
    if kind not in {"array_value", "kvlist_value"}:
        return getattr(value, kind)
    if depth >= DEPTH:
        return TOO_DEEP
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values, room, depth + 1)
    room.take(len(value.array_value.values))
    return [_plain(item, room, depth + 1) for item in value.array_value.values]
