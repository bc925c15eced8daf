"""Examples of reported calls."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample

TRACES = [
    OpenApiExample(
        "One failed call",
        value={
            "calls": [
                {
                    "call_id": "c-1",
                    "trace_id": "t-1",
                    "skill": "web.search",
                    "version": "1.2.0",
                    "user_intent": "Find the address of the tax office",
                    "parameters": {"query": "tax office address"},
                    "outcome": "error",
                    "failed_stage": "execution",
                    "error_code": "upstream_timeout",
                    "retryable": True,
                    "started_at": "2026-11-30T12:00:00Z",
                    "duration_ms": 2010,
                }
            ]
        },
        request_only=True,
    ),
    OpenApiExample(
        "Taken",
        value={"accepted": 1, "duplicates": 0, "rejected": []},
        response_only=True,
        status_codes=["202"],
    ),
]
TRACE = [
    OpenApiExample(
        "A call and the turn of the model that led to it",
        value={
            "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
            "calls": [
                {
                    "call_id": "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                    "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
                    "parent_id": "4bf92f3577b34da6a3ce929d0e0e4736-53995c3f42cd8ad8",
                    "session_id": None,
                    "skill": "web.search",
                    "version": None,
                    "known": False,
                    "environment": "production",
                    "agent": "front-desk",
                    "source": "otlp",
                    "arm": None,
                    "kind": "loaded",
                    "attempt": 1,
                    "fallback_for": None,
                    "replanned": False,
                    "model": None,
                    "outcome": "ok",
                    "failed_stage": None,
                    "error_code": None,
                    "retryable": None,
                    "started_at": "2026-11-30T12:00:01Z",
                    "duration_ms": 12,
                    "input_tokens": None,
                    "output_tokens": None,
                    "cost": None,
                    "currency": None,
                    "cache_hit": None,
                    "received_at": "2026-11-30T12:00:05Z",
                    "user_intent": "",
                    "candidates": [],
                    "selection_reason": "",
                    "parameters": {"skill_name": "web.search"},
                    "output": None,
                    "spans": [],
                }
            ],
            "context": [
                {
                    "span_id": "4bf92f3577b34da6a3ce929d0e0e4736-53995c3f42cd8ad8",
                    "parent_id": None,
                    "name": "chat sonnet-4",
                    "environment": "production",
                    "agent": "front-desk",
                    "outcome": "ok",
                    "started_at": "2026-11-30T12:00:00Z",
                    "duration_ms": 2400,
                    "attributes": {"gen_ai.prompt": "Where does [EMAIL·7f3a] live?"},
                    "received_at": "2026-11-30T12:00:05Z",
                }
            ],
        },
        response_only=True,
        status_codes=["200"],
    ),
]
