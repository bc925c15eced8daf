"""Which arm of a gray release a caller gets: sticky, monotone, fair, independent between skills.

All of it is plain reckoning: the same release, caller and percentage give the same arm in every
process, on every database, after every restart.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b

BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class Cohort:
    """The callers that a gray release names: agents by name, teams by slug, tags of agents."""

    agents: frozenset[str] = frozenset()
    teams: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()

    def holds(self, *, agent: str, team: str, tags: Collection[str]) -> bool:
        """Whether the agent is among them, by any of the three."""
        return agent in self.agents or team in self.teams or not self.tags.isdisjoint(tags)


NOBODY = Cohort()


def bucket_of(*, seed: str, skill: str, environment: str, key: str) -> int:
    """The caller's place, 0 to 9,999, in the gray release with this seed.

    A keyless caller (key "") is the caller's to serve stable. Raising the percentage only ever
    moves callers from stable to candidate, since a place never changes (spec 4.3).
    """
    told = "\0".join((seed, skill, environment, key)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(told, digest_size=8).digest()) % BUCKETS


def is_candidate(*, bucket: int, percent: int) -> bool:
    """Whether the caller at this place is served the candidate of a release at `percent`."""
    return bucket < percent * BUCKETS // 100
