"""What an environment serves at a revision: each skill's live version, and a canary beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import orjson
from django.db.models import QuerySet

from catalog.availability import in_order, wanted_by
from catalog.bundles.bundle import RISKS
from catalog.caches import Bounded
from catalog.canaries import Plan, plan_of
from catalog.cards import is_resource, is_script, public_card
from catalog.models import SERVED, BundleFile, Environment, Release, Risk, Skill, State, Version
from catalog.rollout import NOBODY, Cohort
from catalog.surroundings import Surroundings, surroundings_of
from catalog.switches import Switch, reachable, with_switches

RANKS: Mapping[str, int] = {risk: rank for rank, risk in enumerate(RISKS)}
ARMS: Mapping[str, str] = {State.LIVE: "stable", State.CANARY: "candidate"}


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A file of a served version."""

    path: str
    size: int
    sha256: str
    executable: bool


@dataclass(frozen=True, slots=True)
class Served:
    """A version as the feed serves it.

    `item` is the entry of the contract and `rendered` the same as JSON. `arm` is stable, candidate,
    or pinned for a version that is served to nobody who does not ask for it. `rank` is that of its risk. `team_alone` is the team
    whose agents alone see it, None where every agent does. `lacking` says why it is unavailable,
    `switch` that it is switched off, and `stands_in` for what it is the fallback.
    """

    version_id: UUID
    skill_id: UUID
    release_id: UUID | None
    folder: str
    name: str
    version: str
    arm: str
    rank: int
    artifact: str
    inline: bool
    team_alone: UUID | None
    item: Mapping[str, Any]
    rendered: bytes
    lacking: tuple[str, ...]
    switch: Switch | None
    stands_in: tuple[str, ...]

    @property
    def ids(self) -> tuple[str]:
        """The version's id, as reads of it are counted."""
        return (self.version_id.hex,)

    @property
    def files(self) -> tuple[ServedFile, ...]:
        """Its files, sorted by path."""
        return files_of(self.version_id)

    @property
    def resources(self) -> list[ServedFile]:
        """The files that `read_skill_resource` reads."""
        return [file for file in self.files if is_resource(file.path, inline=self.inline)]

    @property
    def scripts(self) -> list[ServedFile]:
        """The files that `run_skill_script` runs."""
        return [file for file in self.files if is_script(file.path)]


@dataclass(frozen=True, slots=True)
class Slot:
    """A skill's place in an environment: its live version, and a canary beside it.

    The callers in the cohort are served the candidate, and `percent` of the others.
    """

    stable: Served | None
    candidate: Served | None = None
    percent: int = 0
    seed: str = ""
    cohort: Cohort = NOBODY


@dataclass(frozen=True)
class Snapshot:
    """An environment at a revision, its skills in the order in which they depend on each other.

    `gray` holds the folders of its canaries; `around` says of pinned versions what they lack.
    """

    environment_id: UUID
    environment: str
    revision: int
    slots: Mapping[str, Slot]
    gray: tuple[str, ...]
    around: Surroundings


_files: Bounded[UUID, tuple[ServedFile, ...]] = Bounded(
    lambda files: 100 + sum(400 + len(file.path) for file in files), most=32 * 1024 * 1024
)


def files_of(version_id: UUID) -> tuple[ServedFile, ...]:
    """The files of a version; they never change."""
    rows = (
        BundleFile.objects.filter(version_id=version_id)
        .order_by("path")
        .values_list("path", "blob__size", "blob_id", "executable")
    )
    return _files.get(version_id, lambda: tuple(ServedFile(*row) for row in rows))


def compile_snapshot(environment_id: UUID) -> Snapshot:
    """Read what the environment serves, in one go.

    The revision is read first: a change while the rest is read makes the snapshot look older than
    it is, and it is compiled again.
    """
    environment = with_switches(Environment.objects.all()).get(pk=environment_id)
    by_folder: dict[str, dict[str, Release]] = {}
    for release in with_parts(
        Release.objects.filter(
            environment=environment,
            state__in=SERVED,
            skill__deleted_at=None,
            version__yanked_at=None,
            version__revoked_at=None,
        )
    ):
        by_folder.setdefault(release.skill.folder, {})[release.state] = release
    stable = {one: rows[State.LIVE] for one, rows in by_folder.items() if State.LIVE in rows}
    around = surroundings_of(environment, stable)
    needs = {folder: _needed(releases.values()) for folder, releases in by_folder.items()}
    return Snapshot(
        environment_id=environment.pk,
        environment=environment.name,
        revision=environment.revision,
        slots={one: _slot(by_folder[one], around) for one in in_order(by_folder, needs)},
        gray=tuple(folder for folder, releases in by_folder.items() if State.CANARY in releases),
        around=around,
    )


