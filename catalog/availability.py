"""Whether a version can be used in an environment: its dependencies must be live there (spec 2.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from catalog import semver
from catalog.models import Environment, Release, State, Version


def missing_dependencies(version: Version, environment: Environment) -> list[str]:
    """A sentence for each dependency that is not live in the environment, or is too old there."""
    wanted = dict(version.dependencies.values_list("folder", "minimum"))
    if not wanted:
        return []
    live = Release.objects.filter(
        environment=environment,
        state=State.LIVE,
        skill__folder__in=wanted,
        skill__deleted_at=None,
        version__yanked_at=None,
        version__revoked_at=None,
    ).values_list("skill__folder", "version__version")
    return unmet(wanted, dict(live))


def unmet(wanted: Mapping[str, str], live: Mapping[str, str]) -> list[str]:
    """A sentence for each wanted folder name whose live version does not do."""
    return [
        f"{folder} {minimum} or newer is needed; {live.get(folder, 'none')} is live."
        for folder, minimum in sorted(wanted.items())
        if folder not in live or not semver.satisfies(live[folder], minimum)
    ]


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
