"""Examples of agents and tokens."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

LIMITS: dict[str, Any] = {
    "description": "Answers customers at the front desk.",
    "tags": ["pilot"],
    "skills": [],
    "sets": [],
    "skill_tags": ["money"],
    "highest_risk": "medium",
    "template": "",
}
AGENT: dict[str, Any] = {
    "name": "front-desk",
    "team": "payments",
    **LIMITS,
    "environments": ["production"],
    "created_at": "2026-11-30T09:00:00Z",
    "last_seen_at": "2026-11-30T12:00:00Z",
    "retired_at": None,
}
TOKEN: dict[str, Any] = {
    "id": "01936f0e-7c1a-7000-8000-000000000001",
    "name": "main",
    "prefix": "qm_kT3bQ",
    "agent": "front-desk",
    "environment": "production",
    "user": None,
    "scopes": ["feed", "traces:write"],
    "state": "valid",
    "created_at": "2026-11-30T09:00:00Z",
    "expires_at": "2027-02-28T09:00:00Z",
    "last_used_at": None,
    "revoked_at": None,
    "replaced_by": None,
}
ISSUED = {**TOKEN, "secret": "qm_kT3bQ…"}
ASK_TOKEN = {"environment": "production", "scopes": ["feed", "traces:write"], "name": "main", "days": 90}

AGENT_SHOWN = [OpenApiExample("An agent", value=AGENT, response_only=True)]
AGENT_MADE = [
    OpenApiExample(
        "A new agent", value={"name": "front-desk", "team": "payments", **LIMITS}, request_only=True
    ),
    OpenApiExample(
        "The agent", value={**AGENT, "environments": []}, response_only=True, status_codes=["201"]
    ),
]
AGENT_CHANGED = [
    OpenApiExample("A lower limit", value={"highest_risk": "low"}, request_only=True),
    OpenApiExample("The agent", value={**AGENT, "highest_risk": "low"}, response_only=True),
]
TOKEN_ISSUED = [
    OpenApiExample("What it is for", value=ASK_TOKEN, request_only=True),
    OpenApiExample("The token, this once", value=ISSUED, response_only=True, status_codes=["201"]),
]
TOKEN_ROTATED = [
    OpenApiExample("Two days for both", value={"overlap_hours": 48, "days": 90}, request_only=True),
    OpenApiExample("The new token, this once", value=ISSUED, response_only=True, status_codes=["201"]),
]
