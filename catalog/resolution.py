"""What an agent is served: which versions, in an environment, at a revision, for a key.

Each environment's feed is compiled once per revision and kept in the process. A request asks
only whether the revision is still the newest, and that at most once a second.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from functools import lru_cache
from hashlib import sha256
from time import monotonic
from typing import Any
from uuid import UUID

from django.db.models import Prefetch

from catalog import rollout
from catalog.availability import in_order, unmet
from catalog.cards import is_resource, is_script, public_card
from catalog.models import Agent, BundleFile, Environment, Release, Risk, Skill, State, Version

# "Within two seconds" (architecture, Feed): a second for the token, a second for the revision.
FRESH_SECONDS = 1.0
READABLE_DAYS = 30
ENDED = (State.SUPERSEDED, State.ROLLED_BACK, State.HALTED)


class Gone(Exception):
    """The version is known, and no longer read here."""


class Unknown(Exception):
    """No such skill is served here; `near` are names like it."""

    def __init__(self, name: str, near: list[str]) -> None:
        super().__init__(name)
        self.near = near


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A file of a served version."""

    path: str
    size: int
    sha256: str
    executable: bool


@dataclass(frozen=True, slots=True)
class Served:
    """A version as the feed serves it; `item` is the entry of the contract."""

    version_id: UUID
    skill_id: UUID
    release_id: UUID | None
    folder: str
    name: str
    version: str
    artifact: str
    inline: bool
    item: Mapping[str, Any]

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
    """A skill's place in an environment: its live version, and a canary beside it."""

    stable: Served | None
    candidate: Served | None = None
    percent: int = 0
    seed: str = ""


@dataclass(frozen=True)
class Snapshot:
    """An environment at a revision, its skills in the order in which they depend on each other."""

    environment_id: UUID
    environment: str
    revision: int
    slots: Mapping[str, Slot]


@dataclass(frozen=True, slots=True)
class Profile:
    """What an agent is limited to: `folders` of skills by name, set and tag (None: all), and a risk."""

    agent_id: UUID
    name: str
    team_id: UUID
    folders: frozenset[str] | None
    highest_risk: str
    template: str

    def allows(self, served: Served) -> bool:
        """Whether the agent may be served this (spec 4.6)."""
        risks = Risk.values
        named = self.folders is None or served.folder in self.folders
        return named and risks.index(served.item["risk_level"]) <= risks.index(self.highest_risk)


@dataclass(frozen=True)
class Feed:
    """What one caller is served. `arms` maps the folder of each gray release to stable or candidate."""

    environment_id: UUID
    environment: str
    revision: int
    profile: Profile
    served: Mapping[str, Served]
    arms: Mapping[str, str]
    etag: str

    def get(self, name: str) -> Served:
        """The skill of this name, in its own spelling or the folder's; raises Unknown."""
        folder = folder_of(name)
        if folder not in self.served:
            raise Unknown(name, near_names(folder, self.served))
        return self.served[folder]


def feed_of(*, agent_id: UUID, environment_id: UUID, key: str = "") -> Feed:
    """What the agent is served in the environment; `key` is a session or an end user, else the agent."""
    snapshot = current_snapshot(environment_id)
    profile = profile_of(agent_id)
    caller = key or str(agent_id)
    served: dict[str, Served] = {}
    arms: dict[str, str] = {}
    for folder, slot in snapshot.slots.items():
        chosen, arm = _choose(slot, folder, snapshot.environment, caller)
        if chosen is not None and profile.allows(chosen):
            served[folder] = chosen
            if slot.candidate is not None:
                arms[folder] = arm
    told = f"{sorted(arms.items())}{sorted(served)}"
    etag = f'"{snapshot.revision}-{sha256(told.encode()).hexdigest()[:16]}"'
    return Feed(environment_id, snapshot.environment, snapshot.revision, profile, served, arms, etag)


def _choose(slot: Slot, folder: str, environment: str, caller: str) -> tuple[Served | None, str]:
    if slot.candidate is None:
        return slot.stable, "stable"
    bucket = rollout.bucket_of(seed=slot.seed, skill=folder, environment=environment, key=caller)
    if rollout.is_candidate(bucket=bucket, percent=slot.percent):
        return slot.candidate, "candidate"
    return slot.stable, "stable"


def read_version(*, feed: Feed, name: str, version: str | None, now: datetime) -> Served:
    """The served version of a skill, or a pinned one that was live here in the last 30 days.

    Raises Unknown for a skill that the caller is not served, and Gone for a version that never
    was live here, has not been for 30 days, or was revoked.
    """
    folder = folder_of(name)
    served = feed.served.get(folder)
    if version is None or (served is not None and version == served.version):
        return feed.get(name)
    since = now - timedelta(days=READABLE_DAYS)
    release = (
        Release.objects.filter(
            environment_id=feed.environment_id,
            skill__folder=folder,
            skill__deleted_at=None,
            version__version=version,
            version__revoked_at=None,
            transitions__to_state__in=(State.LIVE, State.CANARY),
        )
        .exclude(changed_at__lt=since, state__in=ENDED)
        .select_related("environment", "skill__team", "version__publisher")
        .order_by("-changed_at")
        .first()
    )
    if release is not None:
        pinned = _serve(release, {})
        if feed.profile.allows(pinned):
            return pinned
    if served is None:
        return feed.get(name)
    raise Gone(f"Version {version} of {served.name} is not served in {feed.environment}.")


