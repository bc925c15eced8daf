"""Examples of masking."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

_WRITTEN: dict[str, Any] = {
    "kind": "STAFF",
    "pattern": "EMP-[0-9]{5}",
    "fields": [],
    "description": "Numbers of staff",
}
_RULE: dict[str, Any] = {
    "id": "01a22c57-6a00-7000-8000-0000000000aa",
    **_WRITTEN,
    "is_on": True,
    "created_at": "2026-11-30T12:00:00Z",
    "changed_at": "2026-11-30T12:00:00Z",
}
RULE = [
    OpenApiExample(
        "Tried on a sample",
        value={**_WRITTEN, "sample": {"user_intent": "Look up EMP-12345"}},
        request_only=True,
    ),
    OpenApiExample("Made, and holding", value=_RULE, response_only=True, status_codes=["201"]),
]
CHANGE_RULE = [
    OpenApiExample(
        "Under two fields alone",
        value={"fields": ["staff_id", "manager_id"], "sample": {"staff_id": "EMP-12345"}},
        request_only=True,
    ),
    OpenApiExample(
        "Changed",
        value={**_RULE, "fields": ["staff_id", "manager_id"], "changed_at": "2026-11-30T13:00:00Z"},
        response_only=True,
        status_codes=["200"],
    ),
]
TRY = [
    OpenApiExample(
        "With a rule that is not saved",
        value={"sample": {"note": "EMP-12345 wrote to jane@example.com"}, "rule": _WRITTEN},
        request_only=True,
    ),
    OpenApiExample(
        "As now, and with the rule",
        value={
            "now": {"note": "EMP-12345 wrote to [EMAIL·7f3a]"},
            "then": {"note": "[STAFF·c09d] wrote to [EMAIL·7f3a]"},
            "found": 1,
        },
        response_only=True,
        status_codes=["200"],
    ),
]
SWITCH = [
    OpenApiExample(
        "Off, and why",
        value={"is_on": False, "reason": "All addresses here are of test hosts."},
        request_only=True,
    ),
    OpenApiExample(
        "Off",
        value={
            "kind": "IP",
            "finds": "IP addresses, versions 4 and 6",
            "example": "198.51.100.23",
            "is_on": False,
            "reason": "All addresses here are of test hosts.",
            "since": "2026-11-30T12:00:00Z",
        },
        response_only=True,
        status_codes=["200"],
    ),
]
