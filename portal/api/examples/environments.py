"""Examples of environments."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

_ENVIRONMENT: dict[str, Any] = {
    "name": "preview",
    "title": "Preview",
    "order": 40,
    "permissions": ["network", "filesystem.read"],
    "highest_risk": "medium",
    "lowest_stability": "experimental",
    "approvals_low": 0,
    "approvals_medium": 1,
    "approvals_high": 1,
    "second_confirmation": False,
    "outside_approval": False,
    "owner_may_start": True,
    "call_confirmation": "never",
    "script_confirmation": "never",
    "needs_idempotency": False,
    "needs_evaluation": False,
    "soak_minutes": 60,
    "retention_days": 90,
    "revision": 0,
    "warnings": [],
}
ENVIRONMENT = [
    OpenApiExample(
        "Up to medium risk",
        value={
            "name": "preview",
            "title": "Preview",
            "permissions": ["network", "filesystem.read"],
            "highest_risk": "medium",
            "approvals_low": 0,
            "owner_may_start": True,
        },
        request_only=True,
    ),
    OpenApiExample("Made, the last one", value=_ENVIRONMENT, response_only=True, status_codes=["201"]),
]
CHANGE_ENVIRONMENT = [
    OpenApiExample("Two approvals for medium risk", value={"approvals_medium": 2}, request_only=True),
    OpenApiExample(
        "Changed",
        value={**_ENVIRONMENT, "approvals_medium": 2},
        response_only=True,
        status_codes=["200"],
    ),
]
