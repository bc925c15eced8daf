"""One change of a release: from which states, on which clearance, and how it is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime

from django.db.models import QuerySet

from catalog import journal
from catalog.clearance import Clearance
from catalog.journal import Actor
from catalog.models import Environment, Release, State, Transition, Version

# action → the states it starts from. Where it leads is decided by the function of that name.
STARTS_FROM: Mapping[str, tuple[State, ...]] = {
    "approve": (State.PROPOSED, State.APPROVED),
    "reject": (State.PROPOSED, State.APPROVED),
    "withdraw": (State.PROPOSED, State.APPROVED),
    "expire": (State.PROPOSED, State.APPROVED),
    "start": (State.APPROVED,),
    "advance": (State.CANARY,),
    "halt": (State.CANARY,),
    "resume": (State.HALTED,),
    "hold": (State.CANARY,),
    "override": (State.PROPOSED, State.APPROVED, State.CANARY, State.HALTED),
    "break_glass": (State.PROPOSED, State.APPROVED, State.CANARY, State.HALTED),
    "rollback": (State.LIVE,),
    "supersede": (State.LIVE,),
    "restore": (State.SUPERSEDED,),
}
# Of a version one release at most is in one of these in an environment.
OPEN = (State.PROPOSED, State.APPROVED, State.CANARY, State.LIVE)
# Those after which agents are served the version: no gate may be shut.
SERVING = frozenset({"start", "advance", "resume", "break_glass", "restore"})


class WrongState(Exception):
    """The release is not, or no longer, in a state that the action starts from."""


class NotCleared(Exception):
    """The clearance is for other bytes, another declaration, environment or action."""


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


def fetch(release: Release, action: str, clearance: Clearance) -> Release:
    """The locked release; raises WrongState or NotCleared."""
    fresh = lock(release)
    refuse_state(fresh, action)
    check(clearance, fresh, action)
    return fresh


def refuse_state(release: Release, action: str) -> None:
    """Raises WrongState where the action does not start from the release's state."""
    if release.state not in STARTS_FROM[action]:
        raise WrongState(f"This release {SAID[release.state]}; it cannot be {DONE[action]} now.")


def refuse_withdrawn(version: Version) -> None:
    """Raises WrongState for a version that no new session is to see."""
    if version.revoked_at or version.yanked_at:
        raise WrongState(f"Version {version.version} is {'revoked' if version.revoked_at else 'yanked'}.")
    if version.skill.deleted_at:
        raise WrongState(f"The skill {version.skill.name} is deleted.")


def refuse_overdue(release: Release, now: datetime) -> None:
    """A proposal ends after its 14 days, whether or not the job that closes it has run."""
    if release.state in {State.PROPOSED, State.APPROVED} and now >= release.expires_at:
        raise WrongState("This proposal has expired; propose the version again.")


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
    "resume": "resumed",
    "hold": "held",
    "override": "overridden",
    "break_glass": "forced",
    "rollback": "rolled back",
    "supersede": "superseded",
    "restore": "put back",
}


def check(clearance: Clearance, release: Release, action: str) -> None:
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
    if action in SERVING and (clearance.shut or not clearance.gates):
        shut = ", ".join(gate.name for gate in clearance.shut)
        raise NotCleared(f"These gates are shut: {shut or 'none was checked'}.")


def move(
    release: Release,
    action: str,
    target: State,
    clearance: Clearance,
    actor: Actor,
    reason: str,
    now: datetime,
    percent: int | None = None,
    next_step_at: datetime | None = None,
    keep_schedule: bool = False,
) -> None:
    """Change the state if it is still the one that was read, and write down the transition.

    The schedule ends unless it is told when it goes on.
    """
    before = release.state
    release.state, release.changed_at = target, now
    release.percent = release.percent if percent is None else percent
    release.next_step_at = release.next_step_at if keep_schedule else next_step_at
    moved = Release.objects.filter(pk=release.pk, state=before).update(
        state=target,
        percent=release.percent,
        next_step_at=release.next_step_at,
        previous=release.previous,
        changed_at=now,
    )
    if not moved:
        raise WrongState("Somebody else has just changed this release.")
    write_down(release, action, before, clearance, actor, reason, now)


def write_down(
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


def find_live(release: Release) -> Release | None:
    """The release that this one would replace, locked."""
    return lock_beside(release).filter(state=State.LIVE).first()


def lock_beside(release: Release) -> QuerySet[Release]:
    """The releases of its skill in its environment, to be locked as they are read."""
    return (
        Release.objects.select_for_update(of=("self",), no_key=True)
        .select_related("environment", "skill", "version")
        .filter(skill=release.skill, environment=release.environment)
    )
