"""Who sends to the addresses of OTLP in tests, and how answers in either encoding are read."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from django.test import Client
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

PROTOBUF, JSON = "application/x-protobuf", "application/json"
TRACES, LOGS = "/v1/traces", "/v1/logs"


class Sender:
    """Sends bodies with a token; no answer is a 500, and each is in the encoding of its request."""

    def __init__(self, secret: str = "") -> None:
        self.client = Client(raise_request_exception=False)
        self.secret = secret

    def send(
        self, body: Any, path: str = TRACES, *, kind: str = "", method: str = "POST", **headers: str
    ) -> HttpResponse:
        """The answer; bytes are protobuf and all else is sent as JSON, where `kind` does not say more."""
        kind = kind or (PROTOBUF if isinstance(body, bytes) else JSON)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.secret:
            named.setdefault("Authorization", f"Bearer {self.secret}")
        # Django's client leaves the type of an empty body out.
        answer = self.client.generic(method, path, data, kind, headers=named, CONTENT_TYPE=kind)
        assert answer.status_code != 500, answer.content
        assert answer["Content-Type"] == (PROTOBUF if kind == PROTOBUF else JSON)
        return answer


def status_of(answer: HttpResponse) -> tuple[int, int, str]:
    """The status of HTTP, and the code and the message of the google.rpc.Status."""
    if answer["Content-Type"] == PROTOBUF:
        told = Status.FromString(answer.content)
        return answer.status_code, told.code, told.message
    body = answer.json()
    assert body.keys() == {"code", "message"}
    return answer.status_code, body["code"], body["message"]


def partial_of(answer: HttpResponse) -> tuple[int, str]:
    """How many were rejected, and what is told of it."""
    assert answer.status_code == 200, answer.content
    if answer["Content-Type"] == JSON:
        told = answer.json().get("partialSuccess", {})
        return int(told.get("rejectedSpans", told.get("rejectedLogRecords", "0"))), told.get(
            "errorMessage", ""
        )
    if answer.request["PATH_INFO"] == LOGS:
        logs = ExportLogsServiceResponse.FromString(answer.content).partial_success
        return logs.rejected_log_records, logs.error_message
    spans = ExportTraceServiceResponse.FromString(answer.content).partial_success
    return spans.rejected_spans, spans.error_message
