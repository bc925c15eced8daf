"""Fields and values of OTLP in JSON: hex ids, 64-bit numbers in two spellings, enumerations, AnyValue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from governance.otlp.records import Odd
from governance.otlp.room import Room
from governance.otlp.values import DEPTH, base64_as_text
from governance.storable import TOO_DEEP

HEX = frozenset("0123456789abcdef")
LARGEST = 2**64


def get(data: Mapping[str, Any], name: str) -> Any:
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


def mapping_of(data: object, what: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise Odd(f"{what} is no object")
    return data


def list_of(data: Mapping[str, Any], name: str) -> list[Any]:
    value = get(data, name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Odd(f"{name} is no list")
    return value


def text_in(data: Mapping[str, Any], name: str) -> str:
    value = get(data, name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Odd(f"{name} is not text")
    return value


def id_in(data: Mapping[str, Any], name: str, *, strict: bool = True) -> str:
    """Hex digits in lower case; "" for what is none, where that may be passed over."""
    value = get(data, name)
    text = value.lower() if isinstance(value, str) else ""
    if not HEX.issuperset(text) or (value is not None and not isinstance(value, str)):
        if strict:
            raise Odd(f"{name} is not written in hex digits")
        return ""
    return text


def time_in(data: Mapping[str, Any], name: str) -> int:
    value = get(data, name)
    if value is None:
        return 0
    number = _whole_number(value)
    if not isinstance(number, int) or not 0 <= number < LARGEST:
        raise Odd(f"{name} is not a number of nanoseconds")
    return number


def choice_of(value: object, names: Mapping[str, int]) -> int:
    """An enumeration by number or name; 0 for what is unknown."""
    if isinstance(value, str):
        return names.get(value, int(value) if value.isascii() and value.isdigit() and len(value) < 9 else 0)
    return value if isinstance(value, int) else 0


def attributes_of(data: Mapping[str, Any], room: Room) -> dict[str, Any]:
    return _pairs(list_of(data, "attributes"), room, 0)


def _pairs(pairs: list[Any], room: Room, depth: int) -> dict[str, Any]:
    """By their keys; of two with one key the last one holds."""
    room.take(len(pairs))
    found: dict[str, Any] = {}
    for pair in pairs:
        if not isinstance(pair, dict):
            raise Odd("an attribute is no object with key and value")
        key = pair.get("key", "")
        found[key if isinstance(key, str) else str(key)] = plain(pair.get("value"), room, depth)
    return found


def plain(value: Any, room: Room, depth: int = 0) -> Any:
    """What an AnyValue holds; what is none (a bare text) is taken as it is."""
    if not isinstance(value, dict):
        return value if isinstance(value, str | int | float) else None
    for name, inner in value.items():
        if inner is not None and (read := READERS.get(name)) is not None:
            return read(inner, room, depth)
    return None


def _text_value(value: Any, room: Room, depth: int) -> Any:
    return value if isinstance(value, str) else str(value)


def _switch(value: Any, room: Room, depth: int) -> Any:
    return value is True or value == "true"


def _integer(value: Any, room: Room, depth: int) -> Any:
    return _whole_number(value)


def _whole_number(value: Any) -> Any:
    if isinstance(value, str) and len(value) <= 20 and value.isascii():
        try:
            return int(value)
        except ValueError:
            return value
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST else value


def _number(value: Any, room: Room, depth: int) -> Any:
    """Also for "NaN", "Infinity" and "-Infinity"."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return text if isinstance(text := value, str) else None


def _bytes(value: Any, room: Room, depth: int) -> Any:
    return base64_as_text(value) if isinstance(value, str) else None


def _array(value: Any, room: Room, depth: int) -> Any:
    if depth >= DEPTH:
        return TOO_DEEP
    if not isinstance(value, dict):
        return None
    items = list_of(value, "values")
    room.take(len(items))
    return [plain(item, room, depth + 1) for item in items]


def _record(value: Any, room: Room, depth: int) -> Any:
    if depth >= DEPTH:
        return TOO_DEEP
    return _pairs(list_of(value, "values"), room, depth + 1) if isinstance(value, dict) else None


READERS: Mapping[str, Callable[[Any, Room, int], Any]] = {
    **dict.fromkeys(("stringValue", "string_value"), _text_value),
    **dict.fromkeys(("boolValue", "bool_value"), _switch),
    **dict.fromkeys(("intValue", "int_value"), _integer),
    **dict.fromkeys(("doubleValue", "double_value"), _number),
    **dict.fromkeys(("bytesValue", "bytes_value"), _bytes),
    **dict.fromkeys(("arrayValue", "array_value"), _array),
    **dict.fromkeys(("kvlistValue", "kvlist_value"), _record),
}
