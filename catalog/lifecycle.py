"""What happens to a version after it is published: deprecated, yanked, revoked (spec 3.2).

Deprecated is served, and said. Yanked is in no new session, and read by those that are pinned.
Revoked is nowhere. None is taken back.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from catalog import access, journal
from catalog.journal import Actor
from catalog.models import Environment, Skill, State, Version
from catalog.publishing import refresh_latest
from catalog.releases import revise


def deprecate(*, version: Version, actor: Actor, reason: str, now: datetime) -> Version:
    """Mark a version as one to move away from. Raises NotAllowed for all but its team's publishers."""
    return _mark(version, "deprecate", "deprecated_at", actor, reason, now)


def yank(*, version: Version, actor: Actor, reason: str, now: datetime) -> Version:
    """Hide a version from new sessions. Raises NotAllowed for all but its team's publishers."""
    return _mark(version, "yank", "yanked_at", actor, reason, now)


def revoke(*, version: Version, actor: Actor, reason: str, now: datetime) -> Version:
    """Take a version away from everyone, for malware. Raises NotAllowed for all but administrators."""
    return _mark(version, "revoke", "revoked_at", actor, reason, now)


def _mark(version: Version, verb: str, column: str, actor: Actor, reason: str, now: datetime) -> Version:
    with transaction.atomic():
        # All of them: a release that starts meanwhile anywhere waits, and then sees the mark.
        list(Environment.objects.select_for_update(no_key=True).order_by("order"))
        skill = (
            Skill.objects.select_for_update(of=("self",), no_key=True)
            .select_related("team")
            .get(pk=version.skill_id)
        )
        fresh = Version.objects.select_for_update(no_key=True).get(pk=version.pk)
        fresh.skill = skill
        _ask(fresh, verb, actor)
        if getattr(fresh, column) is not None:
            return fresh
        setattr(fresh, column, now)
        fresh.save(update_fields=[column])
        refresh_latest(fresh.skill, now=now)
        for environment in _served_in(fresh):
            revise(environment=environment, folders=[fresh.skill.folder], now=now)
        journal.append(
            actor=actor,
            verb=f"version.{verb}",
            target=f"{fresh.skill.name} {fresh.version}",
            after={"reason": reason},
            now=now,
        )
    return fresh


def _served_in(version: Version) -> list[Environment]:
    served = Environment.objects.filter(
        releases__version=version, releases__state__in=(State.LIVE, State.CANARY)
    )
    return list(served.distinct().order_by("order"))


def _ask(version: Version, verb: str, actor: Actor) -> None:
    team = version.skill.team
    if verb == "revoke":
        access.require(actor, lambda powers: powers.is_admin, "Revoking is for administrators.")
    else:
        refusal = f"This needs the role publisher in {team.name}."
        access.require(actor, lambda powers: powers.may_publish(team), refusal)
