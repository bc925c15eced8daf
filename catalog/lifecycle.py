"""What happens to a version after it is published: deprecated, yanked, revoked; and to a skill: deleted (spec 3.2).

Deprecated is served, and said. Yanked is in no new session, and read by those that are pinned.
Revoked is nowhere. Deleted is gone from view and from every feed, and its name is never free. None
is taken back.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, Q

from catalog import access, journal
from catalog.journal import Actor
from catalog.models import SERVED, Dependency, Environment, Skill, Version
from catalog.publishing import refresh_latest
from catalog.revisions import revise


def deprecate(*, version: Version, actor: Actor, reason: str, now: datetime) -> Version:
    """Mark a version as one to move away from. Raises NotAllowed for all but its team's publishers."""
    return _mark(version, "deprecate", "deprecated_at", actor, reason, now)


def yank(*, version: Version, actor: Actor, reason: str, now: datetime) -> Version:
    """Hide a version from new sessions. Raises NotAllowed for all but its team's publishers."""
    return _mark(version, "yank", "yanked_at", actor, reason, now)


def revoke(*, version: Version, actor: Actor, reason: str, now: datetime) -> Version:
    """Take a version away from everyone, for malware. Raises NotAllowed for all but administrators."""
    return _mark(version, "revoke", "revoked_at", actor, reason, now)


class StillNeeded(Exception):
    """Other skills depend on the one that is to be deleted; `folders` names them."""

    def __init__(self, skill: Skill, folders: tuple[str, ...]) -> None:
        super().__init__(
            f"{len(folders)} skill(s) depend on {skill.name} and would be unavailable without it."
        )
        self.folders = folders


def delete_skill(
    *, skill: Skill, actor: Actor, reason: str, now: datetime, although_needed: bool = False
) -> Skill:
    """Take a skill out of view and out of every feed, pinned sessions included; a second time changes nothing.

    Its rows and bytes stay, for the journal and for who looks back. Raises NotAllowed for all but
    its team's publishers and administrators, and StillNeeded where others depend on it, unless
    `although_needed`: they are unavailable from then on, with that reason.
    """
    with transaction.atomic():
        # As for a mark of a version: what starts meanwhile anywhere waits, and then sees it.
        list(Environment.objects.select_for_update(no_key=True).order_by("order"))
        fresh = (
            Skill.objects.select_for_update(of=("self",), no_key=True).select_related("team").get(pk=skill.pk)
        )
        refusal = f"Deleting needs the role publisher in {fresh.team.name}, or an administrator."
        access.require(actor, lambda powers: powers.is_admin or powers.may_publish(fresh.team), refusal)
        if fresh.deleted_at is not None:
            return fresh
        needed_by = who_depends_on(fresh)
        if needed_by and not although_needed:
            raise StillNeeded(fresh, needed_by)
        fresh.deleted_at = fresh.updated_at = now
        fresh.save(update_fields=["deleted_at", "updated_at"])
        served = Environment.objects.filter(releases__skill=fresh, releases__transitions__to_state__in=SERVED)
        for environment in served.distinct().order_by("order"):
            revise(environment=environment, folders=[fresh.folder], now=now)
        journal.append(
            actor=actor,
            verb="skill.delete",
            target=fresh.name,
            after={"reason": reason, "needed_by": list(needed_by)},
            now=now,
        )
    return fresh


def who_depends_on(skill: Skill) -> tuple[str, ...]:
    """The folder names of the other skills whose latest version, or one that is served, needs this one."""
    used = Q(version=F("version__skill__latest")) | Q(version__releases__state__in=SERVED)
    found = Dependency.objects.filter(used, folder=skill.folder, version__skill__deleted_at=None)
    return tuple(
        found.order_by("version__skill__folder").values_list("version__skill__folder", flat=True).distinct()
    )


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
    """Where it is served, or was and can be pinned."""
    served = Environment.objects.filter(releases__version=version, releases__transitions__to_state__in=SERVED)
    return list(served.distinct().order_by("order"))


def _ask(version: Version, verb: str, actor: Actor) -> None:
    team = version.skill.team
    if verb == "revoke":
        access.require(actor, lambda powers: powers.is_admin, "Revoking is for administrators.")
    else:
        refusal = f"This needs the role publisher in {team.name}."
        access.require(actor, lambda powers: powers.may_publish(team), refusal)
