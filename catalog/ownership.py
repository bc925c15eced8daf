"""Whose a skill is: its team, its owner and co-maintainers, and who sees it (spec 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from catalog import access, journal
from catalog.journal import Actor
from catalog.models import SERVED, Environment, Skill, Team, User
from catalog.revisions import revise


class NotOfTheTeam(Exception):
    """Somebody who is to own or maintain a skill does not belong to its team."""


def people_of(team: Team) -> QuerySet[User]:
    """Who may own or maintain the skills of a team: those whom a grant names in it, and who can sign in."""
    return User.objects.filter(is_active=True, grants__team=team).order_by("username").distinct()


def may_settle(powers: access.Powers, skill: Skill) -> bool:
    """Change visibility, owner and co-maintainers, transfer, delete: the team's publishers, and administrators."""
    return powers.is_admin or powers.may_publish(skill.team)


def may_receive(powers: access.Powers, team: Team) -> bool:
    """Take a skill over for the team: its publishers, and administrators."""
    return powers.is_admin or powers.may_publish(team)


def settle(
    *,
    skill: Skill,
    actor: Actor,
    now: datetime,
    visibility: str | None = None,
    owner: User | None = None,
    maintainers: Sequence[User] | None = None,
) -> Skill:
    """Change what is named; what is None stays. Nothing is written where nothing differs.

    Raises NotAllowed (also where the skill is deleted by now), and NotOfTheTeam for a person who is neither of the team nor was named before.
    """
    with transaction.atomic():
        _lock_environments()
        fresh = _lock(skill)
        _ask(actor, fresh)
        before = _told(fresh)
        known = set(people_of(fresh.team)) | set(fresh.maintainers.all()) | {fresh.owner}
        strangers = {owner, *(maintainers or ())} - known - {None}
        if strangers:
            names = ", ".join(sorted(one.username for one in strangers if one))
            raise NotOfTheTeam(f"{names} does not belong to {fresh.team.name}.")
        if visibility is not None:
            fresh.visibility = visibility
        if owner is not None:
            fresh.owner = owner
        if maintainers is not None:
            fresh.maintainers.set(maintainers)
        _keep(fresh, "skill.settle", before, actor, now)
        if before["visibility"] != fresh.visibility:
            _revise(fresh, now)
    return fresh


def transfer(*, skill: Skill, team: Team, actor: Actor, reason: str, now: datetime) -> Skill:
    """Give a skill to another team, with its versions, releases and rights; its name stays.

    Raises NotAllowed for all but those who publish for both teams, and administrators. The rights of
    agents and approvers follow, since each is a right in the team that owns the skill by now.
    """
    with transaction.atomic():
        _lock_environments()
        fresh = _lock(skill)
        _ask(actor, fresh)
        refusal = f"Taking it over for {team.name} needs the role publisher there, or an administrator."
        access.require(actor, lambda powers: may_receive(powers, team), refusal)
        if fresh.team_id == team.pk:
            return fresh
        before = _told(fresh)
        fresh.team = team
        _keep(fresh, "skill.transfer", before, actor, now, reason=reason)
        _revise(fresh, now)
    return fresh


def part_from(
    *, skill: Skill, person: User, heir: User | None, actor: Actor, reason: str, now: datetime
) -> None:
    """Take a person out of a skill: `heir` owns it from then on (None: nobody), where the person did.

    For a caller that has checked the right and locked environments and skill.
    """
    before = _told(skill)
    if skill.owner_id == person.pk:
        skill.owner = heir
    skill.maintainers.remove(person)
    _keep(skill, "skill.settle", before, actor, now, **({"reason": reason} if reason else {}))


def _lock_environments() -> None:
    """The feed names the team and minds the visibility: no snapshot is made of the old ones meanwhile."""
    list(Environment.objects.select_for_update(no_key=True).order_by("order"))


def _revise(skill: Skill, now: datetime) -> None:
    served = Environment.objects.filter(releases__skill=skill, releases__state__in=SERVED)
    for environment in served.distinct().order_by("order"):
        revise(environment=environment, folders=[skill.folder], now=now)


def _lock(skill: Skill) -> Skill:
    locked = Skill.objects.select_for_update(of=("self",), no_key=True).select_related("team", "owner")
    found = locked.filter(pk=skill.pk, deleted_at=None).first()
    if found is None:
        raise access.NotAllowed(f"{skill.name} was deleted meanwhile.")
    return found


def _ask(actor: Actor, skill: Skill) -> None:
    refusal = f"This needs the role publisher in {skill.team.name}, or an administrator."
    access.require(actor, lambda powers: may_settle(powers, skill), refusal)


def _told(skill: Skill) -> dict[str, Any]:
    return {
        "team": skill.team.slug,
        "visibility": skill.visibility,
        "owner": skill.owner.username if skill.owner else None,
        "maintainers": sorted(one.username for one in skill.maintainers.all()),
    }


def _keep(skill: Skill, verb: str, before: dict[str, Any], actor: Actor, now: datetime, **more: str) -> None:
    """Save the skill and write down what differs, if anything does."""
    after = _told(skill)
    changed = [key for key in after if after[key] != before[key]]
    if not changed:
        return
    skill.updated_at = now
    skill.save(update_fields=["team", "visibility", "owner", "updated_at"])
    journal.append(
        actor=actor,
        verb=verb,
        target=skill.name,
        before={key: before[key] for key in changed},
        after={**{key: after[key] for key in changed}, **more},
        now=now,
    )
