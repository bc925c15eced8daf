"""What the versions of an environment are served beside: what is live, unavailable, private, switched off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from catalog.availability import (
    Broken,
    refused_in,
    shown_to,
    stopped_by,
    unavailable,
    unmet,
    wanted_by,
)
from catalog.models import Environment, Release, Skill
from catalog.switches import Switch, read_switched_off, stood_in_by, switches_of, tell_off


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a version is served beside, all by folder name.

    `live` is what is live, `broken` what of that is unavailable, `private` whose the team-only skills
    among them are, `off` what is switched off, whether it is live or not, and `stands_in` for
    what each fallback stands in.
    """

    live: Mapping[str, str]
    broken: Broken
    private: Mapping[str, UUID]
    off: Mapping[str, Switch]
    stands_in: Mapping[str, tuple[str, ...]]

    def lacking(self, release: Release) -> tuple[str, ...]:
        """A sentence for each thing that is not allowed, or that it depends on and does not find."""
        wanted = wanted_by(release.version)
        live = {one: self.live[one] for one in wanted if one in self.live}
        seen = shown_to(release.skill.team_id, live, self.private)
        refused = refused_in(release.version, release.environment)
        return (*refused, *unmet(wanted, seen, self.broken))


def surroundings_of(environment: Environment, stable: Mapping[str, Release]) -> Surroundings:
    """What the live releases of the environment are to each other, and what of it is switched off.

    One query, and none where the environment came with that nothing is off there.
    """
    rows = read_switched_off([environment])[environment.pk]
    live = {folder: release.version.version for folder, release in stable.items()}
    off = {folder: tell_off(row.reason) for folder, row in rows.items()}
    stopped = {
        folder: why
        for folder, release in stable.items()
        if (why := stopped_by(release.version, environment, off.get(folder, "")))
    }
    needs = {folder: wanted_by(release.version) for folder, release in stable.items()}
    broken = unavailable(live, needs, stopped)
    private = {
        folder: release.skill.team_id
        for folder, release in stable.items()
        if release.skill.visibility == Skill.Visibility.TEAM
    }
    switches = switches_of(rows, live, broken)
    return Surroundings(live, broken, private, switches, stood_in_by(switches))
