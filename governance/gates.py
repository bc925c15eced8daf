"""The gates of a release: what must hold before a version is served in an environment."""

from __future__ import annotations

from collections.abc import Sequence

from catalog.availability import missing_dependencies
from catalog.clearance import Gate
from catalog.models import Environment, Version
from governance.policy import Policy, Subject, gates_of

SIDE_EFFECTS = {"send", "filesystem.write"}


def policy_of(environment: Environment) -> Policy:
    """The policy columns of the environment."""
    return Policy(
        permissions=tuple(sorted(environment.permissions)),
        highest_risk=environment.highest_risk,
        lowest_stability=environment.lowest_stability,
        approvals=(environment.approvals_low, environment.approvals_medium, environment.approvals_high),
        second_confirmation=environment.second_confirmation,
        needs_idempotency=environment.needs_idempotency,
        needs_evaluation=environment.needs_evaluation,
        outside_approval=environment.outside_approval,
    )


def subject_of(version: Version) -> Subject:
    """What a policy looks at of a version."""
    silent = version.fields.get("has_manifest") and version.fields["idempotency"]["declared"] is None
    return Subject(
        risk=version.effective_risk,
        permissions=tuple(sorted(version.permissions)),
        stability="deprecated" if version.deprecated_at else version.stability,
        prerelease=version.prerelease,
        side_effects_unprotected=bool(silent and SIDE_EFFECTS & set(version.permissions)),
    )


def check_gates(version: Version, environment: Environment) -> tuple[Gate, ...]:
    """Every gate with what it saw; a release starts only when all of them hold."""
    return judge_gates(version, environment, missing_dependencies(version, environment))


def judge_gates(version: Version, environment: Environment, missing: Sequence[str]) -> tuple[Gate, ...]:
    """The same where it is known already which dependencies are missing, as of many releases at once."""
    return (*gates_of(policy_of(environment), subject_of(version)), _dependencies(missing))


def _dependencies(missing: Sequence[str]) -> Gate:
    if missing:
        return Gate("dependencies", False, " ".join(missing))
    return Gate("dependencies", True, "Every skill that it depends on is live here.")
