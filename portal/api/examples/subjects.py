"""Examples of erasures."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample

ERASE = [
    OpenApiExample(
        "Everything of one e-mail address",
        value={"value": "anna@example.org", "reason": "Request 2026-118."},
        request_only=True,
    ),
    OpenApiExample(
        "It begins in a minute",
        value={
            "id": "01936f0e-7c1a-7000-8000-000000000009",
            "state": "waiting",
            "masks": ["[EMAIL·7f3a]"],
            "reason": "Request 2026-118.",
            "requested_by": "ada",
            "requested_at": "2026-11-30T09:00:00Z",
            "begins_at": "2026-11-30T09:01:00Z",
            "finished_at": None,
            "traces": 0,
            "calls": 0,
            "spans": 0,
            "tasks": 0,
            "lost": 0,
            "lost_until": None,
        },
        response_only=True,
        status_codes=["202"],
    ),
]
