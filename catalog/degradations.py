"""Switching a skill off where it does harm, with what stands in for it, and on again (spec 8.4).

It lies beside the releases: whatever is live or a canary there stays, both arms are off, and
what starts or is rolled back meanwhile is off too. A fallback is named, and never served in its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from catalog import access, journal
from catalog.journal import Actor
from catalog.models import SERVED, Degradation, Environment, Release, Skill, State
from catalog.revisions import revise
from catalog.switches import is_shown_alike
from catalog.transitions import WrongState


class BadFallback(Exception):
    """The skill that is named cannot stand in; the text says why."""


def degrade(
    *,
    skill: Skill,
    reason: str,
    actor: Actor,
    now: datetime,
    environments: Iterable[Environment] | None = None,
    fallback: Skill | None = None,
) -> tuple[Degradation, ...]:
    """Switch the skill off in these environments (all where None is given), or in none of them.

    Where it is off already, reason and fallback are replaced; nothing is written where they are the
    same. Raises NotAllowed naming the environments where the actor may not, BadFallback, and WrongState
    for a skill that is deleted by now. Answers what is in force there from now on.
    """
    with transaction.atomic():
        places = _lock_environments(environments)
        fresh, other = _lock_skills(skill, fallback)
        _ask(actor, fresh, places, now)
        _check_fallback(fresh, other, places)
        held = _in_force(fresh, places)
        return tuple(_switch_off(fresh, where, held, other, reason, actor, now) for where in places)


def restore(
    *,
    skill: Skill,
    actor: Actor,
    now: datetime,
    environments: Iterable[Environment] | None = None,
    reason: str = "",
) -> tuple[Degradation, ...]:
    """Switch the skill on again in these environments (wherever it is off where None is given), or in none.

    Raises NotAllowed as `degrade` does, and WrongState where it is off in none of them. Answers what
    is no longer in force.
    """
    with transaction.atomic():
        places = _lock_environments(environments)
        fresh, _ = _lock_skills(skill, None)
        held = _in_force(fresh, places)
        where_off = [row.environment for row in held] if environments is None else []
        _ask(actor, fresh, where_off or places, now)
        if not held:
            raise WrongState(f"{fresh.name} is not switched off in {_titles(places)}.")
        return tuple(_switch_on(row, reason, actor, now) for row in held)


def _lock_environments(environments: Iterable[Environment] | None) -> list[Environment]:
    """The environments as they are now, locked in their order: what starts or changes there waits."""
    rows = Environment.objects.select_for_update(no_key=True).order_by("order")
    return list(rows if environments is None else rows.filter(pk__in=[one.pk for one in environments]))


def _lock_skills(skill: Skill, fallback: Skill | None) -> tuple[Skill, Skill | None]:
    """Both as they are now, locked; the fallback alone may be deleted by then."""
    wanted = [one.pk for one in (skill, fallback) if one]
    rows = Skill.objects.select_for_update(of=("self",), no_key=True).select_related("team")
    fresh = {one.pk: one for one in rows.filter(pk__in=wanted).order_by("pk")}
    if fresh[skill.pk].deleted_at is not None:
        raise WrongState(f"The skill {skill.name} is deleted.")
    return fresh[skill.pk], fresh[fallback.pk] if fallback else None


def _ask(actor: Actor, skill: Skill, places: Sequence[Environment], now: datetime) -> None:
    """Raises NotAllowed naming every environment where the actor may not."""
    powers = access.powers_of(actor.user, now=now)
    refused = [where for where in places if not actor.is_system and not powers.may_switch_off(skill, where)]
    if refused:
        raise access.NotAllowed(
            f"In {_titles(refused)} this needs an approver, or a publisher in {skill.team.name}."
        )


def _check_fallback(skill: Skill, fallback: Skill | None, places: Sequence[Environment]) -> None:
    """Raises BadFallback. No circle can come of it: what is off stands in for nothing."""
    if fallback is None:
        return
    if fallback.pk == skill.pk:
        raise BadFallback(f"{skill.name} cannot stand in for itself; name another skill.")
    if fallback.deleted_at is not None:
        raise BadFallback(f"The skill {fallback.name} is deleted.")
    if not is_shown_alike(fallback, skill):
        raise BadFallback(
            f"{fallback.name} is for one team alone: not every agent that gets {skill.name} sees it."
        )
    if off := [row.environment for row in _in_force(fallback, places)]:
        raise BadFallback(f"{fallback.name} is switched off in {_titles(off)} itself.")
    needed = _places_of(skill, places, SERVED)
    live = _places_of(fallback, places, (State.LIVE,))
    if missing := [where for where in places if where.pk in needed - live]:
        raise BadFallback(f"{fallback.name} is not live in {_titles(missing)}.")


def _places_of(skill: Skill, places: Sequence[Environment], states: Collection[str]) -> set[Any]:
    """In which of these environments the skill is served in one of the states."""
    served = Release.objects.filter(
        skill=skill,
        environment__in=places,
        state__in=states,
        version__yanked_at=None,
        version__revoked_at=None,
    )
    return set(served.values_list("environment_id", flat=True))


def _in_force(skill: Skill, places: Sequence[Environment]) -> list[Degradation]:
    rows = Degradation.objects.filter(skill=skill, environment__in=places, restored_at=None)
    return list(rows.select_related("skill", "environment", "fallback", "by").order_by("environment__order"))


def _switch_off(
    skill: Skill,
    where: Environment,
    held: Sequence[Degradation],
    fallback: Skill | None,
    reason: str,
    actor: Actor,
    now: datetime,
) -> Degradation:
    """What is in force from now on; the row before is closed, so that each stays as it was written."""
    before = next((row for row in held if row.environment_id == where.pk), None)
    if before and (before.reason, before.fallback_id) == (reason, fallback.pk if fallback else None):
        return before
    if before:
        _close(before, actor, now)
    row = Degradation.objects.create(
        skill=skill, environment=where, fallback=fallback, reason=reason, by=actor.user, at=now
    )
    _tell("skill.degrade", row, before, row, {}, actor, now)
    return row


def _switch_on(row: Degradation, reason: str, actor: Actor, now: datetime) -> Degradation:
    _close(row, actor, now)
    _tell("skill.restore", row, row, None, {"reason": reason}, actor, now)
    return row


def _close(row: Degradation, actor: Actor, now: datetime) -> None:
    row.restored_by, row.restored_at = actor.user, now
    row.save(update_fields=["restored_by", "restored_at"])


def _tell(
    verb: str,
    row: Degradation,
    before: Degradation | None,
    after: Degradation | None,
    more: dict[str, Any],
    actor: Actor,
    now: datetime,
) -> None:
    """Journal and revision of one environment; the entries of fallbacks change as well."""
    stands_in = {one.fallback.folder for one in (before, after) if one and one.fallback}
    revise(environment=row.environment, folders=[row.skill.folder, *sorted(stands_in)], now=now)
    journal.append(
        actor=actor,
        verb=verb,
        target=f"{row.skill.name} in {row.environment.name}",
        before=_terms(before),
        after={**_terms(after), **more},
        now=now,
    )


def _terms(row: Degradation | None) -> dict[str, Any]:
    if row is None:
        return {"off": False}
    return {"off": True, "reason": row.reason, "fallback": row.fallback.name if row.fallback else None}


def _titles(environments: Iterable[Environment]) -> str:
    return ", ".join(where.title for where in environments)
