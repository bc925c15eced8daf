"""Rollbacks: a live release goes, and the one before it comes back where it still may."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from catalog.clearance import Clearance
from catalog.journal import Actor
from catalog.models import Release, State
from catalog.revisions import revise
from catalog.transitions import NotCleared, check, fetch, lock_beside, move


def roll_back(
    *,
    release: Release,
    clearance: Clearance,
    restore: Clearance | None,
    actor: Actor,
    reason: str,
    now: datetime,
) -> Release:
    """Take a live release out; the one before it is live again, on a clearance of its own.

    Where a gate of `restore` is shut by now, or that version was taken back, the environment serves
    nothing of the skill, and the transition says why.
    """
    with transaction.atomic():
        fresh = fetch(release, "rollback", clearance)
        before = find_restorable(fresh)
        if before is not None and restore is None:
            raise NotCleared("What is put back needs a clearance of its own.")
        why = _why_not_restored(fresh, before, restore)
        told = f"{reason} {why}".strip()
        move(fresh, "rollback", State.ROLLED_BACK, clearance, actor, told, now, percent=0)
        if before is not None and restore is not None and not why:
            check(restore, before, "restore")
            _make_way(before, restore, actor, now)
            move(before, "restore", State.LIVE, restore, actor, reason, now, percent=100)
        revise(environment=fresh.environment, folders=[fresh.skill.folder], now=now)
    return fresh


def _why_not_restored(release: Release, before: Release | None, restore: Clearance | None) -> str:
    """A sentence where there was a version before that is not put back; "" else."""
    if release.previous is None:
        return ""
    name = release.previous.version
    if before is None or restore is None:
        return f"{name} is not put back: it was taken back since."
    shut = " ".join(gate.detail for gate in restore.shut)
    return f"{name} is not put back: {shut}" if shut else ""


def find_restorable(release: Release) -> Release | None:
    """The release that this one replaced, locked, unless its version was taken back since."""
    if release.previous_id is None:
        return None
    return (
        lock_beside(release)
        .filter(
            version=release.previous,
            state=State.SUPERSEDED,
            version__yanked_at=None,
            version__revoked_at=None,
        )
        .order_by("-changed_at")
        .first()
    )


def _make_way(release: Release, clearance: Clearance, actor: Actor, now: datetime) -> None:
    """Close what was proposed anew of a version that is live again: one of each is open at most."""
    again = lock_beside(release).filter(
        version=release.version, state__in=(State.PROPOSED, State.APPROVED, State.CANARY)
    )
    for other in again:
        reason = f"{release.version.version} is live again by a rollback."
        canary = other.state == State.CANARY
        action, target = ("halt", State.HALTED) if canary else ("withdraw", State.WITHDRAWN)
        move(other, action, target, clearance, actor, reason, now)
