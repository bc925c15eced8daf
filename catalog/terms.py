"""The terms of an environment: its title, its place, and its policy, as plain values that are checked in one place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError

from catalog.bundles.bundle import PERMISSIONS
from catalog.models import Environment

# Field → value, of those that a policy has; never the name.
Terms = Mapping[str, Any]

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# An address of the portal stands at this name.
RESERVED = frozenset({"new"})
# The least and the most of each number.
LIMITS: Mapping[str, tuple[int, int]] = {
    "order": (1, 9999),
    "approvals_low": (0, 5),
    "approvals_medium": (0, 5),
    "approvals_high": (0, 5),
    "soak_minutes": (0, 43_200),
    "retention_days": (1, 3650),
}
FIELDS = (
    *("title", "order", "permissions", "highest_risk", "lowest_stability"),
    *("approvals_low", "approvals_medium", "approvals_high"),
    *("second_confirmation", "outside_approval", "owner_may_start"),
    *("call_confirmation", "script_confirmation", "needs_idempotency", "needs_evaluation"),
    *("soak_minutes", "retention_days"),
)


class PolicyWrong(Exception):
    """Values that no environment can have; `errors` says what is wrong with each field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(" ".join(errors.values()))
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Difference:
    """A field, what it was, and what it is or would be."""

    field: str
    before: Any
    after: Any


def terms_of(environment: Environment) -> dict[str, Any]:
    """Title, place and policy of the environment as plain values."""
    terms = {name: getattr(environment, name) for name in FIELDS}
    return {**terms, "permissions": in_one_order(environment.permissions)}


def in_one_order(permissions: Sequence[str]) -> list[str]:
    """Permissions in the order of the manifest; others after them, by name."""
    known = [name for name in PERMISSIONS if name in permissions]
    return [*known, *sorted(set(permissions) - set(known))]


def compare(before: Terms, after: Terms) -> tuple[Difference, ...]:
    """The fields that both name and in which they differ."""
    return tuple(
        Difference(name, before[name], after[name])
        for name in FIELDS
        if name in before and name in after and before[name] != after[name]
    )


def fill(environment: Environment, terms: Terms) -> None:
    """Give the row these values; raises PolicyWrong with all that is wrong."""
    unknown = {name: f"{name} is no field of a policy." for name in terms if name not in FIELDS}
    for name in FIELDS:
        if name in terms:
            setattr(environment, name, terms[name])
    errors = {**unknown, **_find_faults(environment)}
    if errors:
        raise PolicyWrong(errors)
    environment.permissions = in_one_order(environment.permissions)


def _find_faults(environment: Environment) -> dict[str, str]:
    errors = {}
    try:
        environment.clean_fields(exclude={"permissions"})
    except ValidationError as fault:
        errors = {name: f"{name}: {' '.join(messages)}" for name, messages in fault.message_dict.items()}
    if not NAME.fullmatch(environment.name) or len(environment.name) > 32 or environment.name in RESERVED:
        errors["name"] = (
            f"{environment.name[:64]!r} is no name of an environment; use at most 32 of a-z, 0-9 and single "
            f"hyphens, and not {', '.join(sorted(RESERVED))}."
        )
    if not set(environment.permissions) <= set(PERMISSIONS):
        errors["permissions"] = f"permissions are some of {', '.join(PERMISSIONS)}."
    for name, (least, most) in LIMITS.items():
        if name not in errors and not least <= getattr(environment, name) <= most:
            errors[name] = f"{name} is not a whole number from {least} to {most}."
    if "title" not in errors and not (environment.title.strip() and environment.title.isprintable()):
        errors["title"] = "title is a line of text that can be read."
    return errors
