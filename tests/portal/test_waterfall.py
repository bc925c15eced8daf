"""The bars of a call's spans."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from portal.waterfall import Piece, draw, lay_out


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


def piece(key: str, parent: str = "", start_ms: int = 0, duration_ms: int = 10) -> Piece:
    """Something of a trace."""
    return Piece(key, parent, start_ms, duration_ms)


def placed(*pieces: Piece) -> list[tuple[str, int]]:
    """Key and depth of each, in the order in which they stand."""
    return [(pieces[one.index].key, one.depth) for one in lay_out(pieces)]


def test_calls_and_spans_stand_on_one_axis() -> None:
    agent, turn, call = (
        piece("agent", "", 1000, 400),
        piece("turn", "agent", 1050, 100),
        piece("call", "turn", 1200, 200),
    )
    found = lay_out([call, turn, agent])
    assert [(one.index, one.x, one.width, one.start_ms) for one in found] == [
        (2, "0.00", "100.00", 0),
        (1, "12.50", "25.00", 50),
        (0, "50.00", "50.00", 200),
    ]


def test_each_stands_behind_its_parent_by_its_start() -> None:
    assert placed(
        piece("b", "root", 50),
        piece("c", "a", 90),
        piece("a", "root", 20),
        piece("root", "", 10),
        piece("first"),
    ) == [("first", 0), ("root", 0), ("a", 1), ("c", 2), ("b", 1)]


def test_a_clock_that_is_behind_leaves_no_hole_before_the_parent() -> None:
    found = lay_out([piece("root", "", 100, 50), piece("child", "root", 40, 10)])
    assert [(one.index, one.start_ms, one.depth) for one in found] == [(0, 60, 0), (1, 0, 1)]


def test_circles_gaps_and_doubled_keys_are_laid_out_once() -> None:
    assert placed(piece("a", "b", 5), piece("b", "a", 9), piece("c", "gone"), piece("d", "d")) == [
        ("c", 0),
        ("d", 0),
        ("a", 0),
        ("b", 1),
    ]
    assert sorted(placed(piece("a"), piece("a"), piece("b", "a"))) == [("a", 0), ("a", 0), ("b", 1)]
    assert lay_out([]) == ()
    assert [one.width for one in lay_out([piece("a", duration_ms=0), piece("b", duration_ms=-4)])] == [
        "0.50",
        "0.50",
    ]


def test_a_deep_trace_takes_no_longer_and_is_not_shown_deeper() -> None:
    chain = [piece(str(n), str(n - 1), n) for n in range(5000)]
    assert [one.depth for one in lay_out(chain)][:7] == [0, 1, 2, 3, 4, 4, 4]
    assert len(lay_out(chain)) == 5000


@given(
    st.lists(
        st.builds(
            Piece,
            key=st.sampled_from("abcdef"),
            parent=st.sampled_from("abcdefg "),
            start_ms=st.integers(-(10**15), 10**15),
            duration_ms=st.integers(-5, 10**12),
        ),
        max_size=12,
    )
)
def test_whatever_is_given_has_one_place_inside_the_whole(pieces: list[Piece]) -> None:
    found = lay_out(pieces)
    assert sorted(one.index for one in found) == list(range(len(pieces)))
    for one in found:
        assert 0 <= float(one.x) <= 100
        assert 0 < float(one.width) <= 100
        assert 0 <= one.depth <= 4
