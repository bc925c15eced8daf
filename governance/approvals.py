"""Deciding on releases: who may, with how many approvals, and past which gates.

Each function locks the release, checks the right and the gates on what it then sees, and hands
`catalog.releases` the clearance for the change. `governance.rollouts` does the same for what is served.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from catalog import releases
from catalog.access import powers_of
from catalog.canaries import Plan
from catalog.cohorts import check_cohort
from catalog.journal import Actor
from catalog.models import Environment, Release, State, User, Version
from catalog.transitions import lock, lock_environment, refuse_state
from governance import rollouts
from governance.clearing import bound_to, clearance_for, review
from governance.policy import HARD_GATES
from governance.refusals import ask, need_reason, why_not_decide, why_not_override


class NotConfirmed(Exception):
    """The second confirmation is missing: the skill's name, typed."""


class NoSuchGate(Exception):
    """The gate is not known, not shut, or not one that anybody answers for."""


def propose(
    *,
    version: Version,
    environment: Environment,
    actor: Actor,
    now: datetime,
    note: str = "",
    plan: Plan | None = None,
) -> Release:
    """Propose a release; where the environment asks for no approval it goes live at once.

    Raises NotAllowed, WrongState where a release of the version is open there already, and PlanWrong
    for a cohort of agents or teams that are not there.
    """
    if plan is not None:
        check_cohort(plan)
    with transaction.atomic():
        where = lock_environment(environment)
        fresh = Version.objects.select_related("skill__team").get(pk=version.pk)
        allowed = powers_of(actor.user, now=now).may_propose(fresh.skill, where)
        ask("" if allowed else f"Proposing needs the role publisher in {fresh.skill.team.name}.")
        release = releases.propose(
            version=fresh,
            environment=where,
            clearance=clearance_for("propose", fresh, where),
            actor=actor,
            note=note,
            plan=plan,
            now=now,
        )
        seen = review(release)
        if seen.needs.approvals == 0:
            release = releases.clear(
                release=release,
                clearance=clearance_for("approve", fresh, where, seen),
                actor=actor,
                now=now,
            )
            if not seen.shut and powers_of(actor.user, now=now).may_start(release):
                release = rollouts.start(release=release, actor=actor, now=now)
    return release


def approve(*, release: Release, actor: Actor, now: datetime, note: str = "", confirm: str = "") -> Release:
    """Give the actor's approval; the release is approved when enough of them hold.

    The actor uses a right of their own, or one that was lent to them and whose holder has not
    approved. Raises NotAllowed (four eyes), NotConfirmed where the skill's name has to be typed,
    WrongState.
    """
    with transaction.atomic():
        fresh = lock(release)
        powers = powers_of(actor.user, now=now)
        ask(why_not_decide(fresh, powers))
        seen = review(fresh)
        if seen.needs.confirmation and confirm not in {fresh.skill.name, fresh.skill.folder}:
            raise NotConfirmed(
                f"Type {fresh.skill.name} to confirm a high-risk release to {fresh.environment.title}."
            )
        used = {one.right_of_id for one in seen.approvals}
        holders = powers.deciding_for(fresh)
        holder = next((one for one in holders if one not in used), holders[0])
        return releases.add_approval(
            release=fresh,
            clearance=clearance_for("approve", fresh.version, fresh.environment, seen),
            needed=seen.needs.approvals,
            confirmed=seen.needs.confirmation,
            bound_to=bound_to(fresh.version, fresh.environment),
            right_of=User.objects.get(pk=holder),
            void=seen.void,
            actor=actor,
            note=note,
            now=now,
        )


def reject(*, release: Release, actor: Actor, reason: str, now: datetime) -> Release:
    """Close a proposal. Raises NotAllowed, ReasonMissing, WrongState."""
    with transaction.atomic():
        fresh = lock(release)
        ask(why_not_decide(fresh, powers_of(actor.user, now=now)))
        clearance = clearance_for("reject", fresh.version, fresh.environment)
        return releases.reject(
            release=fresh, clearance=clearance, actor=actor, reason=need_reason(reason), now=now
        )


def withdraw(*, release: Release, actor: Actor, now: datetime, reason: str = "") -> Release:
    """Take a proposal back. Raises NotAllowed, WrongState."""
    with transaction.atomic():
        fresh = lock(release)
        allowed = powers_of(actor.user, now=now).may_withdraw(fresh)
        ask("" if allowed else f"Withdrawing needs the role publisher in {fresh.skill.team.name}.")
        clearance = clearance_for("withdraw", fresh.version, fresh.environment)
        return releases.withdraw(release=fresh, clearance=clearance, actor=actor, reason=reason, now=now)


def override(*, release: Release, gate: str, actor: Actor, reason: str, now: datetime) -> Release:
    """Answer for a shut gate, for as long as what it saw stays as it is; it is shown for ever.

    Raises NotAllowed, ReasonMissing, WrongState, and NoSuchGate, also for what the policy alone allows.
    """
    with transaction.atomic():
        fresh = lock(release)
        ask(why_not_override(fresh, powers_of(actor.user, now=now)))
        refuse_state(fresh, "override")
        seen = review(fresh)
        known = {one.name: one for one in seen.gates}
        if gate not in known:
            raise NoSuchGate(f"There is no gate {gate[:64]!r}; there are {', '.join(known)}.")
        if gate in HARD_GATES:
            raise NoSuchGate(
                f"The gate {gate} follows from the policy of {fresh.environment.title}; "
                "an administrator changes that."
            )
        if known[gate].is_open:
            raise NoSuchGate(f"The gate {gate} is open; there is nothing to override.")
        return releases.override(
            release=fresh,
            gate=known[gate],
            clearance=clearance_for("override", fresh.version, fresh.environment, seen),
            bound_to=bound_to(fresh.version, fresh.environment),
            actor=actor,
            reason=need_reason(reason),
            now=now,
        )


def expire_proposals(*, now: datetime) -> int:
    """Close the proposals that nobody decided in time; answers how many."""
    late = Release.objects.filter(state__in=(State.PROPOSED, State.APPROVED), expires_at__lte=now)
    closed = 0
    for release in late.select_related("environment", "version"):
        clearance = clearance_for("expire", release.version, release.environment)
        try:
            releases.expire(release=release, clearance=clearance, actor=Actor.system("scheduler"), now=now)
            closed += 1
        except releases.WrongState:
            continue
    return closed
