"""Examples of teams, people, grants and delegations."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

TEAM = [
    OpenApiExample("A team", value={"name": "Field Sales", "slug": "field-sales"}, request_only=True),
    OpenApiExample(
        "Without members yet",
        value={"slug": "field-sales", "name": "Field Sales", "members": 0, "skills": 0, "people": []},
        response_only=True,
        status_codes=["201"],
    ),
]
_GRANT: dict[str, Any] = {
    "id": "01936f0e-7c1a-7000-8000-000000000003",
    "user": "wen",
    "role": "approver",
    "team": None,
    "environment": "staging",
    "may_override": False,
}
GRANT = [
    OpenApiExample(
        "An approver in staging, for all teams",
        value={"user": "nora", "role": "approver", "environment": "staging"},
        request_only=True,
    ),
    OpenApiExample("Given", value={**_GRANT, "user": "nora"}, response_only=True, status_codes=["201"]),
]
_PERSON: dict[str, Any] = {
    "username": "wen",
    "name": "Wen Li",
    "email": "wen@example.org",
    "state": "waiting",
    "superuser": False,
    "last_sign_in": None,
    "grants": [_GRANT],
    "tokens": [],
    "skills": [],
    "delegations": [],
}
PERSON = [
    OpenApiExample(
        "An invitation",
        value={
            "username": "wen",
            "name": "Wen Li",
            "email": "wen@example.org",
            "grants": [{"role": "approver", "environment": "staging"}],
        },
        request_only=True,
    ),
    OpenApiExample(
        "No password yet",
        value={
            **_PERSON,
            "link": "https://quartermaster.example/welcome/MDE5MzZmMGU/d1x2y3-0123456789abcdef/",
            "mailed": True,
        },
        response_only=True,
        status_codes=["201"],
    ),
]
CLOSE = [
    OpenApiExample(
        "Skills of one team pass on",
        value={"reason": "Left the company.", "successors": {"payments": "ravi"}},
        request_only=True,
    ),
    OpenApiExample(
        "Closed",
        value={**_PERSON, "username": "ines", "state": "closed", "grants": []},
        response_only=True,
        status_codes=["200"],
    ),
]
DELEGATION = [
    OpenApiExample(
        "Two weeks of leave",
        value={
            "taker": "otto",
            "team": "payments",
            "environment": "production",
            "starts_at": "2026-12-20T08:00:00Z",
            "ends_at": "2027-01-03T08:00:00Z",
            "reason": "On leave.",
        },
        request_only=True,
    ),
    OpenApiExample(
        "Planned",
        value={
            "id": "01936f0e-7c1a-7000-8000-000000000004",
            "giver": "mara",
            "taker": "otto",
            "team": "payments",
            "environment": "production",
            "reason": "On leave.",
            "starts_at": "2026-12-20T08:00:00Z",
            "ends_at": "2027-01-03T08:00:00Z",
            "ended_at": None,
            "state": "planned",
            "in_force": False,
        },
        response_only=True,
        status_codes=["201"],
    ),
]
