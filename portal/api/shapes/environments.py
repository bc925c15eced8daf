"""Environments and their policies."""

from __future__ import annotations

from portal.api.shapes.words import BOOLEAN, INTEGER, TEXT, TEXTS, Shape, listed, one_of, partly, record

PERMISSION = one_of("network", "filesystem.read", "filesystem.write", "shell", "secrets", "send")
CONFIRMATION = one_of("never", "high", "always")
TERMS: dict[str, Shape] = {
    "title": TEXT,
    "order": INTEGER,
    "permissions": listed(PERMISSION),
    "highest_risk": one_of("low", "medium", "high"),
    "lowest_stability": one_of("experimental", "deprecated", "stable"),
    "approvals_low": INTEGER,
    "approvals_medium": INTEGER,
    "approvals_high": INTEGER,
    "second_confirmation": BOOLEAN,
    "outside_approval": BOOLEAN,
    "owner_may_start": BOOLEAN,
    "call_confirmation": CONFIRMATION,
    "script_confirmation": CONFIRMATION,
    "needs_idempotency": BOOLEAN,
    "needs_evaluation": BOOLEAN,
    "soak_minutes": INTEGER,
    "retention_days": INTEGER,
}
ENVIRONMENT = record(name=TEXT, **TERMS, revision=INTEGER, warnings=TEXTS)
NEW_ENVIRONMENT = partly(("name", "title"), name=TEXT, **TERMS)
CHANGE_ENVIRONMENT = partly((), **TERMS)
