"""Regular expressions of schemas: which can explode, judged without running them."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.bundles import regexes

UNSAFE = [
    "^(a+)+$",
    "(a|a)*b",
    "(a|ab|b)*c",
    "(a*)*",
    "([a-zA-Z]+)*$",
    "(.*a){12}",
    r"(\w+\s?)*$",
    "(x+x+)+y",
    "((a|b)*c?)*$",
    "(?:a{1,50}){1,50}b",
    "(?=(a+)+$)a",
    r"^(\d+|\d+\.)*$",
    r"^([\w.-]+)+@x$",
    "(?i)^(?:ab?|A)+$",
    "(a?){60}",
    ".*-.*-.*-.*",
    ".*" * 150,
]
SEMVER = (
    r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
    r"(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$"
)
# Patterns that manifests write: dates, names, addresses, versions, identifiers.
SAFE = [
    "^[a-z0-9]+(-[a-z0-9]+)*$",
    r"^\d{4}-\d{2}-\d{2}$",
    r"^[\w.+-]+@[\w-]+\.[\w.-]+$",
    r"^(\d{1,3}\.){3}\d{1,3}$",
    "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
    r"^([01]\d|2[0-3]):[0-5]\d$",
    r"^[a-z][a-z0-9]*([_-][a-z0-9]+)*(\.[a-z][a-z0-9]*([_-][a-z0-9]+)*){0,3}$",
    SEMVER,
    "^.*$",
    "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)?$",
    r"^\+?[1-9]\d{1,14}$",
    "^(?:[A-Z][a-z]*\\s?)+$",
    '^("[^"]*"|[^,"]+)(,("[^"]*"|[^,"]+))*$',
    "^(a{40})+$",
    "^[一-鿿]+$",
]


@pytest.mark.parametrize("pattern", UNSAFE)
def test_a_pattern_that_can_explode_is_unsafe(pattern: str) -> None:
    assert regexes.compile_problem(pattern) is None
    assert regexes.is_unsafe(pattern)


@pytest.mark.parametrize("pattern", SAFE)
def test_an_ordinary_pattern_is_safe(pattern: str) -> None:
    assert regexes.compile_problem(pattern) is None
    assert not regexes.is_unsafe(pattern)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("([a-z", "unterminated character set at position 1"),
        ("a" * 1001, "is longer than 1,000 characters"),
        ("*", "nothing to repeat at position 0"),
    ],
)
def test_a_pattern_that_does_not_compile_is_told(pattern: str, problem: str) -> None:
    assert regexes.compile_problem(pattern) == problem


@given(st.text(alphabet="ab.*+?()[]|{}1,^$\\d-", max_size=30))
def test_judging_ends_soon_and_raises_nothing(pattern: str) -> None:
    started = time.process_time()
    if regexes.compile_problem(pattern) is None:
        regexes.is_unsafe(pattern)
    assert time.process_time() - started < 2


@given(st.text(alphabet="ab*+?()|", max_size=12))
def test_what_is_safe_does_not_explode(pattern: str) -> None:
    if regexes.compile_problem(pattern) is not None or regexes.is_unsafe(pattern):
        return
    for text in ("a" * 24 + "!", "ab" * 12 + "!", "b" * 24 + "!"):
        started = time.process_time()
        re.fullmatch(pattern, text)
        assert time.process_time() - started < 0.5, pattern
