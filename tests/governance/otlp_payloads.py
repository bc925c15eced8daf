"""OTLP requests for tests: in protobuf by the library of OpenTelemetry, in JSON by hand after its specification."""

from __future__ import annotations

from base64 import b64encode
from math import isfinite
from typing import Any

from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList

from governance.otlp.acts import ARGUMENTS, TOOL_NAMES
from governance.otlp.calls import GIVEN

TRACE, SPAN, PARENT = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174", "eee19b7ec3c1b173"
ERROR = 2
# 2026-11-30T12:00:00Z
START = 1_796_040_000_000_000_000
LOAD = {"gen_ai.tool.name": "load_skill", "gen_ai.tool.call.arguments": '{"skill_name": "refund-check"}'}

GIVEN_KEYS = [f"quartermaster.{name}" for name in (*GIVEN, "kind", "failed_stage", "error_code")]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
KEYS = st.sampled_from([*GIVEN_KEYS, "gen_ai.skill.name", "skill.name", *TOOL_NAMES, *ARGUMENTS]) | st.text(
    max_size=6
)
# Of a span: under the names that are read, and under any other.
ANY_ATTRIBUTES = st.dictionaries(KEYS, VALUES, max_size=6)


def span(name: str = "execute_tool load_skill", attributes: Any = None, **fields: Any) -> dict[str, Any]:
    """A span as both encodings are made of it; times in nanoseconds, ids in hex digits."""
    return {
        "trace_id": TRACE,
        "span_id": SPAN,
        "parent_span_id": PARENT,
        "name": name,
        "kind": 1,
        "start_time_unix_nano": START,
        "end_time_unix_nano": START + 12_000_000,
        "attributes": LOAD if attributes is None else attributes,
        "status": (0, ""),
        "events": [],
        "links": [],
        **fields,
    }


def record(event_name: str = "skill_activated", attributes: Any = None, **fields: Any) -> dict[str, Any]:
    """A log record, likewise."""
    return {
        "time_unix_nano": START,
        "observed_time_unix_nano": START + 5,
        "event_name": event_name,
        "body": None,
        "attributes": {"skill.name": "refund-check"} if attributes is None else attributes,
        "trace_id": "",
        "span_id": "",
        **fields,
    }


def any_value(value: Any) -> AnyValue:
    """A value in protobuf."""
    if value is None:
        return AnyValue()
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, list):
        return AnyValue(array_value=ArrayValue(values=[any_value(one) for one in value]))
    if isinstance(value, dict):
        return AnyValue(kvlist_value=KeyValueList(values=pairs(value)))
    fields = {str: "string_value", int: "int_value", float: "double_value", bytes: "bytes_value"}
    return AnyValue(**{fields[type(value)]: value})


def pairs(attributes: Any) -> list[KeyValue]:
    """Attributes in protobuf; a list of pairs may hold a key twice."""
    told = attributes.items() if isinstance(attributes, dict) else attributes
    return [KeyValue(key=key, value=any_value(value)) for key, value in told]


def binary_spans(*spans: dict[str, Any], resource: Any = (), scope: str = "desk") -> bytes:
    """An ExportTraceServiceRequest in protobuf."""
    message = ExportTraceServiceRequest()
    outer = message.resource_spans.add()
    outer.resource.attributes.extend(pairs(resource))
    inner = outer.scope_spans.add()
    inner.scope.name = scope
    for one in spans:
        made = inner.spans.add(
            trace_id=bytes.fromhex(one["trace_id"]),
            span_id=bytes.fromhex(one["span_id"]),
            parent_span_id=bytes.fromhex(one["parent_span_id"]),
            attributes=pairs(one["attributes"]),
            **{name: one[name] for name in ("name", "kind", "start_time_unix_nano", "end_time_unix_nano")},
        )
        made.status.code, made.status.message = one["status"]
        for name, at, attributes in one["events"]:
            made.events.add(name=name, time_unix_nano=at, attributes=pairs(attributes))
        for trace_id, span_id in one["links"]:
            made.links.add(trace_id=bytes.fromhex(trace_id), span_id=bytes.fromhex(span_id))
    return message.SerializeToString()


def binary_records(*records: dict[str, Any], resource: Any = (), scope: str = "desk") -> bytes:
    """An ExportLogsServiceRequest in protobuf."""
    message = ExportLogsServiceRequest()
    outer = message.resource_logs.add()
    outer.resource.attributes.extend(pairs(resource))
    inner = outer.scope_logs.add()
    inner.scope.name = scope
    for one in records:
        inner.log_records.add(
            trace_id=bytes.fromhex(one["trace_id"]),
            span_id=bytes.fromhex(one["span_id"]),
            body=any_value(one["body"]),
            attributes=pairs(one["attributes"]),
            **{name: one[name] for name in ("event_name", "time_unix_nano", "observed_time_unix_nano")},
        )
    return message.SerializeToString()


def json_value(value: Any) -> dict[str, Any]:
    """A value in JSON: whole numbers as text, bytes in base64."""
    if value is None:
        return {}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [json_value(one) for one in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": json_pairs(value)}}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, bytes):
        return {"bytesValue": b64encode(value).decode()}
    if isinstance(value, float):
        names = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
        return {"doubleValue": value if isfinite(value) else names[str(value)]}
    return {"stringValue": value}


def json_pairs(attributes: Any) -> list[dict[str, Any]]:
    """Attributes in JSON."""
    told = attributes.items() if isinstance(attributes, dict) else attributes
    return [{"key": key, "value": json_value(value)} for key, value in told]


def json_spans(*spans: dict[str, Any], resource: Any = (), scope: str = "desk") -> dict[str, Any]:
    """An ExportTraceServiceRequest in JSON, as the JavaScript SDK writes it."""
    made = [
        {
            "traceId": one["trace_id"],
            "spanId": one["span_id"],
            "parentSpanId": one["parent_span_id"],
            "name": one["name"],
            "kind": one["kind"],
            "startTimeUnixNano": str(one["start_time_unix_nano"]),
            "endTimeUnixNano": str(one["end_time_unix_nano"]),
            "attributes": json_pairs(one["attributes"]),
            "status": {"code": one["status"][0], "message": one["status"][1]},
            "events": [
                {"name": name, "timeUnixNano": str(at), "attributes": json_pairs(attributes)}
                for name, at, attributes in one["events"]
            ],
            "links": [{"traceId": trace_id, "spanId": span_id} for trace_id, span_id in one["links"]],
        }
        for one in spans
    ]
    scopes = [{"scope": {"name": scope}, "spans": made}]
    return {"resourceSpans": [{"resource": {"attributes": json_pairs(resource)}, "scopeSpans": scopes}]}


def json_records(*records: dict[str, Any], resource: Any = (), scope: str = "desk") -> dict[str, Any]:
    """An ExportLogsServiceRequest in JSON."""
    made = [
        {
            "traceId": one["trace_id"],
            "spanId": one["span_id"],
            "timeUnixNano": str(one["time_unix_nano"]),
            "observedTimeUnixNano": str(one["observed_time_unix_nano"]),
            "eventName": one["event_name"],
            "body": json_value(one["body"]),
            "attributes": json_pairs(one["attributes"]),
        }
        for one in records
    ]
    scopes = [{"scope": {"name": scope}, "logRecords": made}]
    return {"resourceLogs": [{"resource": {"attributes": json_pairs(resource)}, "scopeLogs": scopes}]}
