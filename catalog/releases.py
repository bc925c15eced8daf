"""The writer of releases, beside `serving` and `rollbacks`: opens, decides and closes proposals.

Each change is conditional, journaled, and needs a `Clearance`, which says for which change and which
bytes it is and past which gates; only `governance.clearing` makes one. A change whose release is no
longer in a state that the change starts from raises `WrongState`: of two people who click at once,
one is told so.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q

from catalog.canaries import Plan
from catalog.clearance import Clearance, Gate
from catalog.journal import Actor
from catalog.models import Approval, Environment, Override, Release, State, User, Version
from catalog.transitions import STARTS_FROM as STARTS_FROM
from catalog.transitions import NotCleared as NotCleared
from catalog.transitions import WrongState as WrongState
from catalog.transitions import (
    check,
    fetch,
    lock_environment,
    move,
    refuse_overdue,
    refuse_withdrawn,
    write_down,
)

PROPOSAL_DAYS = 14


def propose(
    *,
    version: Version,
    environment: Environment,
    clearance: Clearance,
    actor: Actor,
    now: datetime,
    note: str = "",
    plan: Plan | None = None,
) -> Release:
    """Open a release of the version in the environment, in the state proposed.

    Raises WrongState where one of this version is open there already, or the version is yanked or
    revoked or its skill deleted; NotCleared for a clearance of something else.
    """
    with transaction.atomic():
        where = lock_environment(environment)
        fresh = Version.objects.select_related("skill__team").get(pk=version.pk)
        refuse_withdrawn(fresh)
        release = Release(
            environment=where,
            skill=fresh.skill,
            version=fresh,
            seed=secrets.token_hex(8),
            canary=plan.as_json() if plan else {},
            bundle_sha256=fresh.bundle_sha256,
            declaration_sha256=fresh.declaration_sha256,
            note=note,
            proposer=actor.user,
            proposed_at=now,
            changed_at=now,
            expires_at=now + timedelta(days=PROPOSAL_DAYS),
        )
        check(clearance, release, "propose")
        try:
            with transaction.atomic():
                release.save(force_insert=True)
        except IntegrityError as clash:
            raise WrongState(
                f"A release of {fresh.skill.name} {fresh.version} is open in {where.title} already."
            ) from clash
        write_down(release, "propose", "", clearance, actor, note, now)
    return release


def add_approval(
    *,
    release: Release,
    clearance: Clearance,
    needed: int,
    confirmed: bool,
    bound_to: str,
    right_of: User,
    void: Sequence[Approval],
    actor: Actor,
    now: datetime,
    note: str = "",
) -> Release:
    """Count the actor's approval; the release is approved once `needed` of them hold.

    `right_of` is whose right it uses: the actor's own, or that of who lent it. `void` are those that
    hold no longer; a release that was approved by such is approved anew (spec 4.2). Raises WrongState
    where the release is neither proposed nor approved by void approvals, is overdue, or the right has
    been used for it already.
    """
    with transaction.atomic():
        fresh = fetch(release, "approve", clearance)
        refuse_overdue(fresh, now)
        Approval.objects.filter(pk__in=[one.pk for one in void], voided_at=None).update(voided_at=now)
        held = Approval.objects.filter(release=fresh, voided_at=None)
        if fresh.state == State.APPROVED and held.count() >= needed:
            raise WrongState("This release is approved already; start it.")
        # Where less is needed than before, whoever approved may settle it with what is there.
        if held.count() < needed or not held.filter(Q(user=actor.user) | Q(right_of=right_of)).exists():
            try:
                with transaction.atomic():
                    Approval.objects.create(
                        release=fresh,
                        user=_person(actor),
                        note=note,
                        right_of=right_of,
                        gates=[gate.name for gate in clearance.gates if gate.is_open],
                        confirmed=confirmed,
                        bound_to=bound_to,
                        created_at=now,
                    )
            except IntegrityError as clash:
                raise WrongState(_approved_by(fresh, actor, right_of)) from clash
        target = State.APPROVED if held.count() >= needed else State.PROPOSED
        move(fresh, "approve", target, clearance, actor, note, now)
    return fresh


def _approved_by(release: Release, actor: Actor, right_of: User) -> str:
    """Who has used this right already."""
    used = release.approvals.filter(voided_at=None)
    if used.filter(user=actor.user).exists():
        return "You have approved this release already."
    if right_of != actor.user:
        return f"The right that {right_of} lent you has been used for this release already."
    taker = used.select_related("user").get(right_of=right_of).user
    return f"{taker} has approved this release already, with the right that you lent."


def _person(actor: Actor) -> User:
    if actor.user is None:
        raise NotCleared("Only a person approves.")
    return actor.user


def clear(*, release: Release, clearance: Clearance, actor: Actor, now: datetime) -> Release:
    """Approve a release whose environment asks for no approval."""
    return _close(release, "approve", State.APPROVED, clearance, actor, "No approval is needed here.", now)


def override(
    *,
    release: Release,
    gate: Gate,
    clearance: Clearance,
    bound_to: str,
    actor: Actor,
    reason: str,
    now: datetime,
) -> Release:
    """Answer for a shut gate; it counts as open while it and what `bound_to` digests stay as they are."""
    with transaction.atomic():
        fresh = fetch(release, "override", clearance)
        Override.objects.create(
            release=fresh,
            gate=gate.name,
            reason=reason,
            detail=gate.detail,
            bound_to=bound_to,
            user=_person(actor),
            created_at=now,
        )
        told = f"{gate.name}: {reason}"
        move(fresh, "override", State(fresh.state), clearance, actor, told, now, keep_schedule=True)
    return fresh


def reject(*, release: Release, clearance: Clearance, actor: Actor, reason: str, now: datetime) -> Release:
    """Close a proposal for good."""
    return _close(release, "reject", State.REJECTED, clearance, actor, reason, now)


def withdraw(*, release: Release, clearance: Clearance, actor: Actor, reason: str, now: datetime) -> Release:
    """Take a proposal back."""
    return _close(release, "withdraw", State.WITHDRAWN, clearance, actor, reason, now)


def expire(*, release: Release, clearance: Clearance, actor: Actor, now: datetime) -> Release:
    """Close a proposal that nobody decided within its 14 days."""
    return _close(release, "expire", State.EXPIRED, clearance, actor, "Nobody decided in time.", now)


def _close(
    release: Release,
    action: str,
    target: State,
    clearance: Clearance,
    actor: Actor,
    reason: str,
    now: datetime,
) -> Release:
    with transaction.atomic():
        fresh = fetch(release, action, clearance)
        move(fresh, action, target, clearance, actor, reason, now)
    return fresh
