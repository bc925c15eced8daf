"""The only writer of releases. Each change is conditional, journaled, and needs a `Clearance`.

A clearance says who may make the change, under which policy, past which gates, and for which
bytes; only `governance.approvals` makes one. A change whose release is no longer in a state that
the change starts from raises `WrongState`: of two people who click at once, one is told so.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F

from catalog import journal
from catalog.clearance import Clearance
from catalog.journal import Actor
from catalog.models import Approval, Environment, Release, Revision, State, Transition, User, Version

PROPOSAL_DAYS = 14

# action → the states it starts from. Where it leads is decided by the function of that name.
STARTS_FROM: Mapping[str, tuple[State, ...]] = {
    "approve": (State.PROPOSED, State.APPROVED),
    "reject": (State.PROPOSED, State.APPROVED),
    "withdraw": (State.PROPOSED, State.APPROVED),
    "expire": (State.PROPOSED, State.APPROVED),
    "start": (State.APPROVED,),
    "advance": (State.CANARY,),
    "halt": (State.CANARY,),
    "rollback": (State.LIVE,),
}


class WrongState(Exception):
    """The release is not, or no longer, in a state that the action starts from."""


class NotCleared(Exception):
    """The clearance is for other bytes, another declaration, environment or action."""


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
        _check(clearance, release, "propose")
        try:
            with transaction.atomic():
                release.save(force_insert=True)
        except IntegrityError as clash:
            raise WrongState(
                f"A release of {fresh.skill.name} {fresh.version} is open in {where.title} already."
            ) from clash
        _note(release, "propose", "", clearance, actor, note, now)
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
        fresh = _fetch(release, "approve", clearance)
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
        _move(fresh, "approve", target, clearance, actor, note, now)
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


def start(*, release: Release, clearance: Clearance, percent: int, actor: Actor, now: datetime) -> Release:
    """Serve an approved release to `percent` of the callers; at 100 it is live."""
    return _serve(release, "start", clearance, percent, actor, now)


def advance(*, release: Release, clearance: Clearance, percent: int, actor: Actor, now: datetime) -> Release:
    """Move a canary to another percentage; at 100 it is live."""
    return _serve(release, "advance", clearance, percent, actor, now)


def halt(*, release: Release, clearance: Clearance, actor: Actor, reason: str, now: datetime) -> Release:
    """Stop a canary: every caller is served the stable version again."""
    with transaction.atomic():
        fresh = _fetch(release, "halt", clearance)
        _move(fresh, "halt", State.HALTED, clearance, actor, reason, now, percent=0)
        _revise(fresh, now)
    return fresh


def roll_back(*, release: Release, clearance: Clearance, actor: Actor, reason: str, now: datetime) -> Release:
    """Take a live release out; the version that was live before it is live again, where there is one."""
    with transaction.atomic():
        fresh = _fetch(release, "rollback", clearance)
        _move(fresh, "rollback", State.ROLLED_BACK, clearance, actor, reason, now, percent=0)
        before = _restorable(fresh)
        if before is not None:
            _make_way(before, clearance, actor, now)
            _move(before, "restore", State.LIVE, clearance, actor, reason, now, percent=100)
        _revise(fresh, now)
    return fresh


def _restorable(release: Release) -> Release | None:
    """The release that the rolled-back one replaced, unless its version was taken back since."""
    return (
        Release.objects.select_for_update(of=("self",), no_key=True)
        .select_related("environment", "skill", "version")
        .filter(
            skill=release.skill,
            environment=release.environment,
            version=release.previous,
            state=State.SUPERSEDED,
            version__yanked_at=None,
            version__revoked_at=None,
        )
        .order_by("-changed_at")
        .first()
        if release.previous_id
        else None
    )


def _make_way(release: Release, clearance: Clearance, actor: Actor, now: datetime) -> None:
    """Close what was proposed anew of a version that is live again: one of each is open at most."""
    again = Release.objects.select_for_update(of=("self",), no_key=True).filter(
        version=release.version,
        environment=release.environment,
        state__in=(State.PROPOSED, State.APPROVED, State.CANARY),
    )
    for other in again.select_related("environment", "skill", "version"):
        reason = f"{release.version.version} is live again by a rollback."
        canary = other.state == State.CANARY
        action, target = ("halt", State.HALTED) if canary else ("withdraw", State.WITHDRAWN)
        _move(other, action, target, clearance, actor, reason, now, percent=0)


def _serve(
    release: Release, action: str, clearance: Clearance, percent: int, actor: Actor, now: datetime
) -> Release:
    if not 1 <= percent <= 100:
        raise ValueError("A release is served to 1 to 100 percent of the callers.")
    with transaction.atomic():
        fresh = _fetch(release, action, clearance)
        _refuse_withdrawn(fresh.version)
        _refuse_overdue(fresh, now)
        try:
            with transaction.atomic():
                _take_place(fresh, action, clearance, percent, actor, now)
        except IntegrityError as clash:
            raise WrongState(
                f"Another canary of {fresh.skill.name} runs in {fresh.environment.title}; halt it or let it finish."
            ) from clash
        _revise(fresh, now)
    return fresh


def _take_place(
    release: Release, action: str, clearance: Clearance, percent: int, actor: Actor, now: datetime
) -> None:
    if percent < 100:
        _move(release, action, State.CANARY, clearance, actor, f"{percent} %", now, percent=percent)
        return
    live = (
        Release.objects.select_for_update(of=("self",), no_key=True)
        .select_related("environment", "skill", "version")
        .filter(skill=release.skill, environment=release.environment, state=State.LIVE)
        .first()
    )
    if live is not None:
        reason = f"Replaced by {release.version.version}."
        _move(live, "supersede", State.SUPERSEDED, clearance, actor, reason, now, percent=0)
        release.previous = live.version
    _move(release, action, State.LIVE, clearance, actor, "", now, percent=100)


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
        fresh = _fetch(release, action, clearance)
        _move(fresh, action, target, clearance, actor, reason, now)
    return fresh


def lock_environment(environment: Environment) -> Environment:
    """The environment as it is now, locked until the transaction ends.

    Changes of one environment come one after another; every other lock is taken after this one.
    """
    return Environment.objects.select_for_update(no_key=True).get(pk=environment.pk)


def lock(release: Release) -> Release:
    """The release as it is now, locked until the transaction ends."""
    lock_environment(release.environment)
    fresh = (
        Release.objects.select_for_update(of=("self",), no_key=True)
        .select_related("environment", "skill__team", "version", "proposer")
        .get(pk=release.pk)
    )
    fresh.version.skill = fresh.skill
    return fresh


def _fetch(release: Release, action: str, clearance: Clearance) -> Release:
    """The locked release; raises WrongState or NotCleared."""
    fresh = lock(release)
    if fresh.state not in STARTS_FROM[action]:
        raise WrongState(f"This release {SAID[fresh.state]}; it cannot be {DONE[action]} now.")
    _check(clearance, fresh, action)
    return fresh


SAID: Mapping[str, str] = {
    State.PROPOSED: "waits for approval",
    State.APPROVED: "is approved and not started",
    State.CANARY: "is a canary",
    State.LIVE: "is live",
    State.REJECTED: "was rejected",
    State.HALTED: "was halted",
    State.ROLLED_BACK: "was rolled back",
    State.SUPERSEDED: "was superseded",
    State.WITHDRAWN: "was withdrawn",
    State.EXPIRED: "has expired",
}
DONE: Mapping[str, str] = {
    "approve": "approved",
    "reject": "rejected",
    "withdraw": "withdrawn",
    "expire": "closed as expired",
    "start": "started",
    "advance": "advanced",
    "halt": "halted",
    "rollback": "rolled back",
}


def _refuse_overdue(release: Release, now: datetime) -> None:
    """A proposal ends after its 14 days, whether or not the job that closes it has run."""
    if release.state in {State.PROPOSED, State.APPROVED} and now >= release.expires_at:
        raise WrongState("This proposal has expired; propose the version again.")


def _check(clearance: Clearance, release: Release, action: str) -> None:
    """Nothing fails open: the clearance is for this very change, and no gate of it is shut."""
    told = (
        clearance.action,
        clearance.environment,
        clearance.bundle_sha256,
        clearance.declaration_sha256,
    )
    meant = (action, release.environment.name, release.bundle_sha256, release.declaration_sha256)
    if told != meant:
        raise NotCleared(f"The clearance is for {told}, the change is {meant}.")
    shut = [gate.name for gate in clearance.gates if not gate.passed]
    if action in {"start", "advance"} and (shut or not clearance.gates):
        raise NotCleared(f"These gates are shut: {', '.join(shut) or 'none was checked'}.")


def _move(
    release: Release,
    action: str,
    target: State,
    clearance: Clearance,
    actor: Actor,
    reason: str,
    now: datetime,
    percent: int | None = None,
) -> None:
    """Change the state if it is still the one that was read, and write down the transition."""
    before = release.state
    release.state, release.changed_at = target, now
    release.percent = release.percent if percent is None else percent
    moved = Release.objects.filter(pk=release.pk, state=before).update(
        state=target, percent=release.percent, previous=release.previous, changed_at=now
    )
    if not moved:
        raise WrongState("Somebody else has just changed this release.")
    _note(release, action, before, clearance, actor, reason, now)


def _note(
    release: Release,
    action: str,
    before: str,
    clearance: Clearance,
    actor: Actor,
    reason: str,
    now: datetime,
) -> None:
    Transition.objects.create(
        release=release,
        n=1 + (release.transitions.order_by("-n").values_list("n", flat=True).first() or 0),
        action=action,
        from_state=before,
        to_state=release.state,
        actor=actor.user,
        reason=reason,
        clearance=asdict(clearance),
        created_at=now,
    )
    journal.append(
        actor=actor,
        verb=f"release.{action}",
        target=f"{release.skill.name} {release.version.version} in {release.environment.name}",
        before={"state": before} if before else None,
        after={"state": release.state, "percent": release.percent, "reason": reason, "id": str(release.pk)},
        now=now,
    )


def _revise(release: Release, now: datetime) -> None:
    """What the environment serves has changed: agents see a new revision."""
    revise(environment=release.environment, folders=[release.skill.folder], now=now)


def revise(*, environment: Environment, folders: list[str], now: datetime) -> None:
    """Give the environment its next revision, which changes these skills; inside a transaction."""
    Environment.objects.filter(pk=environment.pk).update(revision=F("revision") + 1)
    environment.refresh_from_db(fields=["revision"])
    Revision.objects.create(environment=environment, n=environment.revision, changes=folders, created_at=now)
