"""Which arm of a gray release a caller gets: sticky, monotone, fair, independent between skills.

All of it is plain reckoning: the same release, caller and percentage give the same arm in every
process, on every database and after every restart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
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


@dataclass(frozen=True, slots=True)
class Draw:
    """A gray release as one kind of caller meets it: the places below `below` get the candidate.

    `begun` is the hash of what is the same for all callers; it is copied, never added to.
    """

    begun: blake2b
    below: int


NO_CHANCE = Draw(blake2b(), 0)


def draw_of(*, seed: str, skill: str, environment: str, percent: int, named: bool = False) -> Draw:
    """The draw at this percentage; callers that the release names (`named`) get the candidate at any."""
    return Draw(_begin(seed, skill, environment), BUCKETS if named else _below(percent))


def arms_of(draws: Iterable[Draw], *, key: str) -> bytes:
    """The arm of the caller with this key in each draw: a byte, 1 for the candidate and 0 for stable.

    The same as `bucket_of` and `is_candidate` say of each; a request has hundreds of draws.
    """
    told = _encoded(key)
    return bytes(
        [
            _place(draw.begun, told) < draw.below if 0 < draw.below < BUCKETS else draw.below > 0
            for draw in draws
        ]
    )


def bucket_of(*, seed: str, skill: str, environment: str, key: str) -> int:
    """The caller's place, 0 to 9,999, in the gray release with this seed.

    A keyless caller (key "") is the caller's to serve stable. Raising the percentage only ever
    moves callers from stable to candidate, since a place never changes (spec 4.3).
    """
    return _place(_begin(seed, skill, environment), _encoded(key))


def is_candidate(*, bucket: int, percent: int, named: bool = False) -> bool:
    """Whether the caller at this place is served the candidate of a release at `percent`.

    Callers that the release names (`named`) are, wherever they are placed.
    """
    return named or bucket < _below(percent)


def _below(percent: int) -> int:
    return percent * BUCKETS // 100


def _begin(seed: str, skill: str, environment: str) -> blake2b:
    return blake2b(_encoded("\0".join((seed, skill, environment, ""))), digest_size=8)


def _place(begun: blake2b, key: bytes) -> int:
    state = begun.copy()
    state.update(key)
    return int.from_bytes(state.digest()) % BUCKETS


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
