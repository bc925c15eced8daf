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
