"""What OpenTelemetry SDKs and collectors send: `POST /v1/traces` and `/v1/logs` (OTLP/HTTP 1.x, docs/traces.md)."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request

from governance.models.traces import Source
from governance.otlp import Batch, TooLarge, Unreadable, inflate, read_logs, read_traces
from governance.store import MOST_SPANS
from governance.traces import Ingested, ingest
from portal.api.authentication import bearer_of
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.rendering import TolerantJSONParser
from portal.protocols import otlp_answers as answers
from portal.protocols.statuses import JSON, PROTOBUF

# What OpenTelemetry describes is no part of the API's document; docs/traces.md says what is made of it.
foreign = extend_schema(exclude=True)
# What compresses well may be that many times as long as what comes as it is.
INFLATED = 2
MOST_TOLD = 3


@answers.refusing
@foreign
@endpoint({"POST": "traces:write"}, any_type=True)
def otlp_traces(request: Request) -> HttpResponse:
    """Take spans: those that are the act of a skill as calls, the others as context of their traces."""
    return _take(request, lambda payload: read_traces(payload, now=timezone.now()), Source.OTLP)


@answers.refusing
@foreign
@endpoint({"POST": "traces:write"}, any_type=True)
def otlp_logs(request: Request) -> HttpResponse:
    """Take log records: skills that were activated are calls, and nothing is kept of all others."""
    return _take(request, lambda payload: read_logs(payload, now=timezone.now(), digest=_digest), Source.LOGS)


def _take(request: Request, read: Callable[[object], Batch], source: Source) -> HttpResponse:
    bearer = bearer_of(request)
    if bearer.agent_id is None or bearer.environment_id is None:
        raise Problem("agent-token-needed", "Calls are reported with the token of an agent.", status=403)
    try:
        batch = read(_payload(request))
    except Unreadable as fault:
        raise Problem("body-invalid", str(fault)) from fault
    except TooLarge as fault:
        raise Problem("body-too-large", str(fault), status=413) from fault
    done = ingest(
        calls=batch.calls,
        spans=batch.spans,
        agent_id=bearer.agent_id,
        environment_id=bearer.environment_id,
        now=timezone.now(),
        source=source,
        refused=len(batch.refused),
    )
    rejected = len(batch.refused) + len(done.rejected)
    return answers.taken(
        request, rejected=rejected, message=_tell(batch, done, source), spans=source == Source.OTLP
    )


def _payload(request: Request) -> object:
    """The body: bytes of protobuf, or what was parsed from JSON."""
    kind = answers.kind_of_request(request)
    if kind not in {PROTOBUF, JSON}:
        raise UnsupportedMediaType(kind, f"Send {PROTOBUF} or {JSON}; this is {kind or 'of no type'}.")
    most = settings.MAX_TRACE_BYTES
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > most:
        raise TooLarge(f"The body is over the limit of {most} bytes.")
    body, coding = request.body, request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if coding in {"gzip", "x-gzip"}:
        body = inflate(body, most=INFLATED * most)
    elif coding not in {"", "identity"}:
        raise UnsupportedMediaType(coding, f"Send the body as it is or with gzip; this is {coding}.")
    return body if kind == PROTOBUF else TolerantJSONParser().parse(BytesIO(body))


def _tell(batch: Batch, done: Ingested, source: Source) -> str:
    """What was not taken and why, by the ids that the sender knows; "" where all was."""
    what = "Span" if source == Source.OTLP else "Record"
    problems = [(one.label, one.message) for one in batch.refused]
    problems += [(batch.labels[one.index], one.message.rstrip(".")) for one in done.rejected]
    told = [f"{what} {label or 'without an id'}: {message}." for label, message in problems[:MOST_TOLD]]
    if len(problems) > MOST_TOLD:
        told.append(f"{len(problems) - MOST_TOLD} more were not taken.")
    if done.dropped:
        told.append(f"{done.dropped} spans that concern no skill were not kept: a trace keeps {MOST_SPANS}.")
    return " ".join(told)


def _digest(told: bytes) -> str:
    return salted_hmac("portal.protocols.otlp", told, algorithm="sha256").hexdigest()
