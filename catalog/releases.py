"""The writer of releases, beside `rollbacks`. Each change is conditional, journaled, and needs a `Clearance`.

A clearance says who may make the change, under which policy, past which gates, and for which
bytes; only `governance.approvals` makes one. A change whose release is no longer in a state that
the change starts from raises `WrongState`: of two people who click at once, one is told so.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from catalog.clearance import Clearance
from catalog.journal import Actor
from catalog.models import Approval, Environment, Release, State, User, Version
from catalog.revisions import revise as revise
from catalog.transitions import STARTS_FROM as STARTS_FROM
from catalog.transitions import NotCleared as NotCleared
from catalog.transitions import WrongState as WrongState
from catalog.transitions import check, fetch, find_live, lock_environment, move, write_down

PROPOSAL_DAYS = 14


def propose(
    *,
    version: Version,
    environment: Environment,
    clearance: Clearance,
    actor: Actor,
    now: datetime,
    note: str = "",
    canary: Mapping[str, Any] | None = None,
) -> Release:
    """Open a release of the version in the environment, in the state proposed.

    Raises WrongState where one of this version is open there already, or the version is yanked or
    revoked or its skill deleted; NotCleared for a clearance of something else.
    """
    with transaction.atomic():
        where = lock_environment(environment)
        fresh = Version.objects.select_related("skill__team").get(pk=version.pk)
        _refuse_withdrawn(fresh)
        release = Release(
            environment=where,
            skill=fresh.skill,
            version=fresh,
            seed=secrets.token_hex(8),
            canary=dict(canary or {}),
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


def _refuse_withdrawn(version: Version) -> None:
    """Raises WrongState for a version that no new session is to see."""
    if version.revoked_at or version.yanked_at:
        raise WrongState(f"Version {version.version} is {'revoked' if version.revoked_at else 'yanked'}.")
    if version.skill.deleted_at:
        raise WrongState(f"The skill {version.skill.name} is deleted.")


def add_approval(
    *,
    release: Release,
    clearance: Clearance,
    needed: int,
    confirmed: bool,
    bound_to: str,
    actor: Actor,
    now: datetime,
    note: str = "",
) -> Release:
    """Count the actor's approval; the release is approved once `needed` of them hold.

    Approvals bound to something else than `bound_to` are void (spec 4.2), and a release that is
    approved by such is approved anew. Raises WrongState where the release is neither proposed nor
    approved by void approvals, is overdue, or the actor has approved it already.
    """
    with transaction.atomic():
        fresh = fetch(release, "approve", clearance)
        _refuse_overdue(fresh, now)
        Approval.objects.filter(release=fresh, voided_at=None).exclude(bound_to=bound_to).update(
            voided_at=now
        )
        held = Approval.objects.filter(release=fresh, voided_at=None)
        if fresh.state == State.APPROVED and held.count() >= needed:
            raise WrongState("This release is approved already; start it.")
        try:
            with transaction.atomic():
                Approval.objects.create(
                    release=fresh,
                    user=_person(actor),
                    note=note,
                    confirmed=confirmed,
                    bound_to=bound_to,
                    created_at=now,
                )
        except IntegrityError as clash:
            raise WrongState("You have approved this release already.") from clash
        target = State.APPROVED if held.count() >= needed else State.PROPOSED
        move(fresh, "approve", target, clearance, actor, note, now)
    return fresh


def _person(actor: Actor) -> User:
    if actor.user is None:
        raise NotCleared("Only a person approves.")
    return actor.user


def clear(*, release: Release, clearance: Clearance, actor: Actor, now: datetime) -> Release:
    """Approve a release whose environment asks for no approval."""
    return _close(release, "approve", State.APPROVED, clearance, actor, "No approval is needed here.", now)


def reject(*, release: Release, clearance: Clearance, actor: Actor, reason: str, now: datetime) -> Release:
    """Close a proposal for good."""
    return _close(release, "reject", State.REJECTED, clearance, actor, reason, now)


def withdraw(*, release: Release, clearance: Clearance, actor: Actor, reason: str, now: datetime) -> Release:
    """Take a proposal back."""
    return _close(release, "withdraw", State.WITHDRAWN, clearance, actor, reason, now)


def expire(*, release: Release, clearance: Clearance, actor: Actor, now: datetime) -> Release:
    """Close a proposal that nobody decided within its 14 days."""
    return _close(release, "expire", State.EXPIRED, clearance, actor, "Nobody decided in time.", now)


def start(
    *,
    release: Release,
    clearance: Clearance,
    percent: int,
    actor: Actor,
    now: datetime,
    replaced: Clearance | None = None,
) -> Release:
    """Serve an approved release to `percent` of the callers.

    At 100 it is live, and the one that was is superseded, on the clearance `replaced`.
    """
    return _serve(release, "start", clearance, replaced, percent, actor, now)


def advance(
    *,
    release: Release,
    clearance: Clearance,
    percent: int,
    actor: Actor,
    now: datetime,
    replaced: Clearance | None = None,
) -> Release:
    """Move a canary to another percentage; at 100 as `start`."""
    return _serve(release, "advance", clearance, replaced, percent, actor, now)


def halt(*, release: Release, clearance: Clearance, actor: Actor, reason: str, now: datetime) -> Release:
    """Stop a canary: every caller is served the stable version again."""
    with transaction.atomic():
        fresh = fetch(release, "halt", clearance)
        move(fresh, "halt", State.HALTED, clearance, actor, reason, now, percent=0)
        _revise(fresh, now)
    return fresh


def _serve(
    release: Release,
    action: str,
    clearance: Clearance,
    replaced: Clearance | None,
    percent: int,
    actor: Actor,
    now: datetime,
) -> Release:
    if not 1 <= percent <= 100:
        raise ValueError("A release is served to 1 to 100 percent of the callers.")
    with transaction.atomic():
        fresh = fetch(release, action, clearance)
        _refuse_withdrawn(fresh.version)
        _refuse_overdue(fresh, now)
        try:
            with transaction.atomic():
                _take_place(fresh, action, clearance, replaced, percent, actor, now)
        except IntegrityError as clash:
            raise WrongState(
                f"Another canary of {fresh.skill.name} runs in {fresh.environment.title}; halt it or let it finish."
            ) from clash
        _revise(fresh, now)
    return fresh


def _take_place(
    release: Release,
    action: str,
    clearance: Clearance,
    replaced: Clearance | None,
    percent: int,
    actor: Actor,
    now: datetime,
) -> None:
    if percent < 100:
        move(release, action, State.CANARY, clearance, actor, f"{percent} %", now, percent=percent)
        return
    live = find_live(release)
    if live is not None:
        if replaced is None:
            raise NotCleared("What is replaced needs a clearance of its own.")
        check(replaced, live, "supersede")
        reason = f"Replaced by {release.version.version}."
        move(live, "supersede", State.SUPERSEDED, replaced, actor, reason, now, percent=0)
        release.previous = live.version
    move(release, action, State.LIVE, clearance, actor, "", now, percent=100)


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


def _refuse_overdue(release: Release, now: datetime) -> None:
    """A proposal ends after its 14 days, whether or not the job that closes it has run."""
    if release.state in {State.PROPOSED, State.APPROVED} and now >= release.expires_at:
        raise WrongState("This proposal has expired; propose the version again.")


def _revise(release: Release, now: datetime) -> None:
    """What the environment serves has changed: agents see a new revision."""
    revise(environment=release.environment, folders=[release.skill.folder], now=now)
