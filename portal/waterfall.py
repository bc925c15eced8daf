"""The spans of a call as bars over its duration, and all of a trace on one axis of time.

Pure and total: any spans give a picture, in linear time for those of a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DEEPEST = 2
DEEPEST_IN_TRACE = 4
NARROWEST = 0.5  # hundredths; what is shorter would not be seen


@dataclass(frozen=True, slots=True)
class Bar:
    """One span: `x` and `width` in hundredths of the whole, `depth` from 0 to `DEEPEST`."""

    name: str
    start_ms: int
    duration_ms: int
    depth: int
    x: str
    width: str


def draw(spans: Sequence[object], *, call_ms: int) -> tuple[Bar, ...]:
    """A bar for each span, in their order; the whole is the call, or reaches to the last span's end.

    Spans without a place in time, and whatever is no span, are left out.
    """
    placed = [span for span in spans if isinstance(span, Mapping) and _is_placed(span)]
    total = max([1, call_ms, *(span["start_ms"] + span["duration_ms"] for span in placed)])
    parents = {str(span.get("span_id", "")): str(span.get("parent_id", "")) for span in placed}
    return tuple(
        Bar(
            name=str(span.get("name", "")),
            start_ms=span["start_ms"],
            duration_ms=span["duration_ms"],
            depth=_depth(str(span.get("parent_id", "")), parents),
            x=f"{100 * span['start_ms'] / total:.2f}",
            width=f"{max(NARROWEST, 100 * span['duration_ms'] / total):.2f}",
        )
        for span in placed
    )


def _is_placed(span: Mapping[str, Any]) -> bool:
    return all(
        isinstance(span.get(name), int | float) and not isinstance(span.get(name), bool) and span[name] >= 0
        for name in ("start_ms", "duration_ms")
    )


def _depth(parent: str, parents: Mapping[str, str]) -> int:
    """How many known spans lie above; a circle ends at the deepest level."""
    depth = 0
    while depth < DEEPEST and parent in parents:
        depth, parent = depth + 1, parents[parent]
    return depth


@dataclass(frozen=True, slots=True)
class Piece:
    """Something of a trace that took time: `start_ms` on any clock that all pieces share, parents by their `key`."""

    key: str
    parent: str
    start_ms: int
    duration_ms: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a piece stands: its `index` among those that were given, and as a `Bar` has them its place and depth."""

    index: int
    start_ms: int
    duration_ms: int
    depth: int
    x: str
    width: str


def lay_out(pieces: Sequence[Piece]) -> tuple[Place, ...]:
    """Every piece once, each behind its parent, by their starts; the whole reaches from the first start to the last end.

    Pure and total: parents that are not there make a piece the outermost, and so do circles.
    """
    if not pieces:
        return ()
    begin = min(one.start_ms for one in pieces)
    total = max(1, *(one.start_ms + max(0, one.duration_ms) - begin for one in pieces))
    return tuple(
        Place(
            index=index,
            start_ms=pieces[index].start_ms - begin,
            duration_ms=max(0, pieces[index].duration_ms),
            depth=min(depth, DEEPEST_IN_TRACE),
            x=f"{100 * (pieces[index].start_ms - begin) / total:.2f}",
            width=f"{max(NARROWEST, 100 * max(0, pieces[index].duration_ms) / total):.2f}",
        )
        for index, depth in _nested(pieces)
    )


def _nested(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Index and depth of each piece, in the order of the tree."""
    # The first of a key is its bearer.
    bearers: dict[str, int] = {}
    for index, one in enumerate(pieces):
        bearers.setdefault(one.key, index)
    below: dict[int, list[int]] = {}
    outermost: list[int] = []
    by_start = sorted(range(len(pieces)), key=lambda index: (pieces[index].start_ms, index))
    for index in by_start:
        parent = bearers.get(pieces[index].parent) if pieces[index].parent else None
        (outermost if parent is None else below.setdefault(parent, [])).append(index)
    found: list[tuple[int, int]] = []
    seen: set[int] = set()
    # Whatever no outermost one leads to is in a circle, or below one: its earliest begins it.
    for root in (*outermost, *by_start):
        waiting = [(root, 0)]
        while waiting:
            index, depth = waiting.pop()
            if index in seen:
                continue
            seen.add(index)
            found.append((index, depth))
            waiting += ((child, depth + 1) for child in reversed(below.get(index, ())))
    return found
