"""What an environment offers to the agents of some limits, before a caller's places in its canaries are known.

What all such callers are served alike is put together once, so that a caller's own set out of
thousands of skills costs no more than its canaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import orjson

from catalog.profiles import Limits
from catalog.rollout import NO_CHANCE, Draw, arms_of, draw_of
from catalog.snapshots import Served, Slot, Snapshot, as_told

# A proxy refuses an answer whose headers take more than a few kilobytes.
LONGEST_ASSIGNMENT = 2000


@dataclass(frozen=True, slots=True)
class Gray:
    """A gray release: what callers in either arm are served, None for nothing."""

    folder: str
    stable: Served | None
    candidate: Served | None

    def serve(self, arm: int) -> Served | None:
        """What the arm is served; the stable version where the candidate is beyond the limits."""
        return (self.candidate or self.stable) if arm else self.stable


class Offer:
    """The skills of a snapshot within these limits; `named` are the folders whose canaries name the callers."""

    def __init__(self, snapshot: Snapshot, limits: Limits, named: frozenset[str]) -> None:
        self.snapshot, self.limits = snapshot, limits
        self.gray: list[Gray] = []
        self._draws: list[Draw] = []
        # In the order of the feed; of a gray release either arm, until a caller's is known.
        self._served: dict[str, Served] = {}
        for folder, slot in snapshot.slots.items():
            stable, candidate = (one and self._allowed(one) for one in (slot.stable, slot.candidate))
            first = stable or candidate
            if first is None:
                continue
            self._served[folder] = first
            if slot.candidate:
                self.gray.append(Gray(folder, stable, candidate))
                self._draws.append(self._draw(folder, slot, named) if candidate else NO_CHANCE)
        # What is told of these depends on what else a caller is served.
        self._linked = [folder for folder, one in self._served.items() if self._is_linked(folder)]
        self._moving = {one.folder for one in self.gray} | set(self._linked)
        self.fixed_ids = tuple(
            one.version_id.hex for folder, one in self._served.items() if folder not in self._moving
        )
        self._pieces, self._places = self._cut()
        self.weight = sum(map(len, self._pieces)) + 300 * len(self._served) + 500 * len(self.gray)
        told = (snapshot.environment, list(self._served), [one.folder for one in self.gray])
        self._digest = sha256(repr(told).encode())

    def __len__(self) -> int:
        return len(self._served)

    def arms_of(self, key: str) -> bytes:
        """A byte for each gray release: 1 where the caller with this key is served the candidate."""
        return arms_of(self._draws, key=key)

    def serve(self, arms: bytes) -> Mapping[str, Served]:
        """What callers in these arms are served, by folder name, dependencies first."""
        served = dict(self._served)
        for one, arm in zip(self.gray, arms, strict=True):
            chosen = one.serve(arm)
            if chosen is None:
                del served[one.folder]
            else:
                served[one.folder] = chosen
        told = {folder: as_told(served[folder], served) for folder in self._linked if folder in served}
        served.update(told)
        return served

    def moving_ids(self, served: Mapping[str, Served]) -> tuple[str, ...]:
        """The ids of those versions among the served that are not in `fixed_ids`."""
        return tuple(served[folder].version_id.hex for folder in self._places if folder in served)

    def tag(self, arms: bytes) -> str:
        """The entity tag of what callers in these arms are served."""
        digest = self._digest.copy()
        digest.update(arms)
        return f'"{self.snapshot.revision}-{digest.hexdigest()[:16]}"'

    def render(self, served: Mapping[str, Served]) -> bytes:
        """The answer that lists the served ones."""
        pieces = list(self._pieces)
        for folder, place in self._places.items():
            pieces[place] = served[folder].rendered if folder in served else b""
        found = [piece for piece in pieces if piece]
        head = {"environment": self.snapshot.environment, "revision": self.snapshot.revision}
        start = orjson.dumps(head)[:-1] + b',"skills":['
        if not found:
            return start + b"]}"
        found[0] = start + found[0]
        found[-1] += b"]}"
        return b",".join(found)

    def _allowed(self, one: Served) -> Served | None:
        return one if self.limits.allow(one) else None

    def _draw(self, folder: str, slot: Slot, named: frozenset[str]) -> Draw:
        return draw_of(
            seed=slot.seed,
            skill=folder,
            environment=self.snapshot.environment,
            percent=slot.percent,
            named=folder in named,
        )

    def _is_linked(self, folder: str) -> bool:
        slot = self.snapshot.slots[folder]
        return any(
            one and ((one.switch and one.switch.fallback) or one.stands_in)
            for one in (slot.stable, slot.candidate)
        )

    def _cut(self) -> tuple[list[bytes], dict[str, int]]:
        """The answer in pieces, and the place of each piece that is not the same for all callers."""
        pieces: list[bytes] = []
        places: dict[str, int] = {}
        same: list[bytes] = []
        for folder, one in self._served.items():
            if folder not in self._moving:
                same.append(one.rendered)
                continue
            if same:
                pieces.append(b",".join(same))
                same = []
            places[folder] = len(pieces)
            pieces.append(b"")
        return [*pieces, b",".join(same)], places


def tell_arms(arms: Mapping[str, str]) -> str:
    """The arm of each gray release, sorted by folder name, as a header holds it; cut where it grows too long."""
    told: list[str] = []
    length = 0
    for folder, arm in sorted(arms.items()):
        length += len(folder) + len(arm) + 3
        if length > LONGEST_ASSIGNMENT:
            return ", ".join([*told, "..."])
        told.append(f"{folder}={arm}")
    return ", ".join(told)
