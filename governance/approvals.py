"""Deciding on releases: who may, past which gates, and with how many approvals.

Each function locks the release, checks the right and the gates on what it then sees, and hands
`catalog.releases` the clearance for the change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db import transaction

from catalog import access, releases, rollbacks
from catalog.access import NotAllowed, Powers
from catalog.clearance import Clearance, Gate
from catalog.journal import Actor
from catalog.models import Approval, Environment, Release, State, Version
from catalog.transitions import find_live, lock, lock_environment
from governance.gates import check_gates, policy_of, subject_of
from governance.policy import Needs, needs_of


class NotConfirmed(Exception):
    """The second confirmation is missing: the skill's name, typed."""


class ReasonMissing(Exception):
    """The action needs a reason and none was given."""


@dataclass(frozen=True, slots=True)
class Review:
    """Where a release stands: what it needs, which approvals hold, and each gate."""

    needs: Needs
    approvals: tuple[Approval, ...]
    gates: tuple[Gate, ...]

    @property
    def shut(self) -> tuple[Gate, ...]:
        """The gates that keep it from being served."""
        return tuple(gate for gate in self.gates if not gate.passed)


def review(release: Release) -> Review:
    """What the release needs and has, as of now."""
    bound = _bound_to(release.version, release.environment)
    held = (
        release.approvals.filter(voided_at=None, bound_to=bound).select_related("user").order_by("created_at")
    )
    return Review(
        needs=needs_of(policy_of(release.environment), subject_of(release.version)),
        approvals=tuple(held),
        gates=check_gates(release.version, release.environment),
    )


def propose(
    *,
    version: Version,
    environment: Environment,
    actor: Actor,
    now: datetime,
    note: str = "",
    canary: Mapping[str, Any] | None = None,
) -> Release:
    """Propose a release; where the environment asks for no approval it goes live at once.

    Raises NotAllowed, and WrongState where a release of the version is open there already.
    """
    with transaction.atomic():
        where = lock_environment(environment)
        allowed = _powers(actor).may_propose(version.skill, where)
        _ask("" if allowed else f"Proposing needs the role publisher in {version.skill.team.name}.")
        release = releases.propose(
            version=version,
            environment=where,
            clearance=_clearance("propose", version, where),
            actor=actor,
            note=note,
            canary=canary,
            now=now,
        )
        seen = review(release)
        if seen.needs.approvals == 0:
            release = releases.clear(
                release=release, clearance=_clearance("approve", version, where), actor=actor, now=now
            )
            if not seen.shut and _powers(actor).may_start(release):
                release = start(release=release, actor=actor, now=now)
    return release


def approve(*, release: Release, actor: Actor, now: datetime, note: str = "", confirm: str = "") -> Release:
    """Give the actor's approval; the release is approved when enough of them hold.

    Raises NotAllowed (four eyes), NotConfirmed where the skill's name has to be typed, WrongState.
    """
    with transaction.atomic():
        fresh = lock(release)
        _ask(_may_decide(fresh, actor))
        needs = review(fresh).needs
        if needs.confirmation and confirm not in {fresh.skill.name, fresh.skill.folder}:
            raise NotConfirmed(
                f"Type {fresh.skill.name} to confirm a high-risk release to {fresh.environment.title}."
            )
        return releases.add_approval(
            release=fresh,
            clearance=_clearance("approve", fresh.version, fresh.environment),
            needed=needs.approvals,
            confirmed=needs.confirmation,
            bound_to=_bound_to(fresh.version, fresh.environment),
            actor=actor,
            note=note,
            now=now,
        )


def reject(*, release: Release, actor: Actor, reason: str, now: datetime) -> Release:
    """Close a proposal. Raises NotAllowed, ReasonMissing, WrongState."""
    with transaction.atomic():
        fresh = lock(release)
        _ask(_may_decide(fresh, actor))
        clearance = _clearance("reject", fresh.version, fresh.environment)
        return releases.reject(
            release=fresh, clearance=clearance, actor=actor, reason=_reason(reason), now=now
        )


def withdraw(*, release: Release, actor: Actor, now: datetime, reason: str = "") -> Release:
    """Take a proposal back. Raises NotAllowed, WrongState."""
    with transaction.atomic():
        fresh = lock(release)
        allowed = _powers(actor).may_withdraw(fresh)
        _ask("" if allowed else f"Withdrawing needs the role publisher in {fresh.skill.team.name}.")
        clearance = _clearance("withdraw", fresh.version, fresh.environment)
        return releases.withdraw(release=fresh, clearance=clearance, actor=actor, reason=reason, now=now)


def start(*, release: Release, actor: Actor, now: datetime, percent: int | None = None) -> Release:
    """Serve an approved release, to all or to `percent` of the callers.

    Raises NotAllowed; WrongState, also where approvals are void by now; NotCleared at a shut gate.
    """
    return _serve("start", release, percent, actor, now)


def advance(*, release: Release, actor: Actor, now: datetime, percent: int) -> Release:
    """Move a canary to another percentage; raises as `start` does."""
    return _serve("advance", release, percent, actor, now)


