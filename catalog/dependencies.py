"""What a bundle depends on: it is in the catalog, and does not lead back to it (spec 2.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db.models import Q

from catalog.bundles.bundle import Bundle
from catalog.bundles.findings import Finding, error, warning
from catalog.models import Dependency, Skill, Team


def judge_dependencies(bundle: Bundle, team: Team) -> list[Finding]:
    """What the bundle depends on must not lead back to it; what is missing is warned of.

    What another team keeps to itself is as good as missing, and its name is not told.
    """
    wanted = bundle.manifest.dependencies if bundle.manifest else {}
    if not wanted:
        return []
    known = _known(wanted, team)
    findings = [
        warning(
            "dependency-missing",
            f"The skill {folder}, on which this one depends, is not in the catalog.",
            "The version is unavailable in every environment where that skill is missing.",
            path="manifest.yaml",
        )
        for folder in sorted(set(wanted) - known)
    ]
    way = _way_back(bundle.folder, wanted)
    if way:
        told = way if set(way[1:-1]) <= _known(way, team) else [way[0], "…", way[-1]]
        findings.append(
            error(
                "dependency-cycle",
                f"The dependencies lead back to this skill: {' > '.join(told)}.",
                "Remove one of these dependencies.",
                path="manifest.yaml",
            )
        )
    return findings


def _known(folders: Iterable[str], team: Team) -> set[str]:
    """Those of the folder names that are skills which the whole organisation, or the team, may see."""
    seen = Q(visibility=Skill.Visibility.ORGANISATION) | Q(team=team)
    found = Skill.objects.filter(seen, folder__in=list(folders), deleted_at=None)
    return set(found.values_list("folder", flat=True))


def _way_back(folder: str, wanted: Mapping[str, str]) -> list[str]:
    """The names from `folder` over its dependencies back to it, or nothing.

    One query for each step of the longest chain; a name is followed once.
    """
    ways = {name: [folder, name] for name in wanted}
    step = list(wanted)
    while step:
        if folder in ways:
            return ways[folder]
        rows = Dependency.objects.filter(
            version__skill__folder__in=step, version__skill__deleted_at=None
        ).values_list("version__skill__folder", "folder")
        found = [(source, target) for source, target in rows.distinct() if target not in ways]
        for source, target in found:
            ways.setdefault(target, [*ways[source], target])
        step = [target for _, target in found]
    return []
