"""Masked texts as pages show them."""

from __future__ import annotations

import pytest

from portal.templatetags.measures import masked, oneline, payload


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
