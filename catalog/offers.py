"""What an environment offers to the agents of some limits, before a caller's places in its canaries are known.

What all such callers are served alike is put together once, so that a caller's own set out of
thousands of skills costs no more than its canaries.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

import orjson

from catalog.profiles import Limits, Profile
from catalog.rollout import NO_CHANCE, Draw, arms_of, draw_of
from catalog.snapshots import Served, Slot, Snapshot, as_told


@dataclass(frozen=True, slots=True)
class Gray:
    """A gray release: what callers in either arm are served, None for nothing, and how a caller's arm is drawn.

    Where the candidate is beyond the limits, no caller is drawn for it.
    """

    folder: str
    stable: Served | None
    candidate: Served | None
    draw: Draw


class Offer:
    """The skills of a snapshot within these limits; `named` are the folders whose canaries name the callers.

    Most are the same for all such callers. Those that are not are called moving: gray releases, and
    skills of which less is told to who is not served the other one, a fallback or what it stands in for.
    """

    def __init__(self, snapshot: Snapshot, limits: Limits, named: frozenset[str]) -> None:
        self.snapshot, self.limits = snapshot, limits
        # In the order of the feed; of a gray release either arm, until a caller's is known.
        self._served: dict[str, Served] = {}
        self.gray: list[Gray] = []
        for folder, slot in snapshot.slots.items():
            stable, candidate = self._within(slot.stable), self._within(slot.candidate)
            if first := stable or candidate:
                self._served[folder] = first
                if slot.candidate:
                    draw = self._draw(folder, slot, named) if candidate else NO_CHANCE
                    self.gray.append(Gray(folder, stable, candidate, draw))
        self.gray.sort(key=lambda one: one.folder)
        self._draws = [one.draw for one in self.gray]
        self._linked = [folder for folder in self._served if _is_linked(snapshot.slots[folder])]
        drawn = {one.folder for one in self.gray}
        self._always = {folder: self._served[folder] for folder in self._linked if folder not in drawn}
        self._pieces, self._places = self._cut(drawn | set(self._linked))
        self._hexes = {folder: _hexes(snapshot.slots[folder]) for folder in self._places}
        self.fixed_ids = tuple(
            one.version_id.hex for folder, one in self._served.items() if folder not in self._places
        )
        # About how many bytes of memory this takes, beside the snapshot.
        self.weight = sum(map(len, self._pieces)) + 300 * len(self._served) + 1000 * len(self._places)
        told = (snapshot.environment, list(self._served), [one.folder for one in self.gray])
        self._digest = sha256(repr(told).encode())

    def arms_of(self, key: str) -> bytes:
        """A byte for each gray release: 1 where the caller with this key is served the candidate."""
        return arms_of(self._draws, key=key)

    def choose(self, arms: bytes) -> dict[str, Served]:
        """What callers in these arms are served of the moving ones, by folder name."""
        chosen = dict(self._always)
        for one, arm in zip(self.gray, arms, strict=True):
            if there := one.candidate if arm else one.stable:
                chosen[one.folder] = there
        if self._linked:
            served = self.serve(chosen)
            chosen |= {one: as_told(served[one], served) for one in self._linked if one in served}
        return chosen

    def serve(self, chosen: Mapping[str, Served]) -> dict[str, Served]:
        """All that callers with these moving ones are served, by folder name, dependencies first."""
        served = dict(self._served)
        for folder in self._places:
            if folder in chosen:
                served[folder] = chosen[folder]
            else:
                del served[folder]
        return served

    def arms_in(self, chosen: Mapping[str, Served]) -> Iterator[tuple[str, str]]:
        """The folder and the arm of each gray release that is served, sorted."""
        return ((one.folder, chosen[one.folder].arm) for one in self.gray if one.folder in chosen)

    def moving_ids(self, chosen: Mapping[str, Served]) -> tuple[str, ...]:
        """The ids of the versions of these, which are not among `fixed_ids`."""
        return tuple([self._hexes[folder][one.arm] for folder, one in chosen.items()])

    def tag(self, arms: bytes) -> str:
        """The entity tag of what callers in these arms are served."""
        digest = self._digest.copy()
        digest.update(arms)
        return f'"{self.snapshot.revision}-{digest.hexdigest()[:16]}"'

    def render(self, chosen: Mapping[str, Served]) -> bytes:
        """The answer that lists all that callers with these moving ones are served."""
        pieces = list(self._pieces)
        for folder, place in self._places.items():
            if folder in chosen:
                pieces[place] = chosen[folder].rendered
        found = [piece for piece in pieces if piece]
        head = {"environment": self.snapshot.environment, "revision": self.snapshot.revision}
        start = orjson.dumps(head)[:-1] + b',"skills":['
        if not found:
            return start + b"]}"
        found[0] = start + found[0]
        found[-1] += b"]}"
        return b",".join(found)

    def _within(self, one: Served | None) -> Served | None:
        return one if one and self.limits.allow(one) else None

    def _draw(self, folder: str, slot: Slot, named: frozenset[str]) -> Draw:
        where, is_named = self.snapshot.environment, folder in named
        return draw_of(seed=slot.seed, skill=folder, environment=where, percent=slot.percent, named=is_named)

    def _cut(self, moving: Container[str]) -> tuple[list[bytes], dict[str, int]]:
        """The answer in pieces, and the place of the piece of each that is moving, which is empty."""
        pieces: list[bytes] = []
        places: dict[str, int] = {}
        same: list[bytes] = []
        for folder, one in self._served.items():
            if folder not in moving:
                same.append(one.rendered)
                continue
            if same:
                pieces.append(b",".join(same))
                same = []
            places[folder] = len(pieces)
            pieces.append(b"")
        return [*pieces, b",".join(same)], places


def naming(snapshot: Snapshot, profile: Profile) -> frozenset[str]:
    """The folders of the gray releases that name the agent as a caller of theirs."""
    return frozenset(one for one in snapshot.gray if profile.is_named_by(snapshot.slots[one].cohort))


def _arms(slot: Slot) -> list[Served]:
    return [one for one in (slot.stable, slot.candidate) if one]


def _is_linked(slot: Slot) -> bool:
    return any((one.switch and one.switch.fallback) or one.stands_in for one in _arms(slot))


def _hexes(slot: Slot) -> dict[str, str]:
    return {one.arm: one.version_id.hex for one in _arms(slot)}
