"""What the recordings show of real senders, on which the receiver rests."""

from __future__ import annotations

import gzip
import json

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.clients.recordings import Recording, names, read


def opened(recording: Recording) -> bytes:
    """The body without gzip."""
    packed = recording.headers.get("content-encoding") == "gzip"
    return gzip.decompress(recording.body) if packed else recording.body


@pytest.mark.parametrize("name", names())
def test_a_recording_names_what_made_it_and_holds_no_token(name: str) -> None:
    recording = read(name)
    assert "tests/clients/" in recording.made_by
    assert any(character.isdigit() for character in recording.made_by)
    assert recording.headers.keys() & {"authorization", "host"} == set()
    assert b"qm_" not in opened(recording)


@pytest.mark.parametrize("name", ["python_spans", "python_spans_gzip"])
def test_python_sends_protobuf_with_its_length(name: str) -> None:
    recording = read(name)
    assert recording.headers["content-type"] == "application/x-protobuf"
    assert int(recording.headers["content-length"]) == len(recording.body)
    [resource] = ExportTraceServiceRequest.FromString(opened(recording)).resource_spans
    assert len(resource.scope_spans[0].spans) == 6


@pytest.mark.parametrize("name", ["javascript_spans", "javascript_spans_gzip"])
def test_javascript_sends_json_in_chunks_with_ids_in_hex_and_times_as_text(name: str) -> None:
    recording = read(name)
    assert recording.headers["content-type"] == "application/json"
    assert recording.headers["transfer-encoding"] == "chunked"
    assert "content-length" not in recording.headers
    [resource] = json.loads(opened(recording))["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    assert len(spans) == 6
    assert {len(bytes.fromhex(span["traceId"])) for span in spans} == {16}
    assert all(span["startTimeUnixNano"].isdecimal() for span in spans)


def test_events_name_the_skill_in_an_attribute() -> None:
    [resource] = ExportLogsServiceRequest.FromString(read("python_events").body).resource_logs
    records = {record.event_name: record for record in resource.scope_logs[0].log_records}
    attributes = {one.key: one.value.string_value for one in records["skill_activated"].attributes}
    assert attributes["skill.name"] == "refund-check"
    assert records["skill_activated"].trace_id == b""


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("framework_spans", '{"skill_name": "refund-check"}'), ("framework_spans_hidden", "")],
)
def test_agent_framework_names_the_skill_only_with_sensitive_data(name: str, arguments: str) -> None:
    [resource] = ExportTraceServiceRequest.FromString(read(name).body).resource_spans
    spans = {span.name: span for span in resource.scope_spans[0].spans}
    assert {"chat made-up-1", "execute_tool load_skill", "invoke_agent helpdesk"} == spans.keys()
    load = {one.key: one.value.string_value for one in spans["execute_tool load_skill"].attributes}
    assert load["gen_ai.tool.name"] == "load_skill"
    assert load.get("gen_ai.tool.call.arguments", "") == arguments
