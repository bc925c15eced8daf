"""What is under way in an environment: proposals, gray releases, and skills that are switched off."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from catalog.access import Powers
from catalog.models import Degradation, Environment, Release, State
from catalog.visibility import visible_releases, visible_skills

MOST_SHOWN = 50
UNDER_WAY = (State.PROPOSED, State.APPROVED, State.CANARY, State.HALTED)


@dataclass(frozen=True, slots=True)
class UnderWay:
    """The oldest releases that are not done, and what is off; each looked up when a page shows it."""

    releases: QuerySet[Release]
    off: QuerySet[Degradation]


def find_under_way(powers: Powers, environment: Environment) -> UnderWay:
    """What of it the user sees, up to `MOST_SHOWN` of each."""
    releases = visible_releases(powers).filter(environment=environment, state__in=UNDER_WAY)
    off = Degradation.objects.filter(
        environment=environment, restored_at=None, skill__in=visible_skills(powers)
    )
    return UnderWay(
        releases.select_related("skill", "version", "environment").order_by("proposed_at", "pk")[:MOST_SHOWN],
        off.select_related("skill").order_by("skill__name")[:MOST_SHOWN],
    )
