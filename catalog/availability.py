"""Whether a version can be used in an environment: its dependencies must be live there (spec 2.4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from django.db.models import Q

from catalog import semver
from catalog.models import Dependency, Environment, Release, Skill, State, Version

# folder name → the lowest version that is asked for
Wanted = Mapping[str, str]


def missing_dependencies(version: Version, environment: Environment) -> list[str]:
    """A sentence for each dependency that is not live in the environment, too old or unavailable there.

    Two queries for each step of the longest chain.
    """
    wanted = dict(version.dependencies.values_list("folder", "minimum"))
    live: dict[str, str] = {}
    needs: dict[str, dict[str, str]] = {}
    step = set(wanted)
    while step:
        found = {
            pk: (folder, number) for folder, pk, number in _live(environment, step, version.skill.team_id)
        }
        live |= dict(found.values())
        needs |= {folder: {} for folder in step}
        rows = Dependency.objects.filter(version_id__in=found).values_list("version_id", "folder", "minimum")
        for pk, folder, minimum in rows:
            needs[found[pk][0]][folder] = minimum
        step = {folder for folders in needs.values() for folder in folders} - set(needs)
    return unmet(wanted, live, unavailable(live, needs))


def _live(
    environment: Environment, folders: Collection[str], team_id: UUID
) -> Iterable[tuple[str, object, str]]:
    return Release.objects.filter(
        Q(skill__visibility=Skill.Visibility.ORGANISATION) | Q(skill__team=team_id),
        environment=environment,
        state=State.LIVE,
        skill__folder__in=folders,
        skill__deleted_at=None,
        version__yanked_at=None,
        version__revoked_at=None,
    ).values_list("skill__folder", "version_id", "version__version")


def shown_to(team_id: UUID, live: Mapping[str, str], private: Mapping[str, UUID]) -> dict[str, str]:
    """What is live, without the team-only skills of other teams: to this one they are not there."""
    return {one: version for one, version in live.items() if private.get(one, team_id) == team_id}


def unavailable(live: Mapping[str, str], needs: Mapping[str, Wanted]) -> frozenset[str]:
    """The live skills that lack something, those included that need one of these."""
    broken: frozenset[str] = frozenset()
    while more := {one for one in live if one not in broken and unmet(needs.get(one, {}), live, broken)}:
        broken |= more
    return broken


def unmet(wanted: Wanted, live: Mapping[str, str], broken: Collection[str] = ()) -> list[str]:
    """A sentence for each wanted folder name whose live version does not do."""
    return [
        sentence
        for folder, minimum in sorted(wanted.items())
        if (sentence := _why_not(folder, minimum, live, broken))
    ]


def _why_not(folder: str, minimum: str, live: Mapping[str, str], broken: Collection[str]) -> str:
    if folder not in live or not semver.satisfies(live[folder], minimum):
        return f"{folder} {minimum} or newer is needed; {live.get(folder, 'none')} is live."
    return f"{folder} is needed, and is unavailable here itself." if folder in broken else ""


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
