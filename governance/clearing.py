"""What a release needs and has, and the clearance that follows: the only maker of `Clearance`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from django.utils.translation import gettext as _

from catalog.availability import missing_dependencies
from catalog.bundles.bundle import RISKS
from catalog.clearance import Clearance, Gate
from catalog.models import Approval, Environment, Override, Release, Version
from governance.gates import judge_gates, policy_of, subject_of
from governance.policy import HARD_GATES, Needs, needs_of


@dataclass(frozen=True, slots=True)
class Review:
    """Where a release stands: what it needs, which approvals hold and which no longer, and each gate."""

    needs: Needs
    approvals: tuple[Approval, ...]
    void: tuple[Approval, ...]
    gates: tuple[Gate, ...]

    @property
    def shut(self) -> tuple[Gate, ...]:
        """The gates that keep it from being served."""
        return tuple(gate for gate in self.gates if not gate.is_open)

    @property
    def overridden(self) -> tuple[Gate, ...]:
        """The gates that an override alone keeps open."""
        return tuple(gate for gate in self.gates if gate.overridden and not gate.passed)

    @property
    def lacks_approvals(self) -> bool:
        """Whether fewer approvals hold than it needs."""
        return len(self.approvals) < self.needs.approvals


def review(release: Release) -> Review:
    """What the release needs and has, as of now."""
    given = release.approvals.filter(voided_at=None).select_related("user", "right_of").order_by("created_at")
    return judge(
        release,
        missing_dependencies(release.version, release.environment),
        approvals=given,
        overrides=release.overrides.select_related("user"),
    )


def judge(
    release: Release, missing: Sequence[str], *, approvals: Iterable[Approval], overrides: Iterable[Override]
) -> Review:
    """The same where it is known which dependencies are missing, who approved, and who answers for what."""
    bound = bound_to(release.version, release.environment)
    answered = {(one.gate, one.detail, one.bound_to): one for one in overrides}
    gates = tuple(_overridden(judge_gates(release.version, release.environment, missing), answered, bound))
    given = tuple(approvals)
    held = tuple(one for one in given if holds(one, release, gates))
    return Review(
        needs=needs_of(policy_of(release.environment), subject_of(release.version)),
        approvals=held,
        void=tuple(one for one in given if one not in held),
        gates=gates,
    )


def holds(approval: Approval, release: Release, gates: Iterable[Gate]) -> bool:
    """Whether an approval is for what the release is now: nothing has become worse since (spec 4.2).

    Release and approval come with what they refer to.
    """
    shut = {gate.name for gate in gates if not gate.is_open}
    no_worse = RISKS[RISKS.index(release.version.effective_risk) :]
    same = any(
        approval.bound_to == bound_to(release.version, release.environment, risk=risk) for risk in no_worse
    )
    return approval.voided_at is None and same and not shut.intersection(approval.gates)


def bound_to(version: Version, environment: Environment, *, risk: str = "") -> str:
    """A digest of what approvals and overrides are for: bytes, declaration, risk, environment, policy.

    Where approvers have to be from outside, the owning team too: whoever was outside of one may be
    inside of the next.
    `risk` is the one that it was given at, where that is not the effective one of now.
    """
    told = [
        version.bundle_sha256,
        version.declaration_sha256,
        risk or version.effective_risk,
        environment.name,
        policy_of(environment).sha256,
        *([str(version.skill.team_id)] if environment.outside_approval else []),
    ]
    return sha256(json.dumps(told).encode()).hexdigest()


def clearance_for(
    action: str, version: Version, environment: Environment, seen: Review | None = None
) -> Clearance:
    """Leave for one change of a release of the version; `seen` is what was checked of it."""
    return Clearance(
        action=action,
        environment=environment.name,
        bundle_sha256=version.bundle_sha256,
        declaration_sha256=version.declaration_sha256,
        gates=seen.gates if seen else (),
        approvals=tuple(approval.user.username for approval in seen.approvals) if seen else (),
    )


def force(seen: Review, *, by: str, reason: str) -> Review:
    """The review with its shut gates opened by somebody who breaks the glass; hard ones stay shut."""
    told = _("Glass broken by %(user)s: %(reason)s") % {"user": by, "reason": reason}
    gates = (
        gate if gate.is_open or gate.name in HARD_GATES else replace(gate, overridden=told)
        for gate in seen.gates
    )
    return replace(seen, gates=tuple(gates))


def _overridden(
    gates: Iterable[Gate], overrides: Mapping[tuple[str, str, str], Override], bound: str
) -> Iterable[Gate]:
    """The gates, with who answers for those that are shut as they were when somebody said so."""
    for gate in gates:
        one = overrides.get((gate.name, gate.detail, bound))
        counts = one is not None and not gate.passed and gate.name not in HARD_GATES
        yield replace(gate, overridden=f"{one.user.username}: {one.reason}") if one and counts else gate
