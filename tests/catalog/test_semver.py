"""Order and arithmetic of versions."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from semver import Version

from catalog import semver

# The chain of semver.org, clause 11, between releases that a string comparison would misplace.
ASCENDING = [
    "0.0.1",
    "0.9.0",
    "0.10.0",
    "1.0.0-0",
    "1.0.0-2",
    "1.0.0-10",
    "1.0.0--",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.1.0",
    "1.0.0-alpha.beta",
    "1.0.0-alpha0",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "1.9.0",
    "1.10.0",
    "1.11.0-rc.1",
    "2.0.0",
    "9999999999.0.0",
    "99999999999999999999.0.0",
]

number = st.one_of(st.integers(0, 12), st.integers(0, 10**30)).map(str)
word = st.from_regex(r"[0-9A-Za-z-]{0,4}[A-Za-z-][0-9A-Za-z-]{0,4}", fullmatch=True)
pre_release = st.lists(st.one_of(number, word), min_size=1, max_size=4).map(lambda ids: "-" + ".".join(ids))
version = st.builds(
    lambda core, pre, build: ".".join(core) + pre + build,
    st.lists(number, min_size=3, max_size=3),
    st.one_of(st.just(""), pre_release),
    st.sampled_from(["", "+build.01"]),
)


def test_key_sorts_by_precedence() -> None:
    shuffled = random.Random(7).sample(ASCENDING, len(ASCENDING))
    assert sorted(shuffled, key=semver.precedence_key) == ASCENDING


@given(version, version)
def test_key_agrees_with_the_semver_package(left: str, right: str) -> None:
    a, b = semver.precedence_key(left), semver.precedence_key(right)
    assert (a > b) - (a < b) == Version.parse(left).compare(right)


def test_build_metadata_does_not_change_the_key() -> None:
    assert semver.precedence_key("1.0.0+a") == semver.precedence_key("1.0.0")


@pytest.mark.parametrize(
    "text", ["", "1", "1.0", "v1.0.0", "01.0.0", "1.0.0\n", " 1.0.0", "1.0.0-01", "١.0.0"]
)
def test_text_that_is_no_version_raises(text: str) -> None:
    with pytest.raises(ValueError):
        semver.precedence_key(text)


@given(st.text())
def test_parse_raises_nothing_but_value_error(text: str) -> None:
    with suppress(ValueError):
        semver.parse(text)


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ([], None),
        (["1.0.0-rc.1"], None),
        (["1.9.0", "1.10.0", "1.11.0-rc.1"], "1.10.0"),
        (["2.0.0", "99999999999999999999.0.0"], "99999999999999999999.0.0"),
    ],
)
def test_latest(versions: list[str], expected: str | None) -> None:
    assert semver.latest(versions) == expected


@pytest.mark.parametrize(
    ("offered", "minimum", "met"),
    [
        ("1.3.0", "1.3.0", True),
        ("1.10.0", "1.3.0", True),
        ("1.2.9", "1.3.0", False),
        ("2.0.0", "1.3.0", False),
        ("0.4.0", "0.3.0", True),
        ("1.0.0", "0.3.0", False),
        ("1.4.0-rc.1", "1.3.0", True),
        ("1.3.0-rc.1", "1.3.0", False),
        ("1.3.0", "1.3.0-rc.1", True),
        ("2.0.0-rc.1", "1.3.0", False),
        ("1.3.0+local", "1.3.0", True),
    ],
)
def test_satisfies(offered: str, minimum: str, met: bool) -> None:
    assert semver.satisfies(offered, minimum) is met


@pytest.mark.parametrize(
    ("before", "part", "after"),
    [
        ("1.2.3", "patch", "1.2.4"),
        ("1.2.3", "minor", "1.3.0"),
        ("1.2.3", "major", "2.0.0"),
        ("0.2.3+build", "patch", "0.2.4"),
        ("1.2.0-rc.1", "patch", "1.2.0"),
        ("1.2.0-rc.1", "minor", "1.2.0"),
        ("1.2.0-rc.1", "major", "2.0.0"),
        ("2.0.0-rc.1", "major", "2.0.0"),
    ],
)
def test_bump(before: str, part: semver.Part, after: str) -> None:
    assert semver.bump(before, part) == after
