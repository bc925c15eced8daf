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
from uuid import UUID

from catalog.bundles.files import MIB
from catalog.caches import Bounded, Fresh, forget_everything
from catalog.models import Environment
from catalog.offers import Offer, naming
from catalog.profiles import Limits, Profile, read_profile
from catalog.snapshots import Served, Snapshot, compile_snapshot

# "Within two seconds" (architecture, Feed): a second for the token, a second for the revision.
FRESH_SECONDS = 1.0
# A proxy refuses an answer whose headers take more than a few kilobytes.
LONGEST_ASSIGNMENT = 2000
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
    """What callers of the same limits, in the same arms, are served; `chosen` is what others are not."""

    offer: Offer
    chosen: Mapping[str, Served]
    etag: str

    @property
    def snapshot(self) -> Snapshot:
        """All that is served there."""
        return self.offer.snapshot

    @property
    def limits(self) -> Limits:
        """What the callers are limited to."""
        return self.offer.limits

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

    @property
    def body(self) -> bytes:
        """The answer that lists all of it."""
        return _bodies.get((self.offer, self.etag), lambda: self.offer.render(self.chosen))

    @cached_property
    def served(self) -> Mapping[str, Served]:
        """All of it by folder name, dependencies first."""
        return self.offer.serve(self.chosen)

    @property
    def arms(self) -> Mapping[str, str]:
        """Stable or candidate, by the folder of each gray release."""
        return dict(self.offer.arms_in(self.chosen))

    @cached_property
    def assignment(self) -> str:
        """The arms as a header tells them, sorted by folder name; cut where it would grow too long."""
        told: list[str] = []
        left = LONGEST_ASSIGNMENT
        for folder, arm in self.offer.arms_in(self.chosen):
            left -= len(folder) + len(arm) + 3
            if left < 0:
                return ", ".join([*told, "..."])
            told.append(f"{folder}={arm}")
        return ", ".join(told)

    @cached_property
    def advertised(self) -> tuple[Served, ...]:
        """Without those hidden from the model, and those of no use for now."""
        return tuple(
            one for one in self.served.values() if one.item["model_invocable"] and one.item["available"]
        )

    @cached_property
    def counted_ids(self) -> tuple[tuple[str, ...], ...]:
        """The ids of all, as reads are counted: those that callers in all arms are served, and the others."""
        return self.offer.fixed_ids, self.offer.moving_ids(self.chosen)

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
    offer = _offer_to(_snapshots.get(environment_id), _profiles.get(agent_id))
    caller = key or str(agent_id)
    arms = _arms.get((offer, caller), lambda: offer.arms_of(caller)) if offer.gray else b""
    return _feeds.get((offer, arms), lambda: _put_together(offer, arms))


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
        # What was put together of the older one is asked for no more, and holds all of it in memory.
        for memory in (_offers, _offers_to, _arms, _feeds, _bodies):
            memory.clear()
    return compile_snapshot(environment_id)


def _offer_to(snapshot: Snapshot, profile: Profile) -> Offer:
    """What the snapshot offers to the agent: the same to all of the same limits that no canary tells apart."""
    place = snapshot.environment_id, snapshot.revision

    def look_up() -> Offer:
        named = naming(snapshot, profile)
        return _offers.get((*place, profile.limits, named), lambda: Offer(snapshot, profile.limits, named))

    return _offers_to.get((*place, profile), look_up)


def _put_together(offer: Offer, arms: bytes) -> Feed:
    return Feed(offer=offer, chosen=offer.choose(arms), etag=offer.tag(arms))


_snapshots = Fresh(_read_snapshot, seconds=FRESH_SECONDS)
_profiles = Fresh(read_profile, seconds=FRESH_SECONDS)
_offers: Bounded[tuple[UUID, int, Limits, frozenset[str]], Offer] = Bounded(
    lambda offer: offer.weight, most=64 * MIB
)
_offers_to: Bounded[tuple[UUID, int, Profile], Offer] = Bounded(lambda offer: 1000, most=8 * MIB)
_arms: Bounded[tuple[Offer, str], bytes] = Bounded(lambda arms: 1000 + len(arms), most=16 * MIB)
_feeds: Bounded[tuple[Offer, bytes], Feed] = Bounded(
    lambda feed: 2000 + feed.offer.weight // 10, most=32 * MIB
)
_bodies: Bounded[tuple[Offer, str], bytes] = Bounded(len, most=32 * MIB)
