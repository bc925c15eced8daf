"""What the addresses of OTLP answer, in the encoding of the request."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpResponse
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from rest_framework.request import Request

from governance.traces import Busy
from portal.api.errors import answer_problem
from portal.api.rendering import as_json
from portal.protocols.statuses import JSON, PROTOBUF, encode_status, kind_of

log = logging.getLogger(__name__)

CARRIED = ("Retry-After", "WWW-Authenticate", "Allow")


def kind_of_request(request: Request) -> str:
    """The media type of the body."""
    return kind_of(request.META.get("CONTENT_TYPE", ""))


def taken(request: Request, *, rejected: int, message: str, spans: bool) -> HttpResponse:
    """The answer of 200, for spans or for log records; a message without a rejection is a warning."""
    if kind_of_request(request) == PROTOBUF:
        return HttpResponse(_message(rejected, message, spans), content_type=PROTOBUF)
    told: dict[str, Any] = {}
    if rejected:
        # As 64-bit integers are written in JSON.
        told["rejectedSpans" if spans else "rejectedLogRecords"] = str(rejected)
    if message:
        told["errorMessage"] = message
    return HttpResponse(as_json({"partialSuccess": told} if told else {}), content_type=JSON)


def _message(rejected: int, message: str, spans: bool) -> bytes:
    if not rejected and not message:
        return b""
    if spans:
        traces = ExportTraceServiceResponse()
        traces.partial_success.rejected_spans = rejected
        traces.partial_success.error_message = message
        return traces.SerializeToString()
    logs = ExportLogsServiceResponse()
    logs.partial_success.rejected_log_records = rejected
    logs.partial_success.error_message = message
    return logs.SerializeToString()


def refusing(view: Any) -> Callable[..., HttpResponse]:
    """Have an endpoint refuse with what the API says, as a `google.rpc.Status`."""
    view.cls.get_exception_handler = lambda _: answer_status
    return view  # type: ignore[no-any-return]


def answer_status(fault: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """The answer for an exception of an endpoint.

    Senders give up what gets 500, and send again what gets 503: so that is what a database that is away gets.
    """
    if isinstance(fault, InterfaceError | OperationalError):
        log.warning("A request by OpenTelemetry was not taken: %s", fault)
        fault = Busy()
    problem = answer_problem(fault, context)
    kind = kind_of_request(context["request"])
    media_type, content = encode_status(problem.status_code, problem.data["detail"], kind=kind)
    answer = HttpResponse(content, status=problem.status_code, content_type=media_type)
    for name in CARRIED:
        if name in problem:
            answer[name] = problem[name]
    return answer