def with_parts(releases: QuerySet[Release]) -> QuerySet[Release]:
    """The releases with all that `serve` reads of them."""
    return releases.select_related("environment", "skill__team", "version__publisher").prefetch_related(
        "version__dependencies"
    )


def _needed(releases: Iterable[Release]) -> set[str]:
    return {folder for release in releases for folder in wanted_by(release.version)}


def _slot(releases: Mapping[str, Release], around: Surroundings) -> Slot:
    stable, canary = releases.get(State.LIVE), releases.get(State.CANARY)
    return Slot(
        stable=serve(stable, around) if stable else None,
        candidate=serve(canary, around) if canary else None,
        percent=canary.percent if canary else 0,
        seed=canary.seed if canary else "",
        cohort=_cohort(plan_of(canary.canary)) if canary else NOBODY,
    )


def _cohort(plan: Plan) -> Cohort:
    return Cohort(frozenset(plan.agents), frozenset(plan.teams), frozenset(plan.tags))


def serve(release: Release, around: Surroundings) -> Served:
    """The version of a release as the feed serves it, beside what else is there."""
    version, skill = release.version, release.skill
    switch, lacking = around.off.get(skill.folder), around.lacking(release)
    stands_in = around.stands_in.get(skill.folder, ())
    item = {
        **_item(release),
        **_tell(switch, lacking),
        "fallback_for": [around.off[one].row.skill.name for one in stands_in],
    }
    return Served(
        version_id=version.pk,
        skill_id=skill.pk,
        release_id=release.pk,
        folder=skill.folder,
        name=skill.name,
        version=version.version,
        arm=ARMS.get(release.state, "pinned"),
        rank=RANKS[version.effective_risk],
        artifact=version.artifact_id,
        inline=version.provenance.get("form") == "json",
        team_alone=skill.team_id if skill.visibility == Skill.Visibility.TEAM else None,
        item=item,
        rendered=_rendered(item),
        lacking=lacking,
        switch=switch,
        stands_in=stands_in,
    )


def as_told(one: Served, served: Mapping[str, Served]) -> Served:
    """The same as it is told to a caller who is served these: fallbacks beyond them stand in for nothing."""
    switch = reachable(one.switch, served)
    stands_in = tuple(folder for folder in one.stands_in if folder in served)
    if (switch, stands_in) == (one.switch, one.stands_in):
        return one
    names = [served[folder].name for folder in stands_in]
    item = {**one.item, **_tell(switch, one.lacking), "fallback_for": names}
    return replace(one, item=item, rendered=_rendered(item), switch=switch, stands_in=stands_in)


def _tell(switch: Switch | None, lacking: Sequence[str]) -> dict[str, Any]:
    """The fields that say whether it can be used, and what can be instead."""
    reasons = [switch.told, *lacking] if switch else lacking
    return {
        "available": not reasons,
        "unavailable_reason": " ".join(reasons) or None,
        "fallback": switch.fallback.name if switch and switch.fallback else None,
    }


def _item(release: Release) -> dict[str, Any]:
    version, skill = release.version, release.skill
    return {
        "skill_id": skill.folder,
        "name": skill.name,
        "folder": skill.folder,
        "description": version.description,
        "version": version.version,
        "bundle_sha256": version.bundle_sha256,
        "stability": "deprecated" if version.deprecated_at else version.stability,
        "risk_level": version.effective_risk,
        "tags": version.tags,
        **public_card(version.fields),
        "provenance": {
            "team": skill.team.slug,
            "publisher": version.publisher.username if version.publisher else None,
            "published_at": version.published_at.isoformat().replace("+00:00", "Z"),
            **version.provenance,
        },
        "permissions": version.permissions,
        "has_resources": version.has_resources,
        "has_scripts": version.has_scripts,
        "needs_confirmation": _needs_confirmation(release.environment.call_confirmation, version),
    }


def _rendered(item: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(item)
    except TypeError:  # whole numbers over 64 bits, which an author may write into a schema
        return json.dumps(item, separators=(",", ":")).encode()


def _needs_confirmation(policy: str, version: Version) -> bool:
    return policy == "always" or (policy == "high" and version.effective_risk == Risk.HIGH)
