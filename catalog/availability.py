"""Whether a version can be used in an environment: its dependencies must be live there (spec 2.4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import OuterRef, Subquery

from catalog import semver
from catalog.allowance import Allowance
from catalog.models import Degradation, Dependency, Environment, Release, Skill, State, Version
from catalog.switches import tell_off

# folder name → the lowest version that is asked for
Wanted = Mapping[str, str]
# folder name of what is live and unavailable → why, "" where it lacks what it depends on
Broken = Mapping[str, str]
# an environment's id and a folder name in it
Place = tuple[UUID, str]


def missing_dependencies(version: Version, environment: Environment) -> list[str]:
    """A sentence for each dependency that is not live in the environment, too old or unavailable there."""
    return missing_of([(version, environment.pk)])[version.pk, environment.pk]


def missing_of(places: Collection[tuple[Version, UUID]]) -> dict[tuple[UUID, UUID], list[str]]:
    """The same for many versions, each in an environment, by the ids of both.

    Two queries for each step of the longest chain, however many there are, beside the dependencies
    and the skills of the versions themselves, which may be fetched before.
    """
    missing: dict[tuple[UUID, UUID], list[str]] = {(version.pk, where): [] for version, where in places}
    needy = [(version, where, wanted) for version, where in places if (wanted := wanted_by(version))]
    around = _read_surroundings({(where, folder) for _, where, wanted in needy for folder in wanted})
    teams = {(where, version.skill.team_id) for version, where, _ in needy}
    seen = {(where, team): around.seen_from(where, team) for where, team in teams}
    for version, where, wanted in needy:
        missing[version.pk, where] = unmet(wanted, *seen[where, version.skill.team_id])
    return missing


def wanted_by(version: Version) -> Wanted:
    """What the version depends on; reads what was prefetched."""
    return {one.folder: one.minimum for one in version.dependencies.all()}


@dataclass(frozen=True, slots=True)
class _LiveVersion:
    """A live version; `team_alone` is the team that alone sees it, None where everyone does.

    `stopped` says why it is switched off or not allowed there, "" where it is neither.
    """

    version_id: UUID
    number: str
    team_alone: UUID | None
    stopped: str

    def is_shown_to(self, team_id: UUID) -> bool:
        return self.team_alone in {None, team_id}


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What is live of the skills that some versions need, in the end, and what each of those depends on."""

    live: Mapping[Place, _LiveVersion]
    needs: Mapping[Place, Wanted]

    def seen_from(self, where: UUID, team_id: UUID) -> tuple[dict[str, str], Broken]:
        """What the skills of a team find live in an environment, and which of that is unavailable itself."""
        seen = {
            folder: one
            for (there, folder), one in self.live.items()
            if there == where and one.is_shown_to(team_id)
        }
        live = {folder: one.number for folder, one in seen.items()}
        needs = {folder: asked for (there, folder), asked in self.needs.items() if there == where}
        stopped = {folder: one.stopped for folder, one in seen.items() if one.stopped}
        return live, unavailable(live, needs, stopped)


def _read_surroundings(step: Collection[Place]) -> _Surroundings:
    """Follow the dependencies from these places on."""
    live: dict[Place, _LiveVersion] = {}
    needs: dict[Place, dict[str, str]] = {}
    while step:
        found = _read_live(step)
        live |= found
        needs |= {place: {} for place in step}
        for place, folder, minimum in _read_needs(found):
            needs[place][folder] = minimum
        step = {(where, folder) for (where, _), asked in needs.items() for folder in asked} - needs.keys()
    return _Surroundings(live, needs)


def _read_live(places: Collection[Place]) -> dict[Place, _LiveVersion]:
    """What is live in these places."""
    off = Degradation.objects.filter(
        environment=OuterRef("environment"), skill=OuterRef("skill"), restored_at=None
    )
    rows = (
        Release.objects.filter(
            environment__in={where for where, _ in places},
            skill__folder__in={folder for _, folder in places},
            state=State.LIVE,
            skill__deleted_at=None,
            version__yanked_at=None,
            version__revoked_at=None,
        )
        .annotate(off=Subquery(off.values("reason")))
        .select_related("environment", "skill", "version")
        .only(*_LIVE_COLUMNS)
    )
    return {
        (release.environment_id, release.skill.folder): _live_version(release, release.off)
        for release in rows
        if (release.environment_id, release.skill.folder) in places
    }


