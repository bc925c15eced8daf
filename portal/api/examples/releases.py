"""Examples of releases and what waits for decisions."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

from portal.api.examples.feed import SHA256

ROW: dict[str, Any] = {
    "id": "01936f0e-7c1a-7000-8000-000000000001",
    "state": "proposed",
    "skill": "code-review",
    "version": "1.2.0",
    "bundle_sha256": SHA256,
    "environment": "production",
    "percent": 0,
    "next_step_at": None,
    "previous": "1.1.0",
    "note": "Checks names too.",
    "proposer": "ines",
    "proposed_at": "2026-11-30T09:00:00Z",
    "changed_at": "2026-11-30T09:00:00Z",
    "expires_at": "2026-12-14T09:00:00Z",
}
_CANARY: dict[str, Any] = {
    "percent": 5,
    "steps": [5, 25, 100],
    "soak_minutes": 120,
    "teams": ["support"],
}
_PROPOSED: dict[str, Any] = {
    **ROW,
    "needs": {"approvals": 1, "confirmation": False},
    "approvals": [],
    "gates": [
        {
            "name": "risk",
            "passed": True,
            "detail": "The risk is low; up to high is allowed here.",
            "overridden": "",
        }
    ],
    "overrides": [],
    "canary": _CANARY,
    "transitions": [
        {
            "n": 1,
            "action": "propose",
            "from": None,
            "to": "proposed",
            "by": "ines",
            "reason": "Checks names too.",
            "at": "2026-11-30T09:00:00Z",
        }
    ],
}
RELEASE = [
    OpenApiExample(
        "A canary in steps, for the agents of a team first",
        value={
            "skill": "code-review",
            "version": "1.2.0",
            "environment": "production",
            "note": "Checks names too.",
            "canary": _CANARY,
        },
        request_only=True,
    ),
    OpenApiExample(
        "A proposal",
        value={
            "skill": "code-review",
            "version": "1.2.0",
            "environment": "production",
            "note": "Checks names too.",
        },
        request_only=True,
    ),
    OpenApiExample("Waits for one approval", value=_PROPOSED, response_only=True, status_codes=["201"]),
]
_OVERRIDE: dict[str, Any] = {
    "gate": "evaluation",
    "detail": "An evaluation is asked for here, and none was reported.",
    "reason": "The harness is down; run by hand.",
    "by": "mara",
    "at": "2026-11-30T10:00:00Z",
}
ACT = [
    OpenApiExample("approve", value={"note": "Read it.", "confirm": "code-review"}, request_only=True),
    OpenApiExample("start, advance, resume", value={"percent": 25}, request_only=True),
    OpenApiExample(
        "reject, withdraw, halt, rollback, break_glass",
        value={"reason": "Wrong totals."},
        request_only=True,
    ),
    OpenApiExample(
        "override",
        value={"gate": _OVERRIDE["gate"], "reason": _OVERRIDE["reason"]},
        request_only=True,
    ),
    OpenApiExample(
        "A gate is overridden",
        value={
            **_PROPOSED,
            "gates": [
                {
                    "name": _OVERRIDE["gate"],
                    "passed": False,
                    "detail": _OVERRIDE["detail"],
                    "overridden": f"mara: {_OVERRIDE['reason']}",
                }
            ],
            "overrides": [_OVERRIDE],
        },
        response_only=True,
        status_codes=["200"],
    ),
]
INBOX = [
    OpenApiExample(
        "A release to decide on",
        value={
            "decide": [
                {**ROW, "approvals": {"held": 0, "needed": 1}, "shut": [], "live": "1.1.0"},
            ],
            "void": [],
            "start": [],
            "holds": [],
            "blocked": [],
            "approved": [],
            "mine": [],
            "appeals": [],
        },
        response_only=True,
        status_codes=["200"],
    )
]
