"""Counts that every process shares."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from portal import counters
from tests.cast import together

MINUTE = 60
NOW = 1_800_000_000.0


def count(key: str, now: float = NOW) -> int:
    """Count one request."""
    return counters.count("requests", key, seconds=MINUTE, now=now)


def recent(key: str, now: float = NOW) -> int:
    """The requests of two minutes."""
    return counters.recent("requests", key, seconds=MINUTE, now=now)


def test_each_key_and_window_counts_by_itself() -> None:
    assert [count("a"), count("a"), count("b"), count("a")] == [1, 2, 1, 3]
    assert count("a", NOW + MINUTE) == 1
    assert (recent("a", NOW + MINUTE), recent("a", NOW + 2 * MINUTE), recent("b"), recent("c")) == (
        4,
        1,
        1,
        0,
    )
    counters.forget("requests", "a", seconds=MINUTE, now=NOW + MINUTE)
    assert (recent("a", NOW + MINUTE), recent("b")) == (0, 1)


def test_threads_lose_no_count() -> None:
    def work() -> None:
        for _ in range(50):
            count("a")

    works: list[Callable[[], None]] = [work] * 4
    assert together(works) == [None] * 4
    assert recent("a") == 200


def test_odd_keys_are_keys() -> None:
    for key in ("", "../..", "a/b", "\0", "\ud800", "x" * 10_000):
        assert count(key) == 1


def test_no_flood_of_other_keys_pushes_a_count_out() -> None:
    count("a")
    for n in range(500):
        count(f"other-{n}")
    assert count("a") == 2


def test_old_windows_are_removed(settings: Settings) -> None:
    if settings.REDIS_URL:
        pytest.skip("Redis removes them")
    for minutes in range(5):
        count("a", NOW + minutes * MINUTE)
    assert len(list((Path(settings.COUNTERS_DIR) / "requests").iterdir())) == 2


def test_another_process_counts_on(tmp_path: Path) -> None:
    code = (
        "import django; django.setup(); from portal import counters; "
        f"print([counters.count('requests', 'a', seconds=60, now={NOW}) for _ in range(2)])"
    )
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "portal.settings", "VAR_DIR": str(tmp_path / "var")}
    environ.pop("REDIS_URL", None)
    told = [
        subprocess.run(
            [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(2)
    ]
    assert told == ["[1, 2]", "[3, 4]"]
