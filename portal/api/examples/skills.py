"""Examples of what is done to a skill."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample

DEGRADE = [
    OpenApiExample(
        "Off in production, with what stands in for it",
        value={
            "environments": ["production"],
            "fallback": "diff-check",
            "reason": "It approves what it should not since this morning.",
        },
        request_only=True,
    )
]
