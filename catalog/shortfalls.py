"""Why what is served is unavailable, for pages that show many skills at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from catalog.availability import refused_in, stopped_by, unavailable, unmet
from catalog.models import SERVED, Degradation, Environment, Release, State, Version
from catalog.switches import Switch, read_switched_off, switches_of, tell_off


@dataclass(frozen=True, slots=True)
class Shortfalls:
    """What is wrong with what these environments serve.

    `off` has the switches, by environment and skill, and `lacking` by environment and version what a
    served version does not find there, in sentences; those that lack nothing are absent.
    """

    environments: Mapping[UUID, Environment]
    off: dict[tuple[UUID, UUID], Switch]
    lacking: dict[tuple[UUID, UUID], str]

    def of(self, release: Release) -> str:
        """Why agents are told that the release is unavailable; "" where they are not."""
        switch = self.off.get((release.environment_id, release.skill_id))
        told = switch.told if switch and release.state in SERVED else ""
        return f"{told} {self.beside(release)}".strip()

    def beside(self, release: Release) -> str:
        """The same without that it is switched off: what is not allowed, and what it does not find."""
        where = self.environments.get(release.environment_id)
        if where is None or release.state not in SERVED:
            return ""
        lacking = self.lacking.get((where.pk, release.version_id), "")
        return " ".join([*refused_in(release.version, where), lacking]).strip()


def shortfalls(environments: Iterable[Environment]) -> Shortfalls:
    """What is wrong in these environments.

    Two queries and, where something is switched off, one more, however many skills there are; they read the versions that depend on something
    or are depended on, and what is switched off.
    """
    places = {environment.pk: environment for environment in environments}
    rows, wants = read_switched_off(places.values()), _read_wants(places)
    fallbacks = {row.fallback.folder for off in rows.values() for row in off.values() if row.fallback}
    live = _read_live(places, fallbacks | wants.folders)
    found = Shortfalls(places, {}, {})
    for where, environment in places.items():
        numbers = {folder: version.version for folder, version in live[where].items()}
        broken = unavailable(numbers, wants.live[where], _stopped(live[where], environment, rows[where]))
        for switch in switches_of(rows[where], numbers, broken).values():
            found.off[where, switch.row.skill_id] = switch
        for version, asked in wants.served[where].items():
            if reasons := unmet(asked, numbers, broken):
                found.lacking[where, version] = " ".join(reasons)
    return found


def _stopped(
    live: Mapping[str, Version], environment: Environment, off: Mapping[str, Degradation]
) -> dict[str, str]:
    """Why these live versions are unavailable for a reason of their own, where they are."""
    told = {folder: tell_off(row.reason) for folder, row in off.items()}
    found = {one: stopped_by(version, environment, told.get(one, "")) for one, version in live.items()}
    return {folder: why for folder, why in found.items() if why}


def _by_key() -> Any:
    return defaultdict(dict)


@dataclass(slots=True)
class _Wants:
    """What is depended on, by environment: by each served version, and by the folder of each live one."""

    served: dict[UUID, dict[UUID, dict[str, str]]] = field(default_factory=lambda: defaultdict(_by_key))
    live: dict[UUID, dict[str, dict[str, str]]] = field(default_factory=lambda: defaultdict(_by_key))
    folders: set[str] = field(default_factory=set)


def _served(environments: Collection[UUID]) -> QuerySet[Release]:
    return Release.objects.filter(
        environment__in=environments,
        state__in=SERVED,
        skill__deleted_at=None,
        version__yanked_at=None,
        version__revoked_at=None,
    )


def _read_wants(environments: Collection[UUID]) -> _Wants:
    rows: Iterable[tuple[Any, ...]] = (
        _served(environments)
        .filter(version__dependencies__isnull=False)
        .values_list(
            "environment_id",
            "skill__folder",
            "version_id",
            "state",
            "version__dependencies__folder",
            "version__dependencies__minimum",
        )
    )
    wants = _Wants()
    for where, folder, version, state, needed, minimum in rows:
        wants.served[where][version][needed] = minimum
        wants.folders |= {folder, needed}
        if state == State.LIVE:
            wants.live[where][folder][needed] = minimum
    return wants


def _read_live(environments: Collection[UUID], folders: Collection[str]) -> dict[UUID, dict[str, Version]]:
    """The live versions of these skills, by environment and folder name."""
    live: dict[UUID, dict[str, Version]] = defaultdict(dict)
    if not folders:
        return live
    found = _served(environments).filter(state=State.LIVE, skill__folder__in=folders)
    for release in found.select_related("skill", "version").only(
        "environment", "skill__folder", *(f"version__{name}" for name in _LOOKED_AT)
    ):
        live[release.environment_id][release.skill.folder] = release.version
    return live


_LOOKED_AT = ("version", "permissions", "risk_level", "suggested_risk")
