"""Where in a text a value stands that must be masked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from governance.masking.masks import JWT, KEY, RANK, SECRET, TOKEN

# Kinds with a form of their own, and kinds that only a name or a word before them gives away.
_OF_ISSUERS = frozenset((KEY, JWT))
_GUESSED = frozenset((SECRET, TOKEN))


class Span(NamedTuple):
    """Characters from `start` to `end`, the kind of value there, and the value in its normal form.

    `also` holds further readings of the same value, such as a telephone number that two countries could dial;
    `unescaped` says that it was read with its escapes undone, which is the better reading of two.
    """

    start: int
    end: int
    kind: str
    normal: str
    also: tuple[str, ...] = ()
    unescaped: bool = False


class Cover(NamedTuple):
    """Characters that one mask replaces: the span that names the mask, and all that were found there."""

    start: int
    end: int
    named: Span
    spans: tuple[Span, ...]

    def others(self) -> Iterator[tuple[str, str]]:
        """Kind and normal form of what else was found there, and of other readings."""
        for span in self.spans:
            if span is not self.named:
                yield span.kind, span.normal
            for normal in span.also:
                yield span.kind, normal


def covers(spans: Iterable[Span], off: frozenset[str] = frozenset()) -> list[Cover]:
    """Spans that overlap are replaced together, so that no part of any of them stays; in order of the text.

    Spans of kinds that are `off` are as if they had not been found.
    """
    found: list[Cover] = []
    if off:
        spans = [span for span in spans if span.kind not in off]
    for span in sorted(spans, key=lambda span: (span.start, -span.end, RANK[span.kind])):
        last = found[-1] if found else None
        if last is None or span.start >= last.end:
            found.append(Cover(span.start, span.end, span, (span,)))
        elif span.end > last.end or span.unescaped or span.kind in _OF_ISSUERS or last.named.kind in _GUESSED:
            found[-1] = _join(last, span)
    return found


def _join(cover: Cover, span: Span) -> Cover:
    """The cover with one more span; the better reading names it, else the more telling of two that only overlap."""
    named = cover.named
    if span.unescaped != named.unescaped:
        better = span.unescaped
    else:
        inside = span.end <= cover.end and span.kind not in _OF_ISSUERS
        better = not inside and RANK[span.kind] < RANK[named.kind]
    return Cover(cover.start, max(cover.end, span.end), span if better else named, (*cover.spans, span))
