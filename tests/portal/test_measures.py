"""Masked texts as pages show them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from portal.templatetags.measures import masked, oneline, payload, remaining, ticked
from portal.templatetags.ui import when


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[EMAIL·7f3a] <b>", '<span class="mask">EMAIL·7f3a</span> &lt;b&gt;'),
        ("a\u200bb\ufeffc\u2060d\u00ade", "a\\u{200b}b\\u{feff}c\\u{2060}d\\u{ad}e"),
        ("a\u202eb\u2066c\u061cd", "a\\u{202e}b\\u{2066}c\\u{61c}d"),
        ("tag \U000e0041", "tag \\u{e0041}"),
        ("a\x00b\x1b[0m\r", "a\\u{0}b\\u{1b}[0m\\u{d}"),
        ("two\n\tlines", "two\n\tlines"),
        ("👩\u200d💻 стоп 中文", "👩\u200d💻 стоп 中文"),
        ("\ud800", "\\u{d800}"),
        ("", ""),
        (None, ""),
    ],
)
def test_what_hides_is_spelled_out(text: object, shown: str) -> None:
    assert masked(text) == shown


def test_every_way_to_show_a_value_does_so() -> None:
    assert "\u200b" not in payload({"a": "x\u200by"})
    assert "\u200b" not in oneline(["x\u200by"])
    assert "\u200b" not in payload("x\u200by")


def test_backticks_are_code_and_nothing_else_is_markup() -> None:
    assert ticked("Write `name: <x>` & save `it") == "Write <code>name: &lt;x&gt;</code> &amp; save `it"


@pytest.mark.parametrize(
    ("left", "told"),
    [
        (timedelta(days=90, seconds=-3), "90 days"),
        (timedelta(hours=5, seconds=-3), "5 h"),
        (timedelta(seconds=20), "1 min"),
    ],
)
def test_what_remains_is_rounded_up(left: timedelta, told: str) -> None:
    assert remaining(timezone.now() + left) == told


def test_a_moment_inside_a_sentence_has_no_capital() -> None:
    now = timezone.now()
    assert ">Today " in when(now)
    assert ">today " in when(now, inside=True)
    assert ">3 Feb 2019<" in when(datetime(2019, 2, 3, 4, 5, tzinfo=UTC), clock=False)
