"""Lists of words, and which ASCII characters make a word.

ASCII on purpose: Chinese and Cyrillic stand beside a number or an address without a space, and must not hide it.
"""

from __future__ import annotations

from typing import Final

LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS: Final = "0123456789"
WORD_CHARACTERS: Final = LETTERS + DIGITS + "_"
WORD: Final = frozenset(WORD_CHARACTERS)
DIGIT: Final = frozenset(DIGITS)

# Parts texts that are searched together; no pattern may match across it.
PARTING: Final = "\n\x1e\n"


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())
