"""Calls by REST: agents report them, analysts read them, masked (contract, Traces)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from governance.models import Call, CallDetail, ContextSpan
from governance.traces import MOST_CALLS, ingest, readable_calls, readable_spans
from portal import access
from portal.api.authentication import bearer_of
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import traces as examples
from portal.api.fields import Fields, read_moment
from portal.api.idempotency import once
from portal.api.paging import page_of
from portal.api.rendering import TolerantJSONParser
from portal.tracing import SEARCH_DAYS, Asked, filter_calls, trace_ids_of

# More than 5 MB hold of spans that say something; of a million empty ones a process would make a gigabyte.
MOST_SPANS = 50_000


@described(
    "traces_report",
    "Report at most 1,000 calls with 50,000 spans in 5 MB; each is taken once, masked before it is written, and rejected by "
    "itself. An agent's token.",
    method="POST",
    sent={"application/json": "Report"},
    answers={202: "Ingested"},
    problems=(400, 409, 413, 415, 422),
    examples=examples.TRACES,
    once=True,
)
@described(
    "traces",
    "Calls, newest first. What was masked is found by what it was.",
    answers={200: "CallPage"},
    problems=(400,),
    query={
        "skill": "In either spelling of its name, or as the agent named it where it is none of ours.",
        "version": "As the agent named it.",
        "environment": "The name of an environment.",
        "agent": "The name of an agent.",
        "outcome": "ok or error.",
        "stage": "The stage that failed.",
        "since": "The earliest start, RFC 3339.",
        "until": "Before this start, RFC 3339.",
        "q": "A trace's id, or part of a skill's name, an error code or the user's intent. Without since the "
        f"search goes back {SEARCH_DAYS} days, from until or from now.",
        **CURSOR,
    },
)
@endpoint({"POST": "traces:write", "GET": "traces:read"}, parsers=(TolerantJSONParser,))
@once
def trace_list(request: Request) -> Response:
    """Report calls, or read them."""
    if request.method == "POST":
        return _report(request)
    seen = readable_calls(access.powers(request)).select_related("agent", "environment")
    calls = filter_calls(seen, _asked(request), now=timezone.now())
    return Response(page_of(request, calls, key="-started_at", show=show_call))


def _asked(request: Request) -> Asked:
    sent = request.query_params
    since, until = sent.get("since"), sent.get("until")
    texts = ("skill", "version", "environment", "agent", "outcome", "stage")
    return Asked(
        text=sent.get("q", "").strip(),
        since=read_moment("since", since) if since else None,
        until=read_moment("until", until) if until else None,
        **{name: sent.get(name, "") for name in texts},
    )


def _report(request: Request) -> Response:
    bearer = bearer_of(request)
    if bearer.agent_id is None or bearer.environment_id is None:
        raise Problem("agent-token-needed", "Calls are reported with the token of an agent.", status=403)
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > settings.MAX_TRACE_BYTES:
        raise Problem("body-too-large", f"A batch has at most {settings.MAX_TRACE_BYTES} bytes.", status=413)
    fields = Fields(request.data)
    calls, tasks = fields.data.get("calls", []), fields.data.get("tasks", [])
    if not isinstance(calls, list) or not isinstance(tasks, list):
        raise Problem("field-invalid", "calls and tasks are lists.", status=422)
    if len(calls) > MOST_CALLS or len(tasks) > MOST_CALLS:
        raise Problem("batch-too-large", f"A batch has at most {MOST_CALLS} calls.", status=413)
    if _count_spans(calls) > MOST_SPANS:
        raise Problem("batch-too-large", f"The calls of a batch have at most {MOST_SPANS} spans.", status=413)
    done = ingest(
        calls=calls,
        tasks=tasks,
        agent_id=bearer.agent_id,
        environment_id=bearer.environment_id,
        now=timezone.now(),
    )
    told = {
        "accepted": done.accepted,
        "duplicates": done.duplicates,
        "rejected": [asdict(one) for one in done.rejected],
    }
    if done.rejected_tasks:
        told["rejected_tasks"] = [asdict(one) for one in done.rejected_tasks]
    return Response(told, status=202)


def _count_spans(calls: list[Any]) -> int:
    lists = (call.get("spans") for call in calls if isinstance(call, dict))
    return sum(len(spans) for spans in lists if isinstance(spans, list))


@described(
    "trace",
    "The calls of one trace with their masked payloads, at most 1,000, and in `context` at most 1,000 spans of its "
    "agents around them. `parent_id` is the `call_id` of a call or the `span_id` of a span, where it is known.",
    answers={200: "Trace"},
    problems=(404,),
    examples=examples.TRACE,
)
@endpoint({"GET": "traces:read"})
def trace_detail(request: Request, trace_id: str) -> Response:
    """The calls of one trace."""
    stored, powers = trace_ids_of(trace_id), access.powers(request)
    calls = list(
        readable_calls(powers)
        .filter(trace_id__in=stored)
        .select_related("agent", "environment", "detail")
        .order_by("started_at", "pk")[:1000]
    )
    if not calls:
        raise Problem("trace-not-found", f"There is no trace {trace_id} that you may read.", status=404)
    shown = [{**show_call(call), **show_detail(call)} for call in calls]
    spans = (
        readable_spans(powers, stored)
        .select_related("agent", "environment")
        .order_by("started_at", "pk")[:1000]
    )
    context = [show_span(span) for span in spans]
    return Response({"trace_id": calls[0].trace_id, "calls": shown, "context": context})


def show_call(call: Call) -> dict[str, Any]:
    """A call as lists answer it."""
    return {
        "call_id": call.call_id,
        "trace_id": call.trace_id,
        "parent_id": call.parent_id or None,
        "session_id": call.session_id or None,
        "skill": call.skill_text or None,
        "version": call.version_text or None,
        "known": call.version_id is not None,
        "environment": call.environment.name,
        "agent": call.agent.name,
        "source": call.source,
        "arm": call.arm or None,
        "kind": call.kind,
        "attempt": call.attempt,
        "fallback_for": call.fallback_for or None,
        "replanned": call.replanned,
        "model": call.model or None,
        "outcome": call.outcome,
        "failed_stage": call.failed_stage or None,
        "error_code": call.error_code or None,
        "retryable": call.retryable,
        "started_at": call.started_at,
        "duration_ms": call.duration_ms,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "cost": None if call.cost is None else format(call.cost.normalize(), "f"),
        "currency": call.currency or None,
        "cache_hit": call.cache_hit,
        "received_at": call.received_at,
    }


def show_detail(call: Call) -> dict[str, Any]:
    """The masked payloads of a call; empty where none is kept."""
    detail: CallDetail = getattr(call, "detail", None) or CallDetail()
    return {
        "user_intent": detail.user_intent,
        "candidates": detail.candidates,
        "selection_reason": detail.selection_reason,
        "parameters": detail.parameters,
        "output": detail.output,
        "spans": detail.spans,
    }


def show_span(span: ContextSpan) -> dict[str, Any]:
    """A span of context, masked."""
    return {
        "span_id": span.span_id,
        "parent_id": span.parent_id or None,
        "name": span.name,
        "environment": span.environment.name,
        "agent": span.agent.name,
        "outcome": span.outcome,
        "started_at": span.started_at,
        "duration_ms": span.duration_ms,
        "attributes": span.attributes,
        "received_at": span.received_at,
    }
