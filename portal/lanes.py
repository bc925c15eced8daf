"""Where a skill stands in each environment: what is live, what is tried out, what waits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from catalog.models import Environment, Release, State
from catalog.shortfalls import Shortfalls, shortfalls
from catalog.switches import Switch

OPEN = (State.PROPOSED, State.APPROVED, State.CANARY, State.LIVE)


@dataclass(slots=True)
class Lane:
    """One environment of one skill. Widths are those of a bar 100 wide.

    `off` is there where the skill is switched off, whatever is served. `lacking` says why else the live
    version is unavailable there, `canary_lacking` why the canary's is.
    """

    environment: Environment
    live: Release | None = None
    canary: Release | None = None
    off: Switch | None = None
    lacking: str = ""
    canary_lacking: str = ""
    waiting: list[Release] = field(default_factory=list)

    @property
    def is_served(self) -> bool:
        """Whether some version of the skill is served there."""
        return self.live is not None or self.canary is not None

    @property
    def canary_percent(self) -> int:
        """The share of callers that get the canary."""
        return self.canary.percent if self.canary else 0

    @property
    def live_percent(self) -> int:
        """The share of callers that get the live version; 0 where there is none."""
        return 100 - self.canary_percent if self.live else 0

    @property
    def live_width(self) -> int:
        """The width of the live part, with a gap of one before a canary."""
        return max(self.live_percent - 1, 0) if self.canary else self.live_percent

    @property
    def canary_start(self) -> int:
        """Where the canary part begins."""
        return 100 - self.canary_percent


def lanes_of(skill_ids: Iterable[UUID], environments: Sequence[Environment]) -> dict[UUID, list[Lane]]:
    """The lanes of each skill in the order of the environments; four queries for them all."""
    ids = list(skill_ids)
    if not ids:
        return {}
    found = shortfalls(environments)
    by_skill = {
        pk: {one.pk: Lane(one, off=found.off.get((one.pk, pk))) for one in environments} for pk in ids
    }
    releases = (
        Release.objects.filter(skill__in=ids, state__in=OPEN)
        .select_related("version")
        .defer("version__fields", "version__provenance", "version__notes", "version__description", "canary")
        .order_by("proposed_at")
    )
    for release in releases:
        lane = by_skill[release.skill_id].get(release.environment_id)
        if lane is not None:
            _place(release, lane, found)
    return {pk: list(lanes.values()) for pk, lanes in by_skill.items()}


def _place(release: Release, lane: Lane, found: Shortfalls) -> None:
    if release.state == State.LIVE:
        lane.live, lane.lacking = release, found.beside(release)
    elif release.state == State.CANARY:
        lane.canary, lane.canary_lacking = release, found.beside(release)
    else:
        lane.waiting.append(release)
