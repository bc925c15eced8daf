from __future__ import annotations

import pytest

from portal import highlighting
from portal.highlighting import LONGEST_LINE, MOST_COLOURED, highlight_lines, language_for


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("SKILL.md", "markdown"),
        ("scripts/run.PY", "python"),
        ("a/Dockerfile", "docker"),
        ("LICENSE", ""),
        ("x.unknown", ""),
        (".env", ""),
    ],
)
def test_language_for(path: str, language: str) -> None:
    assert language_for(path) == language


def test_a_line_each_with_its_number() -> None:
    html = highlight_lines("a\n<b>\n", "x.txt")
    assert html == (
        '<span class="line" id="L1" data-n="1">a</span><span class="line" id="L2" data-n="2">&lt;b&gt;</span>'
    )


def test_colours_are_classes() -> None:
    html = highlight_lines("# note\nimport os\n", "run.py")
    assert '<span class="c1"># note</span>' in html
    assert "style=" not in html


def test_marks_give_a_tone() -> None:
    assert 'id="L2" data-n="2" data-tone="warn">' in highlight_lines("a\nb\n", "x.txt", {2: "warn"})


def test_the_frontmatter_is_yaml() -> None:
    html = highlight_lines("---\nname: x\n---\n# Title\n", "SKILL.md")
    assert '<span class="nt">name</span>' in html
    assert '<span class="gh"># Title</span>' in html
    assert html.count('class="line"') == 4


@pytest.mark.parametrize(
    "text",
    ["x = 1\n" * (MOST_COLOURED // 4), "x = '" + "a" * LONGEST_LINE + "'\n"],
    ids=["large", "long line"],
)
def test_what_is_too_large_has_no_colours(text: str) -> None:
    assert '<span class="n">' not in highlight_lines(text, "x.py")


@pytest.mark.parametrize(
    "text", ["", "\n", "\n\n\n", "a", "a\r\nb\r\n", "a\rb", '"""\nx\n"""\n', "\x0c\n\x0b\n"]
)
@pytest.mark.parametrize("path", ["x.py", "x.md", "x.txt", "x.json", "x.sh"])
def test_every_line_counts(text: str, path: str) -> None:
    html = highlight_lines(text, path)
    assert html.count('class="line"') == text.removesuffix("\n").count("\n") + 1
    assert html.count("<span") == html.count("</span>")


def test_a_script_in_the_source_stays_text() -> None:
    for path in ("x.html", "x.md", "x.svg", "x.js"):
        assert "<script" not in highlight_lines("<script>alert(1)</script>\n", path)


def test_hidden_characters_are_shown_by_number() -> None:
    html = highlight_lines("a\u202eb\u200bc 👨\u200d👩\n", "x.txt")
    assert '<span class="unseen">U+202E</span>b<span class="unseen">U+200B</span>c' in html
    assert "👨\u200d👩" in html
    assert "\u202e" not in highlight_lines("# \u202e\n", "x.py")


def test_what_is_slow_to_colour_has_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert '<span class="' in highlight_lines("<!-- x -->\n", "x.html").replace('class="line"', "")
    monkeypatch.setattr(highlighting, "LONGEST_SECONDS", -1.0)
    html = highlight_lines("<?" * 200 + "\n", "x.html")
    assert html == f'<span class="line" id="L1" data-n="1">{"&lt;?" * 200}</span>'
