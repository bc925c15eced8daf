"""Where many short words stand in a text, without a pass over the text for each.

A search for one letter runs at the speed of memory. So the words are parted by a letter that each
of them has; a pass for each letter stops there and looks at what stands around it. Words with
letters beyond ASCII are sought in the few that a text has of those.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from catalog.bundles.texts import Text

PIVOTS = ":kxwvbgmdc"
"""The letters, from rare to common in Markdown and scripts; a word without one is sought by itself."""

FOREIGN_PIVOTS = "忽無无忘瞒告让щйгбзп’"
"""The same of words with letters beyond ASCII."""

MAX_PLACES = 10_000
"""Places that are kept of the words with one letter; where there are more, a text is told what it lacks alone."""

_ASCII = re.compile(r"[\x00-\x7f]+")


class Anchors:
    """Words in lower case to look for in a text."""

    def __init__(self, words: Iterable[str]) -> None:
        parted: dict[str, list[str]] = {}
        self._foreign: dict[str, dict[str, str]] = {}
        self._nowhere: dict[str, Sequence[int]] = dict.fromkeys(words, ())
        for word in sorted(self._nowhere):
            if word.isascii():
                parted.setdefault(next((pivot for pivot in PIVOTS if pivot in word), ""), []).append(word)
            else:
                letters = _ASCII.sub("", word)
                pivot = next((pivot for pivot in FOREIGN_PIVOTS if pivot in letters), letters[0])
                self._foreign.setdefault(pivot, {})[word] = letters
        self._alone = parted.pop("", [])
        self._groups = tuple(_Group(pivot, group) for pivot, group in parted.items())

    def look(self, text: Text) -> None:
        """Tell the text where the words stand, as far as that is found out here."""
        folded, beyond = text.folded, text.beyond_ascii.lower()
        places = dict(self._nowhere)
        unknown = [word for word in self._alone if word in folded]
        for pivot, words in self._foreign.items():
            if pivot in beyond:
                unknown += [word for word, letters in words.items() if letters in beyond]
        for group in self._groups:
            found = group.places(folded)
            if found is None:
                unknown += [word for word in group.words if word in folded]
            else:
                places.update(found)
        for word in unknown:
            del places[word]
        text.places.update(places)


class _Group:
    """Words that have a letter in common; a word's tail is what follows, from the letter on."""

    def __init__(self, pivot: str, words: list[str]) -> None:
        tails: dict[str, list[str]] = {}
        for word in words:
            tails.setdefault(word[word.index(pivot) :], []).append(word)
        self.words = words
        self._pivot = pivot
        # The letter alone is consumed, so that a tail is found inside another's too.
        self._pattern = re.compile(f"{re.escape(pivot)}(?=({_tree(pivot, tails)}))")
        self._told = {
            tail[len(pivot) :]: [
                (word, word.index(pivot))
                for other in tails
                if tail.startswith(other)
                for word in tails[other]
            ]
            for tail in tails
        }

    def places(self, text: str) -> dict[str, list[int]] | None:
        """Where those words stand that do, in order; None where they stand at too many places."""
        places: dict[str, list[int]] = {}
        if self._pivot not in text:
            return places
        for count, hit in enumerate(self._pattern.finditer(text)):
            if count == MAX_PLACES:
                return None
            for word, before in self._told[hit[1]]:
                at = hit.start() - before
                if text.startswith(word, at):
                    places.setdefault(word, []).append(at)
        return places


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