def folder_of(name: str) -> str:
    """The folder name of a skill that is addressed by either of its names (`manifest.md`)."""
    return name.replace(".", "-").replace("_", "-")


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """At most five names that look like the one asked for, best first."""
    return get_close_matches(name, list(names), n=5, cutoff=0.5)


@lru_cache(maxsize=8192)
def files_of(version_id: UUID) -> tuple[ServedFile, ...]:
    """The files of a version; they never change."""
    rows = (
        BundleFile.objects.filter(version_id=version_id)
        .order_by("path")
        .values_list("path", "blob__size", "blob_id", "executable")
    )
    return tuple(ServedFile(*row) for row in rows)


_lock = threading.Lock()
_snapshots: dict[UUID, Snapshot] = {}
_checked: dict[UUID, float] = {}
_profiles: dict[UUID, tuple[float, Profile]] = {}


def forget_cached() -> None:
    """Empty this process's memory of feeds and agents."""
    with _lock:
        _snapshots.clear()
        _checked.clear()
        _profiles.clear()


def current_snapshot(environment_id: UUID) -> Snapshot:
    """The newest snapshot of the environment, at most a second old."""
    kept = _snapshots.get(environment_id)
    if kept is not None and monotonic() - _checked.get(environment_id, 0.0) < FRESH_SECONDS:
        return kept
    with _lock:
        kept = _snapshots.get(environment_id)
        asked = monotonic()
        revision = Environment.objects.values_list("revision", flat=True).get(pk=environment_id)
        if kept is None or kept.revision != revision:
            kept = compile_snapshot(environment_id)
            _snapshots[environment_id] = kept
        _checked[environment_id] = asked
    return kept


def profile_of(agent_id: UUID) -> Profile:
    """The agent's limits, at most a second old."""
    kept = _profiles.get(agent_id)
    if kept is None or monotonic() - kept[0] >= FRESH_SECONDS:
        agent = Agent.objects.get(pk=agent_id)
        profile = Profile(
            agent_id=agent.pk,
            name=agent.name,
            team_id=agent.team_id,
            folders=_folders_of(agent),
            highest_risk=agent.highest_risk,
            template=agent.template,
        )
        kept = (monotonic(), profile)
        _profiles[agent_id] = kept
    return kept[1]


def _folders_of(agent: Agent) -> frozenset[str] | None:
    """The skills that the agent is limited to; each kind of limit holds by itself (spec 4.6).

    Read with the agent, not kept in the snapshot: sets and tags change without a release.
    """
    skills, sets = agent.skills.exists(), agent.sets.exists()
    if not skills and not sets and not agent.skill_tags:
        return None
    found = Skill.objects.all()
    if skills:
        found = found.filter(agents=agent)
    if sets:
        found = found.filter(sets__in=agent.sets.all())
    if agent.skill_tags:
        found = found.filter(tags__tag__in=agent.skill_tags)
    return frozenset(found.values_list("folder", flat=True))


def compile_snapshot(environment_id: UUID) -> Snapshot:
    """Read what the environment serves, in one go.

    The revision is read first: a change while the rest is read makes the snapshot look older than
    it is, and it is compiled again.
    """
    environment = Environment.objects.get(pk=environment_id)
    rows = (
        Release.objects.filter(
            environment=environment,
            state__in=(State.LIVE, State.CANARY),
            skill__deleted_at=None,
            version__yanked_at=None,
            version__revoked_at=None,
        )
        .select_related("environment", "skill__team", "version__publisher")
        .prefetch_related(Prefetch("version__dependencies", to_attr="wanted"))
    )
    by_folder: dict[str, dict[str, Release]] = {}
    for release in rows:
        by_folder.setdefault(release.skill.folder, {})[release.state] = release
    live = {
        folder: releases[State.LIVE].version.version
        for folder, releases in by_folder.items()
        if State.LIVE in releases
    }
    wanted = {
        folder: [d.folder for r in releases.values() for d in _wanted(r.version)]
        for folder, releases in by_folder.items()
    }
    slots = {folder: _slot(by_folder[folder], live) for folder in in_order(by_folder, wanted)}
    return Snapshot(environment.pk, environment.name, environment.revision, slots)


def _wanted(version: Version) -> list[Any]:
    kept: list[Any] = getattr(version, "wanted", [])
    return kept


def _slot(releases: Mapping[str, Release], live: Mapping[str, str]) -> Slot:
    stable, canary = releases.get(State.LIVE), releases.get(State.CANARY)
    return Slot(
        stable=_serve(stable, live) if stable else None,
        candidate=_serve(canary, live) if canary else None,
        percent=canary.percent if canary else 0,
        seed=canary.seed if canary else "",
    )


def _serve(release: Release, live: Mapping[str, str]) -> Served:
    version, skill, environment = release.version, release.skill, release.environment
    lacking = unmet({d.folder: d.minimum for d in _wanted(version)}, live)
    reason = " ".join(lacking)
    item = {
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
        "needs_confirmation": _needs_confirmation(environment.call_confirmation, version),
        "available": not lacking,
        "unavailable_reason": reason or None,
    }
    return Served(
        version_id=version.pk,
        skill_id=skill.pk,
        release_id=release.pk,
        folder=skill.folder,
        name=skill.name,
        version=version.version,
        artifact=version.artifact_id,
        inline=version.provenance.get("form") == "json",
        item=item,
    )


def _needs_confirmation(policy: str, version: Version) -> bool:
    return policy == "always" or (policy == "high" and version.effective_risk == Risk.HIGH)
