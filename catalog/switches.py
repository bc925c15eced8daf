"""Skills that are switched off in an environment: what agents and people are told of each (spec 8.4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from catalog.models import Degradation, Environment, Skill

# How a reason may end without a full stop after it.
ENDS = (".", "!", "?", "…", "。", "！", "？")


@dataclass(frozen=True, slots=True)
class Switch:
    """A skill that is switched off; `lost` says why the fallback that was named does not stand in, "" where it does."""

    row: Degradation
    lost: str = ""

    @property
    def fallback(self) -> Skill | None:
        """What stands in for it; None where nothing does."""
        return None if self.lost else self.row.fallback

    @property
    def told(self) -> str:
        """What agents are told."""
        if self.lost:
            return f"{tell_off(self.row.reason)} {self.lost}"
        return tell_off(self.row.reason) + (f" Use {self.fallback.name} instead." if self.fallback else "")


def tell_off(reason: str) -> str:
    """That a skill is switched off, and why."""
    return f"Switched off: {reason}" if reason.endswith(ENDS) else f"Switched off: {reason}."


def is_shown_alike(fallback: Skill, skill: Skill) -> bool:
    """Whether whoever sees the skill sees the fallback too."""
    if fallback.visibility == Skill.Visibility.ORGANISATION:
        return True
    return skill.visibility == Skill.Visibility.TEAM and skill.team_id == fallback.team_id


def with_switches(environments: QuerySet[Environment]) -> QuerySet[Environment]:
    """The environments, each with whether something is switched off there: mostly nothing is."""
    off = Degradation.objects.filter(environment=OuterRef("pk"), restored_at=None)
    return environments.annotate(some_off=Exists(off))


def read_switched_off(environments: Collection[Environment]) -> dict[UUID, dict[str, Degradation]]:
    """What is switched off in each of the environments, by folder name.

    One query, and none where it is known of all that nothing is.
    """
    found: dict[UUID, dict[str, Degradation]] = {where.pk: {} for where in environments}
    asked = [where.pk for where in environments if getattr(where, "some_off", True)]
    if not asked:
        return found
    rows = Degradation.objects.filter(
        environment__in=asked, restored_at=None, skill__deleted_at=None
    ).select_related("skill", "fallback", "by")
    for row in rows:
        found[row.environment_id][row.skill.folder] = row
    return found


def switches_of(
    rows: Mapping[str, Degradation], live: Collection[str], broken: Collection[str]
) -> dict[str, Switch]:
    """The switches of one environment, by folder name; `live` is served there, `broken` unavailable."""
    return {folder: Switch(row, _why_lost(row, rows, live, broken)) for folder, row in rows.items()}


def reachable(switch: Switch | None, served: Collection[str]) -> Switch | None:
    """The switch as a caller is told it who is served these: a fallback that is not among them is no help."""
    if switch is None or switch.fallback is None or switch.fallback.folder in served:
        return switch
    return replace(switch, lost="Its fallback is not served to this agent.")


def stood_in_by(switches: Mapping[str, Switch]) -> dict[str, tuple[str, ...]]:
    """By the folder name of each fallback: those that it stands in for, sorted."""
    found: dict[str, tuple[str, ...]] = {}
    for folder, switch in sorted(switches.items()):
        if switch.fallback:
            found[switch.fallback.folder] = (*found.get(switch.fallback.folder, ()), folder)
    return found


def _why_lost(row: Degradation, off: Collection[str], live: Collection[str], broken: Collection[str]) -> str:
    """Why the fallback that was named does not stand in, in a sentence; a fallback is never skipped in silence."""
    fallback = row.fallback
    if fallback is None:
        return ""
    if not is_shown_alike(fallback, row.skill):
        return "Its fallback is for one team alone by now."
    if fallback.deleted_at is not None:
        return f"Its fallback {fallback.name} is gone."
    if fallback.folder in off:
        return f"Its fallback {fallback.name} is switched off too."
    if fallback.folder not in live:
        return f"Its fallback {fallback.name} is not live here."
    return f"Its fallback {fallback.name} is unavailable here itself." if fallback.folder in broken else ""
