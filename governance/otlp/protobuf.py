"""OTLP payloads in protobuf. Message by message: `MessageToDict` takes five times as long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from governance.otlp.records import (
    MOST_RECORDS,
    Event,
    Odd,
    Origin,
    Refused,
    Sent,
    SentLog,
    TooLarge,
    Unreadable,
    check_ids,
)
from governance.otlp.values import DEPTH, bytes_as_text
from governance.storable import TOO_DEEP


def read_spans(body: bytes) -> Iterator[Sent | Refused]:
    """Every span of an ExportTraceServiceRequest; raises Unreadable, TooLarge."""
    try:
        message = ExportTraceServiceRequest.FromString(body)
    except DecodeError as fault:
        raise Unreadable("The body is not an ExportTraceServiceRequest in protobuf.") from fault
    scopes = [
        (resource.resource.attributes, scope.scope, scope.spans)
        for resource in message.resource_spans
        for scope in resource.scope_spans
    ]
    _bound(sum(len(spans) for _, _, spans in scopes), "spans")
    for attributes, scope, spans in scopes:
        origin = _origin(attributes, scope)
        for span in spans:
            yield _read_span(span, origin)


def read_records(body: bytes) -> Iterator[SentLog | Refused]:
    """Every record of an ExportLogsServiceRequest; raises Unreadable, TooLarge."""
    try:
        message = ExportLogsServiceRequest.FromString(body)
    except DecodeError as fault:
        raise Unreadable("The body is not an ExportLogsServiceRequest in protobuf.") from fault
    scopes = [
        (resource.resource.attributes, scope.scope, scope.log_records)
        for resource in message.resource_logs
        for scope in resource.scope_logs
    ]
    _bound(sum(len(records) for _, _, records in scopes), "log records")
    for attributes, scope, records in scopes:
        origin = _origin(attributes, scope)
        for record in records:
            yield _read_record(record, origin)


def _bound(count: int, what: str) -> None:
    if count > MOST_RECORDS:
        raise TooLarge(f"A request has at most {MOST_RECORDS} {what}; this one has {count}.")


def _origin(attributes: Iterable[KeyValue], scope: InstrumentationScope) -> Origin:
    return Origin(_attributes(attributes), f"{scope.name} {scope.version}".strip())


def _read_span(span: SpanMessage, origin: Origin) -> Sent | Refused:
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
        _attributes(span.attributes),
        [Event(one.name, one.time_unix_nano, _attributes(one.attributes)) for one in span.events],
        [f"{one.trace_id.hex()}-{one.span_id.hex()}" for one in span.links],
        origin,
    )


def _read_record(record: LogRecord, origin: Origin) -> SentLog:
    return SentLog(
        record.trace_id.hex(),
        record.span_id.hex(),
        record.time_unix_nano or record.observed_time_unix_nano,
        record.event_name,
        _plain(record.body),
        _attributes(record.attributes),
        origin,
    )


def _attributes(pairs: Iterable[KeyValue], depth: int = 0) -> dict[str, Any]:
    """By their keys; of two with one key the last one holds."""
    return {pair.key: _plain(pair.value, depth) for pair in pairs}


def _plain(value: AnyValue, depth: int = 0) -> Any:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return value.string_value
    if kind is None:
        return None
    if kind == "bytes_value":
        return bytes_as_text(value.bytes_value)
    if kind == "array_value":
        if depth >= DEPTH:
            return TOO_DEEP
        return [_plain(item, depth + 1) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values, depth + 1) if depth < DEPTH else TOO_DEEP
    return getattr(value, kind)
