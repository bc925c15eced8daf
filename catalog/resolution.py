"""What an agent is served: which versions, in an environment, at a revision, for a key.

Each environment's feed is compiled once per revision and kept in the process. A request asks only
whether the revision is still the newest, and that at most once a second; what two callers are
served alike is put together once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from hashlib import sha256
from uuid import UUID

import orjson

from catalog import rollout
from catalog.caches import Bounded, Fresh, forget_everything
from catalog.models import Environment
from catalog.profiles import Profile, read_profile
from catalog.snapshots import Served, Snapshot, as_told, compile_snapshot

# "Within two seconds" (architecture, Feed): a second for the token, a second for the revision.
FRESH_SECONDS = 1.0
# Comparing is slow; of so many names the alike ones are good enough.
MOST_COMPARED = 500


class Gone(Exception):
    """The version is known, and no longer read here."""


class Unknown(Exception):
    """No such skill is served here; `near` are names like it."""

    def __init__(self, name: str, near: list[str]) -> None:
        super().__init__(name)
        self.near = near


@dataclass(frozen=True)
class Feed:
    """What one caller is served, and `body`, the answer that lists all of it.

    `arms` maps the folder of each gray release to stable or candidate.
    """

    snapshot: Snapshot
    profile: Profile
    served: Mapping[str, Served]
    arms: Mapping[str, str]
    etag: str
    body: bytes

    @property
    def environment_id(self) -> UUID:
        """The environment of the caller's token."""
        return self.snapshot.environment_id

    @property
    def environment(self) -> str:
        """Its name."""
        return self.snapshot.environment

    @property
    def revision(self) -> int:
        """Which state of the environment this is."""
        return self.snapshot.revision

    @cached_property
    def advertised(self) -> tuple[Served, ...]:
        """Without those hidden from the model, and those of no use for now."""
        return tuple(
            one for one in self.served.values() if one.item["model_invocable"] and one.item["available"]
        )

    @cached_property
    def version_ids(self) -> tuple[str, ...]:
        """The ids of all, as reads of them are counted."""
        return tuple(one.version_id.hex for one in self.served.values())

    @cached_property
    def advertised_ids(self) -> tuple[str, ...]:
        """The ids of those that are advertised."""
        return tuple(one.version_id.hex for one in self.advertised)

    def get(self, name: str) -> Served:
        """The skill of this name, in its own spelling or the folder's; raises Unknown."""
        folder = folder_of(name)
        if folder not in self.served:
            raise Unknown(name, near_names(folder, self.served))
        return self.served[folder]


def feed_of(*, agent_id: UUID, environment_id: UUID, key: str = "") -> Feed:
    """What the agent is served in the environment; `key` is a session or an end user, else the agent."""
    snapshot, profile = _snapshots.get(environment_id), _profiles.get(agent_id)
    caller = key or str(agent_id)
    places = tuple(_is_candidate(snapshot, folder, caller) for folder in snapshot.gray)
    told = (environment_id, snapshot.revision, profile, places)
    return _feeds.get(told, lambda: _put_together(snapshot, profile, places))


def forget_cached() -> None:
    """Empty this process's memory of feeds and agents."""
    forget_everything()


def folder_of(name: str) -> str:
    """The folder name of a skill that is addressed by either of its names (`manifest.md`)."""
    return name.replace(".", "-").replace("_", "-")


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """At most five names that look like the one asked for, best first.

    Of names much longer or shorter none looks like it; of the rest those that begin alike come first.
    """
    alike = [one for one in names if abs(len(one) - len(name)) <= 2 + len(name) // 2]
    alike.sort(key=lambda one: (one[:1] != name[:1], one[:3] != name[:3]))
    return get_close_matches(name, alike[:MOST_COMPARED], n=5, cutoff=0.5)


def _read_snapshot(environment_id: UUID, before: Snapshot | None) -> Snapshot:
    """The newest snapshot; the one before where the revision is still the same."""
    if before is not None:
        revision = Environment.objects.values_list("revision", flat=True).get(pk=environment_id)
        if before.revision == revision:
            return before
    return compile_snapshot(environment_id)


def _is_candidate(snapshot: Snapshot, folder: str, caller: str) -> bool:
    slot = snapshot.slots[folder]
    bucket = rollout.bucket_of(seed=slot.seed, skill=folder, environment=snapshot.environment, key=caller)
    return rollout.is_candidate(bucket=bucket, percent=slot.percent)


def _put_together(snapshot: Snapshot, profile: Profile, places: tuple[bool, ...]) -> Feed:
    candidates = {folder for folder, there in zip(snapshot.gray, places, strict=True) if there}
    served: dict[str, Served] = {}
    for folder, slot in snapshot.slots.items():
        chosen = slot.candidate if folder in candidates else slot.stable
        if chosen is not None and profile.allows(chosen):
            served[folder] = chosen
    served = {folder: as_told(one, served) for folder, one in served.items()}
    arms = {folder: served[folder].arm for folder in snapshot.gray if folder in served}
    told = f"{sorted(arms.items())}{sorted(served)}"
    head = {"environment": snapshot.environment, "revision": snapshot.revision}
    items = b",".join(one.rendered for one in served.values())
    return Feed(
        snapshot=snapshot,
        profile=profile,
        served=served,
        arms=arms,
        etag=f'"{snapshot.revision}-{sha256(told.encode()).hexdigest()[:16]}"',
        body=orjson.dumps(head)[:-1] + b',"skills":[' + items + b"]}",
    )


_snapshots = Fresh(_read_snapshot, seconds=FRESH_SECONDS)
_profiles = Fresh(read_profile, seconds=FRESH_SECONDS)
_feeds: Bounded[tuple[UUID, int, Profile, tuple[bool, ...]], Feed] = Bounded(
    lambda feed: len(feed.body) + 200 * (len(feed.served) + 1), most=64 * 1024 * 1024
)
