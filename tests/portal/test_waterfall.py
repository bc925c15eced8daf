"""The bars of a call's spans."""

from __future__ import annotations

from typing import Any

from portal.waterfall import draw


def span(span_id: str, parent_id: str = "", start_ms: int = 0, duration_ms: int = 10) -> dict[str, Any]:
    """A span as it is kept."""
    return {
        "span_id": span_id,
        "parent_id": parent_id,
        "name": span_id,
        "start_ms": start_ms,
        "duration_ms": duration_ms,
    }


def test_bars_stand_where_they_were_in_the_call() -> None:
    first, second = draw([span("a", duration_ms=50), span("b", "a", 50, 25)], call_ms=100)
    assert (first.x, first.width, first.depth) == ("0.00", "50.00", 0)
    assert (second.x, second.width, second.depth) == ("50.00", "25.00", 1)


def test_a_span_that_outlasts_its_call_is_the_whole() -> None:
    assert [bar.width for bar in draw([span("a", duration_ms=400)], call_ms=100)] == ["100.00"]


def test_what_is_too_short_to_see_has_a_width() -> None:
    assert [bar.width for bar in draw([span("a", duration_ms=0)], call_ms=0)] == ["0.50"]


def test_depth_ends_at_two_and_circles_end() -> None:
    deep = [span("a"), span("b", "a"), span("c", "b"), span("d", "c"), span("x", "y"), span("y", "x")]
    assert [bar.depth for bar in draw(deep, call_ms=1)] == [0, 1, 2, 2, 2, 2]
    assert [bar.depth for bar in draw([span("a", "a"), span("b", "gone")], call_ms=1)] == [2, 0]


def test_what_is_no_span_is_left_out() -> None:
    odd: list[object] = [
        None,
        5,
        [],
        {},
        {"start_ms": "0", "duration_ms": 1},
        {"start_ms": True, "duration_ms": 1},
    ]
    assert draw([*odd, span("a")], call_ms=1) == draw([span("a")], call_ms=1)
    assert draw([], call_ms=0) == ()


def test_the_parents_are_read_once() -> None:
    class Counted(dict[str, Any]):
        reads = 0

        def get(self, key: str, default: Any = None) -> Any:
            Counted.reads += 1
            return super().get(key, default)

    for n in (10, 1000):
        Counted.reads = 0
        draw([Counted(span(str(k), str(k - 1))) for k in range(n)], call_ms=1)
        assert Counted.reads <= 10 * n
