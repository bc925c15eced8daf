"""What an environment serves at a revision: each skill's live version, and a canary beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from django.db.models import QuerySet

from catalog.availability import in_order, shown_to, unavailable, unmet, wanted_by
from catalog.bundles.bundle import RISKS
from catalog.caches import Bounded
from catalog.canaries import Plan, plan_of
from catalog.cards import is_resource, is_script, public_card
from catalog.models import SERVED, BundleFile, Environment, Release, Risk, Skill, State, Version
from catalog.rollout import NOBODY, Cohort

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
    whose agents alone see it, None where every agent does.
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

    `gray` holds the folders of its canaries; `live`, `broken` and `private` say of pinned versions what
    they lack.
    """

    environment_id: UUID
    environment: str
    revision: int
    slots: Mapping[str, Slot]
    gray: tuple[str, ...]
    live: Mapping[str, str]
    broken: frozenset[str]
    private: Mapping[str, UUID]


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
    environment = Environment.objects.get(pk=environment_id)
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
    stable = {
        folder: releases[State.LIVE] for folder, releases in by_folder.items() if State.LIVE in releases
    }
    live = {folder: release.version.version for folder, release in stable.items()}
    broken = unavailable(live, {folder: wanted_by(release.version) for folder, release in stable.items()})
    private = {
        folder: release.skill.team_id
        for folder, release in stable.items()
        if release.skill.visibility == Skill.Visibility.TEAM
    }
    needs = {folder: _needed(releases.values()) for folder, releases in by_folder.items()}
    return Snapshot(
        environment_id=environment.pk,
        environment=environment.name,
        revision=environment.revision,
        slots={one: _slot(by_folder[one], live, broken, private) for one in in_order(by_folder, needs)},
        gray=tuple(folder for folder, releases in by_folder.items() if State.CANARY in releases),
        live=live,
        broken=broken,
        private=private,
    )


def with_parts(releases: QuerySet[Release]) -> QuerySet[Release]:
    """The releases with all that `serve` reads of them."""
    return releases.select_related("environment", "skill__team", "version__publisher").prefetch_related(
        "version__dependencies"
    )


def _needed(releases: Iterable[Release]) -> set[str]:
    return {folder for release in releases for folder in wanted_by(release.version)}


def _slot(
    releases: Mapping[str, Release],
    live: Mapping[str, str],
    broken: frozenset[str],
    private: Mapping[str, UUID],
) -> Slot:
    stable, canary = releases.get(State.LIVE), releases.get(State.CANARY)
    return Slot(
        stable=serve(stable, live, broken, private) if stable else None,
        candidate=serve(canary, live, broken, private) if canary else None,
        percent=canary.percent if canary else 0,
        seed=canary.seed if canary else "",
        cohort=_cohort(plan_of(canary.canary)) if canary else NOBODY,
    )


def _cohort(plan: Plan) -> Cohort:
    return Cohort(frozenset(plan.agents), frozenset(plan.teams), frozenset(plan.tags))


def serve(
    release: Release, live: Mapping[str, str], broken: frozenset[str], private: Mapping[str, UUID]
) -> Served:
    """The version of a release as the feed serves it.

    `live` is what is live beside it, `broken` what of that is unavailable, and `private` whose the
    team-only skills among them are.
    """
    version, skill = release.version, release.skill
    wanted = wanted_by(version)
    seen = shown_to(skill.team_id, {one: live[one] for one in wanted if one in live}, private)
    item = _item(release, unmet(wanted, seen, broken))
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
    )


def _item(release: Release, lacking: list[str]) -> dict[str, Any]:
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
        "available": not lacking,
        "unavailable_reason": " ".join(lacking) or None,
    }


def _rendered(item: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(item)
    except TypeError:  # whole numbers over 64 bits, which an author may write into a schema
        return json.dumps(item, separators=(",", ":")).encode()


def _needs_confirmation(policy: str, version: Version) -> bool:
    return policy == "always" or (policy == "high" and version.effective_risk == Risk.HIGH)
