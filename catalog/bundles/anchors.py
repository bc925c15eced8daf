"""Which of many short words a text holds, without a pass over the text for each.

A search for one letter runs at the speed of memory. So the words are parted by a letter that each
of them has; a pass for each letter stops there and looks at what stands around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

PIVOTS = ":kxwvbgmdcгщйбпз忽無无忘瞒告密口让"
"""The letters, from rare to common in Markdown and scripts; a word without one is sought by itself."""

_WINDOW = 1 << 18
"""Characters looked at in one go, which bounds what is kept of a text that holds nothing else."""


class Anchors:
    """Words in lower case to look for. None is missed; one that is told may not be there after all."""

    def __init__(self, words: Iterable[str]) -> None:
        parted: dict[str, list[str]] = {}
        for word in sorted(set(words)):
            parted.setdefault(next((pivot for pivot in PIVOTS if pivot in word), ""), []).append(word)
        self._alone = tuple(parted.pop("", ()))
        self._groups = tuple(_Group(pivot, group) for pivot, group in parted.items())
        self._ascii_groups = tuple(group for group in self._groups if group.ascii)

    def held(self, lowered: str) -> set[str]:
        """The words that a text, given in lower case, may hold."""
        held = {word for word in self._alone if word in lowered}
        for group in self._ascii_groups if lowered.isascii() else self._groups:
            if group.pivot in lowered:
                held |= group.held(lowered)
        return held


class _Group:
    """Words that have a letter in common; a word's tail is what follows, from the letter on."""

    def __init__(self, pivot: str, words: list[str]) -> None:
        tails: dict[str, list[str]] = {}
        for word in words:
            tails.setdefault(word[word.index(pivot) :], []).append(word)
        self.pivot = pivot
        self.ascii = any(word.isascii() for word in words)
        self._longest = max(map(len, tails))
        self._pattern = re.compile(_tree("", tails))
        # The search goes on behind a tail, so that it tells of those that may begin inside it too.
        self._told = {
            tail: {word for other in tails if _may_begin_inside(other, tail) for word in tails[other]}
            for tail in tails
        }

    def held(self, lowered: str) -> set[str]:
        held: set[str] = set()
        for start in range(0, len(lowered), _WINDOW):
            for tail in set(self._pattern.findall(lowered, start, start + _WINDOW + self._longest)):
                held |= self._told[tail]
        return held


def _may_begin_inside(other: str, tail: str) -> bool:
    return any(tail[n:].startswith(other) or other.startswith(tail[n:]) for n in range(len(tail)))


def _tree(before: str, tails: dict[str, list[str]]) -> str:
    """A pattern of the tails that begin with `before`, without it, that branches letter by letter.

    Where a tail ends, the whole word has to stand before that place. A longer one is tried first.
    """
    branches = [re.escape(letter) + _tree(before + letter, tails) for letter in _letters_after(before, tails)]
    branches += [f"(?<={re.escape(word)})" for word in tails.get(before, ())]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def _letters_after(before: str, tails: Iterable[str]) -> Iterator[str]:
    longer = (tail[len(before)] for tail in tails if tail.startswith(before) and tail != before)
    yield from dict.fromkeys(longer)
