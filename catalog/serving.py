"""What agents get of releases: start, advance, resume, halt, hold, and breaking the glass.

Part of the one writer of releases (`releases`): each change is conditional, journaled, needs a
`Clearance`, and gives the environment its next revision.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from catalog.canaries import plan_of
from catalog.clearance import Clearance
from catalog.journal import Actor
from catalog.models import Release, State
from catalog.revisions import revise
from catalog.transitions import (
    OPEN,
    NotCleared,
    WrongState,
    check,
    fetch,
    find_live,
    move,
    refuse_overdue,
    refuse_withdrawn,
)


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


def resume(
    *,
    release: Release,
    clearance: Clearance,
    percent: int,
    actor: Actor,
    now: datetime,
    replaced: Clearance | None = None,
) -> Release:
    """Serve a halted canary again; at 100 as `start`."""
    return _serve(release, "resume", clearance, replaced, percent, actor, now)


def break_glass(
    *,
    release: Release,
    clearance: Clearance,
    actor: Actor,
    reason: str,
    now: datetime,
    replaced: Clearance | None = None,
) -> Release:
    """Make it live for all at once, whatever approvals it lacks; the clearance says past which gates."""
    return _serve(release, "break_glass", clearance, replaced, 100, actor, now, reason)


def hold(
    *, release: Release, clearance: Clearance, actor: Actor, reason: str, now: datetime, is_new: bool
) -> Release:
    """Leave a canary where it is, and try its next step after another soak; a reason is written down once."""
    with transaction.atomic():
        fresh = fetch(release, "hold", clearance)
        later = now + timedelta(minutes=max(plan_of(fresh.canary).soak_minutes, 1))
        if is_new:
            move(fresh, "hold", State.CANARY, clearance, actor, reason, now, next_step_at=later)
        else:
            Release.objects.filter(pk=fresh.pk, state=State.CANARY).update(next_step_at=later)
    return fresh


def halt(*, release: Release, clearance: Clearance, actor: Actor, reason: str, now: datetime) -> Release:
    """Stop a canary: every caller is served the stable version again."""
    with transaction.atomic():
        fresh = fetch(release, "halt", clearance)
        move(fresh, "halt", State.HALTED, clearance, actor, reason, now)
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
    reason: str = "",
) -> Release:
    least = 0 if plan_of(release.canary).has_cohort else 1
    if not least <= percent <= 100:
        raise ValueError(f"A release is served to {least} to 100 percent of the callers.")
    with transaction.atomic():
        fresh = fetch(release, action, clearance)
        refuse_withdrawn(fresh.version)
        refuse_overdue(fresh, now)
        try:
            with transaction.atomic():
                _take_place(fresh, action, clearance, replaced, percent, actor, now, reason)
        except IntegrityError as clash:
            raise WrongState(_what_is_in_the_way(fresh)) from clash
        _revise(fresh, now)
    return fresh


def _what_is_in_the_way(release: Release) -> str:
    skill, where = release.skill.name, release.environment.title
    beside = Release.objects.filter(skill=release.skill, environment=release.environment)
    again = beside.exclude(pk=release.pk).filter(version=release.version, state__in=OPEN).first()
    if again is None:
        return f"Another canary of {skill} runs in {where}; halt it or let it finish."
    if again.state == State.LIVE:
        return f"{skill} {release.version.version} is live in {where} already, by another release."
    return f"{skill} {release.version.version} was proposed anew in {where}; go on with that release."


def _take_place(
    release: Release,
    action: str,
    clearance: Clearance,
    replaced: Clearance | None,
    percent: int,
    actor: Actor,
    now: datetime,
    reason: str,
) -> None:
    if percent < 100:
        told, later = f"{percent} %", _next_step_at(release, percent, now)
        move(release, action, State.CANARY, clearance, actor, told, now, percent=percent, next_step_at=later)
        return
    live = find_live(release)
    if live is not None:
        if live.version_id == release.version_id:
            raise WrongState(_what_is_in_the_way(release))
        if replaced is None:
            raise NotCleared("What is replaced needs a clearance of its own.")
        check(replaced, live, "supersede")
        told = f"Replaced by {release.version.version}."
        move(live, "supersede", State.SUPERSEDED, replaced, actor, told, now, percent=0)
        release.previous = live.version
    move(release, action, State.LIVE, clearance, actor, reason, now, percent=100)


def _next_step_at(release: Release, percent: int, now: datetime) -> datetime | None:
    """When the schedule moves it on; None without further steps, or with a guard that decides instead."""
    plan = plan_of(release.canary)
    if plan.guard is not None or plan.next_step(percent) is None:
        return None
    return now + timedelta(minutes=plan.soak_minutes)


def _revise(release: Release, now: datetime) -> None:
    """What the environment serves has changed: agents see a new revision."""
    revise(environment=release.environment, folders=[release.skill.folder], now=now)
