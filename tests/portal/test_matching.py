"""What two texts share: exact where they are short, and in bounded time where they are long."""

from __future__ import annotations

import random

import pytest

from portal import matching
from portal.diffs import diff_lines
from portal.matching import LineMatcher


def rebuilt(old: list[str], new: list[str]) -> list[str]:
    """The new text from the old one and what a matcher says of both."""
    codes = LineMatcher(old, new).get_opcodes()
    return [line for tag, a, b, c, d in codes for line in (old[a:b] if tag == "equal" else new[c:d])]


@pytest.mark.parametrize("kinds", [2, 5, 40, 10_000])
def test_long_texts_are_compared_at_the_lines_that_each_has_once(
    monkeypatch: pytest.MonkeyPatch, kinds: int
) -> None:
    monkeypatch.setattr(matching, "MOST_PAIRS", 50)
    dice = random.Random(kinds)
    for _ in range(200):
        old = [str(dice.randrange(kinds)) for _ in range(dice.randrange(60))]
        new = [line for line in old if dice.random() > 0.2] + [str(dice.randrange(kinds))]
        assert rebuilt(old, new) == new


def test_a_long_text_with_a_few_changes_shows_those_alone() -> None:
    old = [f"line {n}" if n % 3 else "" for n in range(20_000)]
    new = [*old[:100], "new", *old[100:9_000], *old[9_001:]]
    lines = [(line.kind, line.text) for line in diff_lines(old, new) if line.kind in {"add", "del"}]
    assert lines == [("add", "new"), ("del", old[9_000])]


def test_a_text_of_which_every_second_line_changed_is_compared() -> None:
    """By the square of its length this took minutes."""
    old = [f"a{n}" if n % 2 else "" for n in range(40_000)]
    new = [f"b{n}" if n % 2 else "" for n in range(40_000)]
    assert sum(line.kind == "add" for line in diff_lines(old, new)) >= 20_000