def halt(*, release: Release, actor: Actor, reason: str, now: datetime) -> Release:
    """Stop a canary. Raises NotAllowed, ReasonMissing, WrongState."""
    with transaction.atomic():
        fresh = lock(release)
        _ask(_may_stop(fresh, actor))
        clearance = _clearance("halt", fresh.version, fresh.environment)
        return releases.halt(release=fresh, clearance=clearance, actor=actor, reason=_reason(reason), now=now)


def roll_back(*, release: Release, actor: Actor, reason: str, now: datetime) -> Release:
    """Take a live release out, and put back the one before where its gates are open now.

    Raises NotAllowed, ReasonMissing, WrongState.
    """
    with transaction.atomic():
        fresh = lock(release)
        _ask(_may_stop(fresh, actor))
        before = rollbacks.find_restorable(fresh)
        return rollbacks.roll_back(
            release=fresh,
            clearance=_clearance("rollback", fresh.version, fresh.environment),
            restore=_clearance("restore", before.version, fresh.environment, review(before))
            if before
            else None,
            actor=actor,
            reason=_reason(reason),
            now=now,
        )


def expire_proposals(*, now: datetime) -> int:
    """Close the proposals that nobody decided in time; answers how many."""
    late = Release.objects.filter(state__in=(State.PROPOSED, State.APPROVED), expires_at__lte=now)
    closed = 0
    for release in late.select_related("environment", "version"):
        clearance = _clearance("expire", release.version, release.environment)
        try:
            releases.expire(release=release, clearance=clearance, actor=Actor.system("scheduler"), now=now)
            closed += 1
        except releases.WrongState:
            continue
    return closed


def why_not_decide(release: Release, powers: Powers) -> str:
    """Why this user cannot approve or reject the release; "" where they can."""
    if powers.may_decide(release):
        return ""
    if not powers.is_approver_of(release):
        return f"Deciding needs the role approver for {release.environment.title}."
    if release.proposer_id == powers.user_id:
        return "You proposed this release; another approver decides."
    return "You published this version; another approver decides."


def _serve(action: str, release: Release, percent: int | None, actor: Actor, now: datetime) -> Release:
    with transaction.atomic():
        fresh = lock(release)
        if not _powers(actor).may_start(fresh):
            raise NotAllowed(why_not_decide(fresh, _powers(actor)))
        seen = review(fresh)
        if fresh.state in VOIDED and len(seen.approvals) < seen.needs.approvals:
            raise releases.WrongState(VOIDED[State(fresh.state)])
        share = _first_share(fresh.canary) if percent is None else percent
        clearance = _clearance(action, fresh.version, fresh.environment, seen)
        live = find_live(fresh)
        replaced = _clearance("supersede", live.version, fresh.environment) if live else None
        writer = releases.start if action == "start" else releases.advance
        return writer(
            release=fresh, clearance=clearance, replaced=replaced, percent=share, actor=actor, now=now
        )


# Of a release whose approvals no longer hold: what it needs.
VOIDED: Mapping[State, str] = {
    State.APPROVED: "Its approvals are void, since the policy or the risk has changed; it needs new ones.",
    State.CANARY: (
        "Its approvals are void, since the policy or the risk has changed; halt it and propose the version again."
    ),
}


def _first_share(plan: Mapping[str, Any]) -> int:
    """The percentage that a release starts with: that of its plan, or its first step, else all."""
    steps = plan.get("steps") or [100]
    return int(plan.get("percent") or steps[0])


def _may_decide(release: Release, actor: Actor) -> str:
    return why_not_decide(release, _powers(actor))


def _may_stop(release: Release, actor: Actor) -> str:
    if _powers(actor).may_stop(release):
        return ""
    where = release.environment.title
    return f"This needs an approver for {where} or a publisher in {release.skill.team.name}."


def _ask(refusal: str) -> None:
    if refusal:
        raise NotAllowed(refusal)


def _reason(text: str) -> str:
    if not text.strip():
        raise ReasonMissing("Give a reason; it is kept with the release.")
    return text.strip()


def _powers(actor: Actor) -> Powers:
    return access.powers_of(actor.user)


def _bound_to(version: Version, environment: Environment) -> str:
    """What an approval is for; anything else than this makes it void (spec 4.2)."""
    told = [
        version.bundle_sha256,
        version.declaration_sha256,
        version.effective_risk,
        environment.name,
        policy_of(environment).sha256,
    ]
    return sha256(json.dumps(told).encode()).hexdigest()


def _clearance(
    action: str, version: Version, environment: Environment, seen: Review | None = None
) -> Clearance:
    return Clearance(
        action=action,
        environment=environment.name,
        bundle_sha256=version.bundle_sha256,
        declaration_sha256=version.declaration_sha256,
        gates=seen.gates if seen else (),
        approvals=tuple(approval.user.username for approval in seen.approvals) if seen else (),
    )


def holds(approval: Approval, release: Release) -> bool:
    """Whether an approval is for what the release is now; both with what they refer to."""
    return approval.voided_at is None and approval.bound_to == _bound_to(release.version, release.environment)
