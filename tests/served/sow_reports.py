"""Planted values in what agents report: calls by REST, spans and log records by OpenTelemetry."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.served.planted import mark, paragraph, plants
from tests.served.sower import Sower, header_of, tree
from tests.served.visitor import Visitor

JSON, PROTOBUF = "application/json", "application/x-protobuf"
AT = 1_796_029_200_000_000_000


def report_calls(sower: Sower) -> None:
    """`POST /api/v1/traces`: whole, in chunks, compressed, in parts that are refused, and broken."""
    agent = sower.agent("leak-reporter")
    n = sower.place("calls")
    sower.took(n, agent.rest("traces", {"calls": [call(n)], "tasks": [task(n)]}), 202)
    n = sower.place("calls in chunks")
    sower.took(
        n,
        agent.send("/api/v1/traces", chunks(json.dumps({"calls": [call(n)]}).encode()), Content_Type=JSON),
        202,
    )
    n = sower.place("calls with a key")
    for _ in range(2):
        sower.took(n, agent.rest("traces", {"calls": [call(n)]}, Idempotency_Key=header_of(n)[:200]), 202)
    n = sower.place("refused calls of a batch")
    bad: list[Any] = [
        {**call(n), name: paragraph(n)} for name in ("outcome", "failed_stage", "kind", "started_at", "cost")
    ]
    bad += [paragraph(n), {**call(n), "call_id": ""}, {**call(n), "attempt": paragraph(n)}]
    for _again in range(2):
        agent.rest("traces", {"calls": [*bad, call(n)]}, Idempotency_Key=f"batch-{n}")
    n = sower.place("compressed calls")
    packed = gzip.compress(json.dumps({"calls": [call(n)]}).encode())
    assert agent.send("/api/v1/traces", packed, Content_Type=JSON, Content_Encoding="gzip").status < 500
    for what, body, kind in (
        ("broken JSON", lambda n: json.dumps({"calls": [call(n)]}).encode()[:-9], JSON),
        ("JSON that is no batch", lambda n: json.dumps(paragraph(n)).encode(), JSON),
        ("text for JSON", lambda n: paragraph(n).encode(), JSON),
        ("another type of body", lambda n: paragraph(n).encode(), "text/plain"),
        ("too long a body", lambda n: (paragraph(n) * 9000).encode(), JSON),
    ):
        n = sower.place(what)
        sower.refused(n, agent.send("/api/v1/traces", body(n), Content_Type=kind))


def report_spans(sower: Sower) -> None:
    """`/v1/traces` and `/v1/logs`, in both encodings, compressed and in chunks."""
    agent = sower.agent("leak-exporter")
    for path, make, message in (
        ("/v1/traces", spans, ExportTraceServiceRequest),
        ("/v1/logs", records, ExportLogsServiceRequest),
    ):
        for kind in (JSON, PROTOBUF):
            for way in ("whole", "gzip", "chunks", "gzip in chunks"):
                n = sower.place(f"{path} {kind} {way}")
                told = make(n)
                content = json.dumps(told).encode()
                if kind == PROTOBUF:
                    content = ParseDict(_with_ids(told), message()).SerializeToString()
                sower.took(n, _export(agent, path, content, kind, way))
        for kind in (JSON, PROTOBUF, "text/plain"):
            n = sower.place(f"{path} {kind} broken")
            sower.refused(n, agent.send(path, paragraph(n).encode(), Content_Type=kind))
            sower.refused(
                n, agent.send(path, paragraph(n).encode(), Content_Type=kind, Content_Encoding="gzip")
            )


def _export(agent: Visitor, path: str, content: bytes, kind: str, way: str) -> Any:
    headers = {"Content_Type": kind}
    if "gzip" in way:
        content, headers["Content_Encoding"] = gzip.compress(content), "gzip"
    return agent.send(path, chunks(content) if "chunks" in way else content, **headers)


def chunks(content: bytes) -> Iterator[bytes]:
    """The content in pieces."""
    for at in range(0, len(content), 1000):
        yield content[at : at + 1000]


def call(n: int) -> dict[str, Any]:
    """A call with values in every part."""
    email = plants()[0].at(n).split()[-1]
    return {
        "call_id": f"leak-call-{n}",
        "trace_id": f"leak {email}",
        "session_id": f"of {email}",
        "parent_id": email,
        "skill": "ticket-triage",
        "version": "2.0.0",
        "model": f"model of {email}",
        "user_intent": paragraph(n),
        "candidates": [{"skill": "ticket-triage", "score": 0.9, "reason": paragraph(n)}],
        "selection_reason": paragraph(n),
        "parameters": tree(n),
        "output": tree(n),
        "outcome": "error",
        "failed_stage": "execution",
        "error_code": f"failed for {email}",
        "spans": [
            {"name": f"GET {plants()[3].at(n)}", "start_ms": 0, "duration_ms": 5, "attributes": tree(n)}
        ],
        "started_at": "2026-11-30T09:15:00Z",
        "duration_ms": 1840,
        paragraph(n): paragraph(n),
    }


def task(n: int) -> dict[str, Any]:
    """The outcome of a task whose ids hold values."""
    email = plants()[0].at(n).split()[-1]
    return {"task_id": f"task of {email}", "trace_id": f"leak {email}", "completed": True}


def spans(n: int) -> dict[str, Any]:
    """An export of a call and of a span beside it."""
    trace = f"{n:032x}"
    act = {"gen_ai.skill.name": "ticket-triage", "gen_ai.skill.version": "2.0.0", **_values(n)}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes({"service.name": paragraph(n)})},
                "scopeSpans": [
                    {
                        "scope": {"name": paragraph(n)},
                        "spans": [
                            _span(n, trace, 1, f"execute_skill {paragraph(n)}", act),
                            _span(
                                n, trace, 2, f"HTTP {paragraph(n)}", {"http.url": paragraph(n), **_values(n)}
                            ),
                        ],
                    }
                ],
            }
        ]
    }


def records(n: int) -> dict[str, Any]:
    """An export of an event of a skill, of another event and of a record with values in its body."""
    event = {
        "event.name": "skill_activated",
        "skill.name": "ticket-triage",
        "session.id": f"{mark(n)} {plants()[0].at(n)}",
        **_values(n),
    }
    rows = [(event, "skill_activated"), ({"event.name": paragraph(n), **_values(n)}, paragraph(n))]
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": _attributes({"host.name": paragraph(n)})},
                "scopeLogs": [
                    {
                        "scope": {"name": "leaks"},
                        "logRecords": [
                            {
                                "timeUnixNano": str(AT + place),
                                "severityText": paragraph(n),
                                "body": {"stringValue": body},
                                "attributes": _attributes(told),
                            }
                            for place, (told, body) in enumerate(rows)
                        ],
                    }
                ],
            }
        ]
    }


def _values(n: int) -> dict[str, Any]:
    """Attributes with values under plain names, under tell-tale ones, and in names."""
    return {
        "input.value": paragraph(n),
        "gen_ai.tool.call.arguments": json.dumps(tree(n)),
        "gen_ai.tool.call.result": json.dumps(tree(n), ensure_ascii=False),
        "error.message": paragraph(n),
        "http.request.header.authorization": plants()[21].at(n).split(": ")[1],
        "http.request.header.cookie": plants()[28].at(n)[8:],
        "db.password": plants()[22].at(n).split()[-1],
        **{plant.at(n): "x" for plant in plants()},
    }


def _attributes(told: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": {"stringValue": value}} for name, value in told.items()]


def _span(n: int, trace: str, place: int, name: str, told: dict[str, Any]) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": f"{n * 10 + place:016x}",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(AT),
        "endTimeUnixNano": str(AT + 5_000_000),
        "attributes": _attributes(told),
        "events": [
            {"name": paragraph(n), "timeUnixNano": str(AT), "attributes": _attributes(_values(n))},
            {
                "name": "exception",
                "timeUnixNano": str(AT),
                "attributes": _attributes(
                    {"exception.message": paragraph(n), "exception.stacktrace": paragraph(n)}
                ),
            },
        ],
        "links": [{"traceId": trace, "spanId": f"{n:016x}", "attributes": _attributes(_values(n))}],
        "status": {"code": 2, "message": paragraph(n)},
    }


def _with_ids(told: Any) -> Any:
    """The same for ParseDict, which reads bytes as base64: ids are hexadecimal in the JSON of OTLP alone."""
    import base64

    if isinstance(told, list):
        return [_with_ids(one) for one in told]
    if not isinstance(told, dict):
        return told
    return {
        name: base64.b64encode(bytes.fromhex(value)).decode()
        if name in {"traceId", "spanId"}
        else _with_ids(value)
        for name, value in told.items()
    }
