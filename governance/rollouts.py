"""What agents get of releases: who may start, move and stop them, past which gates, and the schedule.

Each function locks the release, checks the right, the approvals and the gates on what it then sees,
and hands `catalog.serving` the clearance for the change.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from django.db import transaction

from catalog import rollbacks, serving
from catalog.access import powers_of
from catalog.canaries import plan_of
from catalog.clearance import Clearance, Gate
from catalog.journal import Actor
from catalog.models import Release, State
from catalog.transitions import NotCleared, WrongState, find_live, lock, refuse_state
from governance.clearing import clearance_for, force, review
from governance.refusals import (
    VOIDED,
    ask,
    need_reason,
    why_held,
    why_not_break_glass,
    why_not_serve,
    why_not_stop,
)

WRITERS = {"start": serving.start, "advance": serving.advance, "resume": serving.resume}


def start(*, release: Release, actor: Actor, now: datetime, percent: int | None = None) -> Release:
    """Serve an approved release, to all or to `percent` of the callers.

    Raises NotAllowed; WrongState, also where approvals are void by now; NotCleared at a shut gate.
    """
    return _serve("start", release, percent, actor, now)


def advance(*, release: Release, actor: Actor, now: datetime, percent: int) -> Release:
    """Move a canary to another percentage; raises as `start` does."""
    return _serve("advance", release, percent, actor, now)


def resume(*, release: Release, actor: Actor, now: datetime, percent: int | None = None) -> Release:
    """Serve a halted canary again, to the share that it had or to `percent`; raises as `start` does."""
    return _serve("resume", release, percent, actor, now)


def halt(*, release: Release, actor: Actor, reason: str, now: datetime) -> Release:
    """Stop a canary. Raises NotAllowed, ReasonMissing, WrongState."""
    with transaction.atomic():
        fresh = lock(release)
        ask(why_not_stop(fresh, powers_of(actor.user, now=now)))
        clearance = clearance_for("halt", fresh.version, fresh.environment)
        return serving.halt(
            release=fresh, clearance=clearance, actor=actor, reason=need_reason(reason), now=now
        )


def roll_back(*, release: Release, actor: Actor, reason: str, now: datetime) -> Release:
    """Take a live release out, and put back the one before where its gates are open now.

    Raises NotAllowed, ReasonMissing, WrongState.
    """
    with transaction.atomic():
        fresh = lock(release)
        ask(why_not_stop(fresh, powers_of(actor.user, now=now)))
        before = rollbacks.find_restorable(fresh)
        return rollbacks.roll_back(
            release=fresh,
            clearance=clearance_for("rollback", fresh.version, fresh.environment),
            restore=_restore(before) if before else None,
            actor=actor,
            reason=need_reason(reason),
            now=now,
        )


def break_glass(*, release: Release, actor: Actor, reason: str, now: datetime) -> Release:
    """Make it live for all at once, without the approvals it lacks and past shut gates (spec 4.2).

    What the policy itself does not allow stays shut. Raises NotAllowed, ReasonMissing, WrongState,
    NotCleared.
    """
    with transaction.atomic():
        fresh = lock(release)
        ask(why_not_break_glass(fresh, powers_of(actor.user, now=now)))
        told = need_reason(reason)
        seen = force(review(fresh), by=actor.name, reason=told)
        return serving.break_glass(
            release=fresh,
            clearance=clearance_for("break_glass", fresh.version, fresh.environment, seen),
            replaced=_supersede(fresh),
            actor=actor,
            reason=told,
            now=now,
        )


def move_due(*, now: datetime) -> int:
    """Move each canary whose step has lasted long enough to its next one; answers how many were moved.

    One whose approvals are void, or a gate of which is shut, stays where it is, and says why. Each
    step is taken once, however many ask.
    """
    due = Release.objects.filter(state=State.CANARY, next_step_at__lte=now).order_by("next_step_at", "pk")
    return sum(_move_one(release, now) for release in due.select_related("environment"))


def _serve(action: str, release: Release, percent: int | None, actor: Actor, now: datetime) -> Release:
    with transaction.atomic():
        fresh = lock(release)
        ask(why_not_serve(fresh, powers_of(actor.user, now=now)))
        refuse_state(fresh, action)
        return _go(action, fresh, _first_share(action, fresh) if percent is None else percent, actor, now)


def _go(action: str, fresh: Release, percent: int, actor: Actor, now: datetime) -> Release:
    """Serve a locked release, whoever asked for it."""
    seen = review(fresh)
    # A shut gate makes approvals void as well; the writer names it.
    if not seen.shut and fresh.state in VOIDED and seen.lacks_approvals:
        raise WrongState(VOIDED[State(fresh.state)])
    return WRITERS[action](
        release=fresh,
        clearance=clearance_for(action, fresh.version, fresh.environment, seen),
        replaced=_supersede(fresh),
        percent=percent,
        actor=actor,
        now=now,
    )


def _first_share(action: str, release: Release) -> int:
    """The share that it had when it was halted, or the plan's first."""
    plan = plan_of(release.canary)
    # One that was halted without a share of its own begins anew.
    had_one = release.percent > 0 or plan.has_cohort
    return release.percent if action == "resume" and had_one else plan.percent


def _restore(before: Release) -> Clearance:
    """Leave to put back what was live before; what nobody has approved needs another broken glass."""
    seen = review(before)
    if seen.lacks_approvals and before.transitions.filter(action="break_glass").exists():
        unapproved = Gate("approvals", False, "It went live by breaking the glass, and lacks approvals.")
        seen = replace(seen, gates=(*seen.gates, unapproved))
    return clearance_for("restore", before.version, before.environment, seen)


def _supersede(release: Release) -> Clearance | None:
    live = find_live(release)
    return clearance_for("supersede", live.version, release.environment) if live else None


def _move_one(release: Release, now: datetime) -> bool:
    actor = Actor.system("scheduler")
    with transaction.atomic():
        fresh = lock(release)
        # Another worker that took the step has left another share or another time.
        read = (State.CANARY, release.percent, release.next_step_at)
        due = (fresh.state, fresh.percent, fresh.next_step_at) == read
        step = plan_of(fresh.canary).next_step(fresh.percent)
        if not due or step is None:
            return False
        held = why_held(fresh, review(fresh))
        if not held:
            try:
                with transaction.atomic():
                    _go("advance", fresh, step, actor, now)
            except (WrongState, NotCleared) as refusal:
                held = str(refusal)
        if held:
            _hold(fresh, held, actor, now)
        return not held


def _hold(release: Release, reason: str, actor: Actor, now: datetime) -> None:
    clearance = clearance_for("hold", release.version, release.environment)
    last = release.transitions.exclude(action="override").order_by("-n").first()
    serving.hold(
        release=release,
        clearance=clearance,
        actor=actor,
        reason=reason,
        now=now,
        is_new=last is None or (last.action, last.reason) != ("hold", reason),
    )
