"""Examples of appeals and rescans."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

from portal.api.examples.feed import SHA256

_APPEAL: dict[str, Any] = {
    "id": "01936f0e-7c1a-7000-8000-000000000002",
    "state": "waiting",
    "skill": "code-review",
    "version": "1.2.0",
    "finding": SHA256,
    "code": "remote-code-install",
    "reason": "The address is a mirror of our own.",
    "by": "ines",
    "made_at": "2026-11-30T09:00:00Z",
    "decided_by": None,
    "decided_at": None,
    "note": "",
    "effective_risk": "high",
}
APPEAL = [
    OpenApiExample("Why", value={"reason": "The address is a mirror of our own."}, request_only=True),
    OpenApiExample("Waits", value=_APPEAL, response_only=True, status_codes=["201"]),
]
DECIDE = [
    OpenApiExample("A word for the publisher", value={"reason": "Mirror checked."}, request_only=True),
    OpenApiExample(
        "Granted",
        value={
            **_APPEAL,
            "state": "granted",
            "decided_by": "mara",
            "decided_at": "2026-11-30T10:00:00Z",
            "note": "Mirror checked.",
            "effective_risk": "low",
        },
        response_only=True,
        status_codes=["200"],
    ),
]
RESCAN = [
    OpenApiExample(
        "A finding that older rules overlooked",
        value={
            "name": "code-review",
            "version": "1.2.0",
            "gained": 1,
            "lost": 0,
            "suggested_risk": {"before": "low", "after": "high"},
            "effective_risk": "high",
        },
        response_only=True,
        status_codes=["200"],
    )
]
