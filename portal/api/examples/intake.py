"""Examples of what came in."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample

_DAY = {
    "accepted": 812,
    "duplicates": 3,
    "rejected": 0,
    "unknown": 5,
    "spans": 1640,
    "dropped": 0,
    "masked": 96,
}
INTAKE = [
    OpenApiExample(
        "One agent reports, one never did",
        value={
            "reports": [
                {
                    "agent": "front-desk",
                    "team": "support",
                    "environment": "production",
                    "last_at": "2026-11-30T12:00:00Z",
                    "clock": "The agent's clock is 3 h ahead.",
                    "sources": [
                        {"source": "otlp", "day": _DAY, "week": {**_DAY, "accepted": 5410, "spans": 11020}}
                    ],
                }
            ],
            "silent": [{"agent": "night-desk", "team": "support", "reads": True}],
            "more": False,
        },
        response_only=True,
    )
]
