"""OTLP payloads in JSON (OTLP 1.x, "JSON Protobuf Encoding").

Ids are hex and not base64, 64-bit numbers are strings or numbers, enumerations numbers or names, keys in
camelCase or as in the .proto files; what is unknown is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

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
from governance.otlp.values import DEPTH, base64_as_text
from governance.storable import TOO_DEEP

HEX = frozenset("0123456789abcdef")
LARGEST = 2**64
KINDS = {f"SPAN_KIND_{name}": number for number, name in enumerate(
    ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
)}  # fmt: skip


def read_spans(data: object) -> Iterator[Sent | Refused]:
    """Every span of an ExportTraceServiceRequest that was parsed from JSON; raises Unreadable, TooLarge."""
    for span, origin in _walk(data, "resourceSpans", "scopeSpans", "spans", "spans"):
        try:
            yield _read_span(_mapping(span, "it"), origin)
        except Odd as fault:
            yield Refused(_label(span), str(fault))


def read_records(data: object) -> Iterator[SentLog | Refused]:
    """Every record of an ExportLogsServiceRequest that was parsed from JSON; raises Unreadable, TooLarge."""
    for record, origin in _walk(data, "resourceLogs", "scopeLogs", "logRecords", "log records"):
        try:
            yield _read_record(_mapping(record, "it"), origin)
        except Odd as fault:
            yield Refused(_label(record), str(fault))


def _walk(
    data: object, resources: str, scopes: str, records: str, what: str
) -> Iterator[tuple[object, Origin]]:
    """Each record beside its origin. What lies above the records must be sound."""
    try:
        found = [
            (one, _origin(resource, scope))
            for resource in map(_whole, _list(_whole(data), resources))
            for scope in map(_whole, _list(resource, scopes))
            for one in [_list(scope, records)]
        ]
    except Odd as fault:
        raise Unreadable(f"The body is not an OTLP request in JSON: {fault}.") from fault
    count = sum(len(inner) for inner, _ in found)
    if count > MOST_RECORDS:
        raise TooLarge(f"A request has at most {MOST_RECORDS} {what}; this one has {count}.")
    return ((one, origin) for inner, origin in found for one in inner)


def _origin(resource: Mapping[str, Any], scope: Mapping[str, Any]) -> Origin:
    attributes = _attributes(_mapping(resource.get("resource") or {}, "resource"))
    named = _mapping(scope.get("scope") or {}, "scope")
    return Origin(attributes, f"{_text(named, 'name')} {_text(named, 'version')}".strip())


def _read_span(span: Mapping[str, Any], origin: Origin) -> Sent:
    trace_id, span_id = _id(span, "traceId"), _id(span, "spanId")
    check_ids(trace_id, span_id)
    parent_id = _id(span, "parentSpanId", strict=False)
    status = _mapping(span.get("status") or {}, "status")
    return Sent(
        trace_id,
        span_id,
        parent_id if len(parent_id) == 16 and parent_id.strip("0") else "",
        _text(span, "name"),
        _choice(span.get("kind"), KINDS),
        _time(span, "startTimeUnixNano"),
        _time(span, "endTimeUnixNano"),
        _choice(status.get("code"), {"STATUS_CODE_ERROR": 2}) == 2,
        _text(status, "message"),
        _attributes(span),
        [_event(_mapping(one, "an event")) for one in _list(span, "events")],
        [_link(_mapping(one, "a link")) for one in _list(span, "links")],
        origin,
    )


def _event(event: Mapping[str, Any]) -> Event:
    return Event(_text(event, "name"), _time(event, "timeUnixNano"), _attributes(event))


def _link(link: Mapping[str, Any]) -> str:
    return f"{_id(link, 'traceId', strict=False)}-{_id(link, 'spanId', strict=False)}"


def _read_record(record: Mapping[str, Any], origin: Origin) -> SentLog:
    return SentLog(
        _id(record, "traceId", strict=False),
        _id(record, "spanId", strict=False),
        _time(record, "timeUnixNano") or _time(record, "observedTimeUnixNano"),
        _text(record, "eventName"),
        _plain(record.get("body")),
        _attributes(record),
        origin,
    )


def _label(record: object) -> str:
    found = _get(record, "spanId") if isinstance(record, Mapping) else None
    return found[:32] if isinstance(found, str) else ""


def _get(data: Mapping[str, Any], name: str) -> Any:
    """A field by its name in camelCase, or as in the .proto file."""
    value = data.get(name)
    return data.get(SNAKE[name]) if value is None and name in SNAKE else value


SNAKE = {
    "resourceSpans": "resource_spans", "scopeSpans": "scope_spans", "resourceLogs": "resource_logs",
    "scopeLogs": "scope_logs", "logRecords": "log_records", "traceId": "trace_id", "spanId": "span_id",
    "parentSpanId": "parent_span_id", "startTimeUnixNano": "start_time_unix_nano",
    "endTimeUnixNano": "end_time_unix_nano", "timeUnixNano": "time_unix_nano",
    "observedTimeUnixNano": "observed_time_unix_nano", "eventName": "event_name",
}  # fmt: skip


def _whole(data: object) -> Mapping[str, Any]:
    return _mapping(data, "what holds them")


def _mapping(data: object, what: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise Odd(f"{what} is no object")
    return data


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    value = _get(data, name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Odd(f"{name} is no list")
    return value


def _text(data: Mapping[str, Any], name: str) -> str:
    value = _get(data, name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Odd(f"{name} is not text")
    return value


def _id(data: Mapping[str, Any], name: str, *, strict: bool = True) -> str:
    """Hex digits in lower case; "" for what is none, where that may be passed over."""
    value = _get(data, name)
    text = value.lower() if isinstance(value, str) else ""
    if not HEX.issuperset(text) or (value is not None and not isinstance(value, str)):
        if strict:
            raise Odd(f"{name} is not written in hex digits")
        return ""
    return text


def _time(data: Mapping[str, Any], name: str) -> int:
    value = _get(data, name)
    if value is None:
        return 0
    number = _whole_number(value)
    if not isinstance(number, int) or not 0 <= number < LARGEST:
        raise Odd(f"{name} is not a number of nanoseconds")
    return number


def _choice(value: object, names: Mapping[str, int]) -> int:
    """An enumeration by number or name; 0 for what is unknown."""
    if isinstance(value, str):
        return names.get(value, int(value) if value.isascii() and value.isdigit() and len(value) < 9 else 0)
    return value if isinstance(value, int) else 0


def _attributes(data: Mapping[str, Any]) -> dict[str, Any]:
    return _pairs(_list(data, "attributes"), 0)


def _pairs(pairs: list[Any], depth: int) -> dict[str, Any]:
    """By their keys; of two with one key the last one holds."""
    found: dict[str, Any] = {}
    for pair in pairs:
        if not isinstance(pair, dict):
            raise Odd("an attribute is no object with key and value")
        key = pair.get("key", "")
        found[key if isinstance(key, str) else str(key)] = _plain(pair.get("value"), depth)
    return found


def _plain(value: Any, depth: int = 0) -> Any:
    """What an AnyValue holds; what is none (a bare text) is taken as it is."""
    if not isinstance(value, dict):
        return value if isinstance(value, str | int | float) else None
    for name, inner in value.items():
        if inner is not None and (read := READERS.get(name)) is not None:
            return read(inner, depth)
    return None


def _text_value(value: Any, depth: int) -> Any:
    return value if isinstance(value, str) else str(value)


def _switch(value: Any, depth: int) -> Any:
    return value is True or value == "true"


def _whole_number(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str) and len(value) <= 20 and value.isascii():
        try:
            return int(value)
        except ValueError:
            return value
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST else value


def _number(value: Any, depth: int) -> Any:
    """Also for "NaN", "Infinity" and "-Infinity"."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return text if isinstance(text := value, str) else None


def _bytes(value: Any, depth: int) -> Any:
    return base64_as_text(value) if isinstance(value, str) else None


def _array(value: Any, depth: int) -> Any:
    if depth >= DEPTH:
        return TOO_DEEP
    if not isinstance(value, dict):
        return None
    return [_plain(item, depth + 1) for item in _list(value, "values")]


def _record(value: Any, depth: int) -> Any:
    if depth >= DEPTH:
        return TOO_DEEP
    return _pairs(_list(value, "values"), depth + 1) if isinstance(value, dict) else None


READERS: Mapping[str, Callable[[Any, int], Any]] = {
    **dict.fromkeys(("stringValue", "string_value"), _text_value),
    **dict.fromkeys(("boolValue", "bool_value"), _switch),
    **dict.fromkeys(("intValue", "int_value"), _whole_number),
    **dict.fromkeys(("doubleValue", "double_value"), _number),
    **dict.fromkeys(("bytesValue", "bytes_value"), _bytes),
    **dict.fromkeys(("arrayValue", "array_value"), _array),
    **dict.fromkeys(("kvlistValue", "kvlist_value"), _record),
}
