"""The spans of a call as bars over its duration. Pure and total: any spans give a picture, in linear time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DEEPEST = 2
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
