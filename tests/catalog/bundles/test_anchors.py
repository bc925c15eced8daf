"""Words found in few passes: none is missed, whatever stands around it."""

from __future__ import annotations

from re import _parser  # type: ignore[attr-defined]

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.bundles import commands, phrases, secrets
from catalog.bundles.anchors import Anchors

WORDS = sorted(secrets.WORDS | commands.WORDS | phrases.WORDS)
ANCHORS = Anchors(WORDS)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_found_anywhere(word: str) -> None:
    for text in (word, f"x{word}", f"{word}x", f"{word[:-1]}{word}", f"{word}{word[1:]}", f"\n{word}\n"):
        assert word in ANCHORS.held(text)


@given(st.lists(st.sampled_from([*WORDS, *(word[:3] for word in WORDS), " ", "k", "é"]), max_size=12))
def test_no_word_is_missed(parts: list[str]) -> None:
    text = "".join(parts)
    assert {word for word in WORDS if word in text} <= ANCHORS.held(text)


@given(
    st.lists(st.text(alphabet="ab", min_size=1, max_size=4), min_size=1, max_size=6), st.text(alphabet="ab")
)
def test_words_that_overlap_are_all_found(words: list[str], text: str) -> None:
    assert {word for word in words if word in text} <= Anchors(words).held(text)


@pytest.mark.parametrize("place", [2**18 - 3, 2**18, 2**18 + 3])
def test_a_word_between_two_windows_is_found(place: int) -> None:
    assert "mkfs" in ANCHORS.held(" " * (place - 2) + "mkfs" + " " * 9)


def test_plain_text_holds_nothing() -> None:
    assert ANCHORS.held("one line for what is due then asks who") == set()


@pytest.mark.parametrize("form", [*secrets.FORMATS, secrets._JWT], ids=lambda form: form.kind)
def test_every_format_is_a_run(form: secrets.Format) -> None:
    """Their anchors are sought in runs alone."""
    # The dialect of look-arounds counts nothing; what is left is the match itself.
    shortest, _ = _parser.parse(form.rule.pattern.pattern).getwidth()
    anchor = max(form.rule.anchors, key=len)
    assert max(shortest, len(anchor)) >= secrets.LEAST_RUN
