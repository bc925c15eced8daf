"""Words found in few passes: none is missed, whatever stands around it."""

from __future__ import annotations

import sys
from re import _parser  # type: ignore[attr-defined]

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.bundles import anchors, commands, phrases, secret_formats, secrets
from catalog.bundles.anchors import Anchors
from catalog.bundles.texts import Text

WORDS = sorted(secrets.WORDS | commands.WORDS | phrases.RULES.words)
ANCHORS = Anchors(WORDS)


def looked(content: str, words: Anchors = ANCHORS) -> Text:
    text = Text("a.md", content)
    words.look(text)
    return text


def places(word: str, content: str) -> list[int]:
    return [at for at in range(len(content)) if content.startswith(word, at)]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_found_anywhere(word: str) -> None:
    for content in (word, f"x{word}", f"{word}x", f"{word[:-1]}{word}", f"{word}{word[1:]}", f"\n{word}\n"):
        assert looked(content).find(word, 0) == content.find(word)
        assert looked(content.upper()).find(word, 0) == content.find(word)
        assert looked(f"é忘ж{content}").find(word, 0) == content.find(word) + 3


@given(st.lists(st.sampled_from([*WORDS, *(word[:3] for word in WORDS), " ", "k", "é"]), max_size=12))
def test_every_place_is_told(parts: list[str]) -> None:
    content = "".join(parts)
    text = looked(content)
    for word in WORDS:
        assert list(text.places.get(word, places(word, content))) == places(word, content)
        assert [text.find(word, at) for at in range(len(content))] == [
            content.find(word, at) for at in range(len(content))
        ]


@given(
    st.lists(st.text(alphabet="kb", min_size=1, max_size=4), min_size=1, max_size=6), st.text(alphabet="kb")
)
def test_words_that_overlap_are_all_found(words: list[str], content: str) -> None:
    found = looked(content, Anchors(words)).places
    assert {word: list(found[word]) for word in words} == {word: places(word, content) for word in words}


def test_very_many_places_are_not_told() -> None:
    text = looked("curl " * anchors.MAX_PLACES)
    assert len(text.places["curl"]) == anchors.MAX_PLACES
    assert text.places["secret"] == ()
    text = looked("curl " * (anchors.MAX_PLACES + 1))
    assert "curl" not in text.places
    assert text.places["secret"] == text.places["mkfs"] == ()
    assert text.find("curl", 7) == 10


def test_plain_text_lacks_every_word() -> None:
    found = looked("one line for what is due then asks who").places
    assert found == dict.fromkeys(WORDS, ())


def test_letters_that_are_like_others_are_folded() -> None:
    """As patterns take them that ignore case: to ASCII where one stands for such a letter."""
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    text = Text("a.md", every)
    assert len(text.lowered) == len(text.folded) == len(every)
    assert text.folded == "".join(letter if letter.isascii() else "?" for letter in text.lowered)
    assert {every[at] for at in range(128, len(every)) if text.folded[at] != "?"} == set("İıſ\u212a")
    for letter in every[128:]:
        if letter not in "İıſ\u212a":
            assert Text("a.md", letter).folded == "?"


@pytest.mark.parametrize("form", [*secret_formats.FORMATS, secret_formats.JWT], ids=lambda form: form.kind)
def test_every_format_is_a_run(form: secret_formats.Format) -> None:
    """Their anchors are sought in runs alone."""
    # The dialect of look-arounds counts nothing; what is left is the match itself.
    shortest, _ = _parser.parse(form.rule.pattern.pattern).getwidth()
    anchor = max(form.rule.anchors, key=len)
    assert max(shortest, len(anchor)) >= secrets.LEAST_RUN
