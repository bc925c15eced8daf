"""What an environment's policy asks of a version: gates, approvals, confirmations. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256

from catalog.allowance import Allowance, tell_refused, tell_risk
from catalog.bundles.bundle import RISKS
from catalog.clearance import Gate

# What an administrator allows in the policy itself; nobody answers for these in a single case.
HARD_GATES = frozenset({"permissions", "risk"})
# How much a version is to be relied on, least first.
STABILITIES = ("experimental", "deprecated", "stable")


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy columns of an environment (spec 4.1)."""

    permissions: tuple[str, ...]
    highest_risk: str
    lowest_stability: str
    approvals: tuple[int, int, int]
    second_confirmation: bool
    needs_idempotency: bool
    needs_evaluation: bool
    outside_approval: bool = False

    @property
    def allowance(self) -> Allowance:
        """What it allows a version at all."""
        return Allowance(self.permissions, self.highest_risk)

    @property
    def sha256(self) -> str:
        """A digest to which approvals are bound."""
        return sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Subject:
    """What the policy looks at of a version; `risk` is the effective one."""

    risk: str
    permissions: tuple[str, ...]
    stability: str
    prerelease: bool
    side_effects_unprotected: bool


@dataclass(frozen=True, slots=True)
class Needs:
    """How much review a release needs."""

    approvals: int
    confirmation: bool


def needs_of(policy: Policy, subject: Subject) -> Needs:
    """Approvals and second confirmation by environment and risk (spec 4.2)."""
    return Needs(
        approvals=policy.approvals[RISKS.index(subject.risk)],
        confirmation=policy.second_confirmation and subject.risk == "high",
    )


def gates_of(policy: Policy, subject: Subject) -> tuple[Gate, ...]:
    """The gates that policy and version alone decide; each says what it saw."""
    return (
        _permissions(policy, subject),
        _risk(policy, subject),
        _stability(policy, subject),
        _idempotency(policy, subject),
        _evaluation(policy),
    )


def _permissions(policy: Policy, subject: Subject) -> Gate:
    refused = policy.allowance.refused(subject.permissions)
    if refused:
        return Gate("permissions", False, tell_refused(refused))
    return Gate(
        "permissions", True, f"Asks for {_joined(subject.permissions) or 'no permission'}; allowed here."
    )


def _risk(policy: Policy, subject: Subject) -> Gate:
    detail = tell_risk(subject.risk, policy.highest_risk)
    return Gate("risk", policy.allowance.allows_risk(subject.risk), detail)


def _stability(policy: Policy, subject: Subject) -> Gate:
    lowest = STABILITIES.index(policy.lowest_stability)
    strict = lowest > 0
    passed = STABILITIES.index(subject.stability) >= lowest and not (strict and subject.prerelease)
    seen = f"{subject.stability}, a pre-release" if subject.prerelease else subject.stability
    asked = (
        policy.lowest_stability if lowest == len(STABILITIES) - 1 else f"at least {policy.lowest_stability}"
    )
    return Gate("stability", passed, f"The version is {seen}; {asked} is asked for here.")


def _idempotency(policy: Policy, subject: Subject) -> Gate:
    if not subject.side_effects_unprotected:
        return Gate("idempotency", True, "No side effect that a retry would repeat.")
    detail = "It writes or sends and does not say whether a retry repeats that."
    return Gate("idempotency", not policy.needs_idempotency, detail)


def _evaluation(policy: Policy) -> Gate:
    if policy.needs_evaluation:
        return Gate("evaluation", False, "An evaluation is asked for here, and none was reported.")
    return Gate("evaluation", True, "No evaluation is asked for here.")


def _joined(names: Iterable[str]) -> str:
    return ", ".join(names)
