"""What a process remembers, and how much."""

from __future__ import annotations

import pytest

from catalog import caches
from catalog.caches import Bounded, Fresh


def test_a_value_is_read_again_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, asked = [100.0], []

    def read(key: str, before: str | None) -> str:
        asked.append((key, before))
        return f"{key}{len(asked)}"

    monkeypatch.setattr(caches, "monotonic", lambda: clock[0])
    fresh = Fresh(read, seconds=1.0)
    assert (fresh.get("a"), fresh.get("a"), fresh.get("b")) == ("a1", "a1", "b2")
    clock[0] += 1
    assert fresh.get("a") == "a3"
    assert asked == [("a", None), ("b", None), ("a", "a1")]


def test_a_fault_is_not_remembered() -> None:
    def read(key: int, before: int | None) -> int:
        return 1 // key

    fresh = Fresh(read, seconds=1.0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            fresh.get(0)
    assert fresh.get(1) == 1


def test_what_was_used_last_is_kept_up_to_a_size() -> None:
    made: list[str] = []

    def get(key: str, size: int = 4) -> str:
        return kept.get(key, lambda: made.append(key) or key * size)  # type: ignore[func-returns-value]

    kept: Bounded[str, str] = Bounded(len, most=10)
    assert (get("a"), get("b"), get("a"), kept.size) == ("aaaa", "bbbb", "aaaa", 8)
    get("c")
    get("a")
    get("b")
    assert (made, kept.size) == (["a", "b", "c", "b"], 8)
    get("x", 11)
    get("x", 11)
    assert made[-2:] == ["x", "x"]
    assert kept.size == 8
    caches.forget_everything()
    assert kept.size == 0
