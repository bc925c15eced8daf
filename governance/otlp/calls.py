"""Spans and log records as calls in the contract's shape, and the spans that stay as context."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from governance.otlp import failures
from governance.otlp.acts import ARGUMENTS, NAMES, VERSIONS, Act
from governance.otlp.records import Origin, Sent, Span, record_id
from governance.otlp.values import (
    MOST_ATTRIBUTES,
    bounded,
    first_of,
    parsed,
    place_in_time,
    shortened,
    text_of,
)

OURS = "quartermaster."
LONGEST_NAME = 300
LONGEST_INTENT = 20_000
RESULTS = ("gen_ai.tool.call.result", "tool_response", "output.value", "gcp.vertex.agent.tool_response")
SESSIONS = ("session.id", "gen_ai.conversation.id")
MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
INPUT_TOKENS = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
OUTPUT_TOKENS = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
INTENTS = ("quartermaster.user_intent", "gen_ai.input.messages", "gen_ai.prompt")
# Taken over into fields of the call; what begins with `quartermaster.` is too.
TAKEN = frozenset(
    {*NAMES, *VERSIONS, *ARGUMENTS, *RESULTS, *SESSIONS, *MODELS, *INPUT_TOKENS, *OUTPUT_TOKENS, "error.type"}
)
# Fields of the contract that an agent may give as they are, as `quartermaster.<field>`.
GIVEN = (
    *("attempt", "fallback_for", "replanned", "candidates", "selection_reason"),
    *("retryable", "cost", "currency", "cache_hit"),
)
# Of the resource: what tells of the SDK and of the process is the same on every span, and says nothing of it.
NOISE = ("telemetry.", "process.")
KINDS = {2: "server", 3: "client", 4: "producer", 5: "consumer"}
SENTENCE_END = re.compile(r"[.!?。！？\n](?=\s|$)|[。！？\n]")


def call_of(span: Sent, act: Act, now: datetime) -> dict[str, Any]:
    """The span as a call."""
    attributes = span.attributes
    started_at, duration_ms = place_in_time(span.start, span.end, now)
    failed = failures.has_failed(span)
    code = failures.code_of(span) if failed else ""
    call: dict[str, Any] = {
        "call_id": record_id(span.trace_id, span.span_id),
        "trace_id": span.trace_id,
        "parent_id": record_id(span.trace_id, span.parent_id),
        "session_id": text_of(first_of(attributes, *SESSIONS)),
        "skill": act.skill,
        "version": act.version,
        "kind": act.kind,
        "model": text_of(first_of(attributes, *MODELS)),
        "user_intent": intent_of(first_of(attributes, *INTENTS)),
        "parameters": parsed(first_of(attributes, *ARGUMENTS)),
        "output": parsed(first_of(attributes, *RESULTS)),
        "outcome": "error" if failed else "ok",
        "error_code": code,
        "started_at": started_at.isoformat(),
        "duration_ms": duration_ms,
        "input_tokens": _count(first_of(attributes, *INPUT_TOKENS)),
        "output_tokens": _count(first_of(attributes, *OUTPUT_TOKENS)),
        "spans": [_own(span, duration_ms), *_events(span, duration_ms)],
    }
    if failed:
        call["failed_stage"] = failures.stage_of(attributes, code)
    for name in GIVEN:
        if (value := attributes.get(OURS + name)) is not None:
            call[name] = parsed(value) if name == "candidates" else value
    return call


def context_of(span: Sent, now: datetime) -> Span:
    """The span as context of its trace."""
    started_at, duration_ms = place_in_time(span.start, span.end, now)
    kept = _bounded(span.attributes)
    if service := span.origin.resource.get("service.name"):
        kept["service.name"] = bounded(service)
    if span.origin.scope:
        kept["otel.scope"] = span.origin.scope
    _describe(span, kept)
    if span.events:
        kept["events"] = [
            {"name": event["name"], "at_ms": event["start_ms"], **event["attributes"]}
            for event in _events(span, duration_ms)
        ]
    return Span(
        trace_id=span.trace_id,
        span_id=record_id(span.trace_id, span.span_id),
        parent_id=record_id(span.trace_id, span.parent_id),
        name=shortened(span.name, LONGEST_NAME),
        failed=failures.has_failed(span),
        started_at=started_at,
        duration_ms=duration_ms,
        attributes=kept,
    )


def _own(span: Sent, duration_ms: int) -> dict[str, Any]:
    """The span itself among the spans of its call: whatever has no field of its own is kept there."""
    kept = _bounded(
        {
            name: value
            for name, value in span.attributes.items()
            if name not in TAKEN and not name.startswith(OURS)
        }
    )
    kept |= origin_of(span.origin)
    _describe(span, kept)
    if span.links:
        kept["links"] = span.links
    return {
        "span_id": record_id(span.trace_id, span.span_id),
        "parent_id": "",
        "name": shortened(span.name, LONGEST_NAME),
        "start_ms": 0,
        "duration_ms": duration_ms,
        "attributes": kept,
    }


def _events(span: Sent, duration_ms: int) -> list[dict[str, Any]]:
    """Events as spans without a duration."""
    return [
        {
            "span_id": "",
            "parent_id": record_id(span.trace_id, span.span_id),
            "name": shortened(event.name, LONGEST_NAME),
            # Within the span, whatever the clock said.
            "start_ms": min(max(event.at - span.start, 0) // 1_000_000, duration_ms),
            "duration_ms": 0,
            "attributes": _bounded(event.attributes),
        }
        for event in span.events
    ]


def origin_of(origin: Origin) -> dict[str, Any]:
    """The resource and the scope, as attributes."""
    resource = {name: value for name, value in origin.resource.items() if not name.startswith(NOISE)}
    kept: dict[str, Any] = {"resource": _bounded(resource)} if resource else {}
    return kept | ({"otel.scope": origin.scope} if origin.scope else {})


def _describe(span: Sent, kept: dict[str, Any]) -> None:
    if span.status:
        kept["status.message"] = bounded(span.status)
    if span.kind in KINDS:
        kept["span.kind"] = KINDS[span.kind]


def _bounded(attributes: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: bounded(value) for name, value in list(attributes.items())[:MOST_ATTRIBUTES]}
    if len(attributes) > MOST_ATTRIBUTES:
        kept["attributes.left_out"] = len(attributes) - MOST_ATTRIBUTES
    return kept


def _count(value: Any) -> int | None:
    """Tokens; None for what is no count, which is no reason to lose the call."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 10**12 else None


def intent_of(told: Any) -> str:
    """What the user last said: a text, or the messages of the conversation (GenAI conventions).

    A longer one ends with a sentence, so that nothing is cut in two that the masker would have known.
    """
    told = parsed(told)
    if isinstance(told, list):
        told = next((said for one in reversed(told) if (said := _said_by_user(one))), "")
    text = told if isinstance(told, str) else ""
    if len(text) <= LONGEST_INTENT:
        return text
    ends = [found.end() for found in SENTENCE_END.finditer(text, 0, LONGEST_INTENT)]
    return text[: ends[-1]] if ends else f"[TOO LONG: {len(text)} characters]"


def _said_by_user(message: Any) -> str:
    if not isinstance(message, dict) or message.get("role") != "user":
        return ""
    parts = message.get("parts", message.get("content"))
    if isinstance(parts, str):
        return parts
    texts = [
        part.get("content", part.get("text"))
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict) and part.get("type", "text") == "text"
    ]
    return "\n".join(text for text in texts if isinstance(text, str))