_LIVE_COLUMNS = (
    "environment",
    "skill",
    "version",
    "environment__permissions",
    "environment__highest_risk",
    "skill__folder",
    "skill__visibility",
    "skill__team",
    "version__version",
    "version__permissions",
    "version__risk_level",
    "version__suggested_risk",
)


def _live_version(release: Release, off: str | None) -> _LiveVersion:
    version, skill = release.version, release.skill
    return _LiveVersion(
        version_id=version.pk,
        number=version.version,
        team_alone=skill.team_id if skill.visibility == Skill.Visibility.TEAM else None,
        stopped=stopped_by(version, release.environment, tell_off(off) if off else ""),
    )


def stopped_by(version: Version, environment: Environment, off: str = "") -> str:
    """Why a version is kept from agents whatever it depends on: switched off, or not allowed; "" for neither."""
    return " ".join([*([off] if off else []), *refused_in(version, environment)])


def refused_in(version: Version, environment: Environment) -> list[str]:
    """A sentence for each thing about the version that the environment's policy does not allow (any more)."""
    allowance = Allowance(environment.permissions, environment.highest_risk)
    return allowance.why_not(permissions=version.permissions, risk=version.effective_risk)


def _read_needs(live: Mapping[Place, _LiveVersion]) -> Iterator[tuple[Place, str, str]]:
    """What each of the live versions depends on."""
    versions = {one.version_id for one in live.values()}
    found: dict[UUID, list[tuple[str, str]]] = {}
    rows = Dependency.objects.filter(version_id__in=versions)
    for pk, folder, minimum in rows.values_list("version_id", "folder", "minimum"):
        found.setdefault(pk, []).append((folder, minimum))
    for place, one in live.items():
        for folder, minimum in found.get(one.version_id, ()):
            yield place, folder, minimum


def shown_to(team_id: UUID, live: Mapping[str, str], private: Mapping[str, UUID]) -> dict[str, str]:
    """What is live, without the team-only skills of other teams: to this one they are not there."""
    return {one: version for one, version in live.items() if private.get(one, team_id) == team_id}


def unavailable(
    live: Mapping[str, str], needs: Mapping[str, Wanted], stopped: Mapping[str, str] = {}
) -> Broken:
    """The live skills that are `stopped` for a reason of their own or lack something, and those that need these."""
    broken = {one: why for one, why in stopped.items() if one in live}
    while more := [one for one in live if one not in broken and unmet(needs.get(one, {}), live, broken)]:
        broken |= dict.fromkeys(more, "")
    return broken


def unmet(wanted: Wanted, live: Mapping[str, str], broken: Mapping[str, str] = {}) -> list[str]:
    """A sentence for each wanted folder name whose live version does not do."""
    return [
        sentence
        for folder, minimum in sorted(wanted.items())
        if (sentence := _why_not(folder, minimum, live, broken))
    ]


def _why_not(folder: str, minimum: str, live: Mapping[str, str], broken: Broken) -> str:
    if folder not in live or not semver.satisfies(live[folder], minimum):
        return f"{folder} {minimum} or newer is needed; {live.get(folder, 'none')} is live."
    if folder not in broken:
        return ""
    why = broken[folder]
    told = f": {why[0].lower()}{why[1:]}" if why else "."
    return f"{folder} is needed, and is unavailable here itself{told}"


def in_order(folders: Iterable[str], wanted: Mapping[str, Iterable[str]]) -> list[str]:
    """The folder names sorted so that each comes after those it depends on; names else decide."""
    done: dict[str, None] = {}

    def visit(folder: str, on_the_way: frozenset[str]) -> None:
        if folder in done or folder in on_the_way:
            return
        for needed in sorted(wanted.get(folder, ())):
            visit(needed, on_the_way | {folder})
        done[folder] = None

    names = sorted(folders)
    for folder in names:
        visit(folder, frozenset())
    return [folder for folder in done if folder in set(names)]
