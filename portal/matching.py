"""What two texts share, line by line, in bounded time.

`difflib` takes up to the cube of the length where lines repeat (every second one empty, say): minutes
for a file that the compare page still shows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher

# Of texts with more pairs of lines the lines that each has once are matched first, and what lies
# between them where it is no larger, until so many pairs were looked at in all.
MOST_PAIRS, MOST_IN_ALL = 90_000, 400_000


class LineMatcher(SequenceMatcher[str]):
    """A matcher that finds less in long texts: what it calls changed may hold lines that are the same."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(a=old, b=new, autojunk=False)
        self.old, self.new = old, new

    def get_matching_blocks(self) -> list[Match]:
        """Runs of lines that are the same, and an empty one at the end."""
        if len(self.old) * len(self.new) <= MOST_PAIRS:
            return super().get_matching_blocks()
        return [*_joined(_runs(self.old, self.new)), Match(len(self.old), len(self.new), 0)]


def _runs(old: Sequence[str], new: Sequence[str]) -> Iterator[Match]:
    left, a, b = MOST_IN_ALL, 0, 0
    for i, j in [(0, 0), *_anchors(old, new), (len(old), len(new))]:
        if i < a or j < b:
            continue
        pairs = (i - a) * (j - b)
        if 0 < pairs <= min(left, MOST_PAIRS):
            left -= pairs
            between = SequenceMatcher(a=old[a:i], b=new[b:j], autojunk=False)
            yield from (Match(a + x, b + y, n) for x, y, n in between.get_matching_blocks() if n)
        a, b = i, j
        while a < len(old) and b < len(new) and old[a] == new[b]:
            a, b = a + 1, b + 1
        if a > i:
            yield Match(i, j, a - i)


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The places of the lines that both texts have exactly once: the most that are in the same order."""
    once, there = Counter(old), Counter(new)
    places = {line: j for j, line in enumerate(new) if there[line] == 1}
    pairs = [(i, places[line]) for i, line in enumerate(old) if once[line] == 1 and line in places]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for n, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        ends[at : at + 1], last[at : at + 1] = [j], [n]
        before.append(last[at - 1] if at else -1)
    chain, n = [], last[-1] if last else -1
    while n >= 0:
        chain.append(pairs[n])
        n = before[n]
    return chain[::-1]


def _joined(runs: Iterator[Match]) -> Iterator[Match]:
    """The runs, those that touch as one."""
    held = Match(0, 0, 0)
    for run in runs:
        if (held.a + held.size, held.b + held.size) == (run.a, run.b):
            held = Match(held.a, held.b, held.size + run.size)
        else:
            if held.size:
                yield held
            held = run
    if held.size:
        yield held
