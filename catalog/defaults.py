"""What a new catalog starts with: three environments and the head of its journal."""

from __future__ import annotations

from typing import Any

from catalog.bundles.bundle import PERMISSIONS
from catalog.models import Environment, JournalHead

ENVIRONMENTS: tuple[dict[str, Any], ...] = (
    {
        "name": "development",
        "title": "Development",
        "approvals_low": 0,
        "approvals_medium": 0,
        "approvals_high": 0,
        "owner_may_start": True,
        "soak_minutes": 0,
        "retention_days": 30,
    },
    {"name": "staging", "title": "Staging", "owner_may_start": True, "retention_days": 60},
    {
        "name": "production",
        "title": "Production",
        "lowest_stability": "stable",
        "approvals_high": 2,
        "second_confirmation": True,
        "call_confirmation": "high",
        "script_confirmation": "high",
        "needs_idempotency": True,
    },
)


def make_defaults(**_: object) -> None:
    """Give an empty catalog its environments; a catalog that has any keeps them as they are."""
    JournalHead.objects.get_or_create(pk=1)
    if not Environment.objects.exists():
        for order, policy in enumerate(ENVIRONMENTS, start=1):
            Environment.objects.create(order=order * 10, permissions=list(PERMISSIONS), **policy)
