"""Where in a text a value stands that must be masked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from governance.masking.masks import RANK


class Span(NamedTuple):
    """Characters from `start` to `end`, the kind of value there, and the value normalised.

    `also` holds further readings of the same value, such as a telephone number that two countries could dial.
    """

    start: int
    end: int
    kind: str
    normal: str
    also: tuple[str, ...] = ()


class Cover(NamedTuple):
    """Characters that one mask replaces: the span that names the mask, and all spans found there."""

    start: int
    end: int
    named: Span
    spans: tuple[Span, ...]


def covers(spans: Iterable[Span]) -> list[Cover]:
    """Spans that overlap are replaced together, so that no part of any of them stays; in order of the text."""
    found: list[Cover] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end, RANK[span.kind])):
        last = found[-1] if found else None
        if last is None or span.start >= last.end:
            found.append(Cover(span.start, span.end, span, (span,)))
            continue
        named = last.named if span.end <= last.end else min(last.named, span, key=lambda one: RANK[one.kind])
        found[-1] = Cover(last.start, max(last.end, span.end), named, (*last.spans, span))
    return found
