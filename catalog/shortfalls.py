"""Why what is served is unavailable, for pages that show many skills at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from uuid import UUID

from catalog.availability import unavailable, unmet
from catalog.models import SERVED, Environment, Release, State


def shortfalls(environments: Iterable[Environment]) -> Mapping[tuple[UUID, UUID], str]:
    """By environment and version: what a served version lacks there, in a sentence; those that lack nothing are absent.

    Two queries, however many skills there are; they read those that depend on something alone.
    """
    there = [environment.pk for environment in environments]
    served = Release.objects.filter(
        environment__in=there,
        state__in=SERVED,
        skill__deleted_at=None,
        version__yanked_at=None,
        version__revoked_at=None,
    )
    rows = served.filter(version__dependencies__isnull=False).values_list(
        "environment_id",
        "skill__folder",
        "version_id",
        "state",
        "version__dependencies__folder",
        "version__dependencies__minimum",
    )
    needs: dict[UUID, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    wanted: dict[tuple[UUID, UUID], dict[str, str]] = defaultdict(dict)
    folders = set()
    for where, folder, version, state, needed, minimum in rows:
        wanted[where, version][needed] = minimum
        folders |= {folder, needed}
        if state == State.LIVE:
            needs[where][folder][needed] = minimum
    live: dict[UUID, dict[str, str]] = defaultdict(dict)
    if folders:
        found = served.filter(state=State.LIVE, skill__folder__in=folders)
        for where, folder, number in found.values_list("environment_id", "skill__folder", "version__version"):
            live[where][folder] = number
    broken = {where: unavailable(live[where], needs[where]) for where in there}
    lacking = {key: " ".join(unmet(asked, live[key[0]], broken[key[0]])) for key, asked in wanted.items()}
    return {key: reason for key, reason in lacking.items() if reason}
