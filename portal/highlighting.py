"""Source text as lines of HTML with classes for colours; the colours are in `css/syntax.css`."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from pygments import format as format_tokens
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name

# Larger texts and longer lines are shown without colours: a lexer is a pile of regular expressions, and
# some of those (names of TypeScript) take the square of the length of a line.
MOST_COLOURED = 64 * 1024
LONGEST_LINE = 500
# Some texts are slow however short (thousands of comments that never end): they go without, too.
LONGEST_SECONDS = 0.5

Token = tuple[Any, str]

_LEXERS: Mapping[str, str] = {
    "md": "markdown", "markdown": "markdown", "py": "python", "sh": "bash", "bash": "bash", "json": "json",
    "yaml": "yaml", "yml": "yaml", "toml": "toml", "ini": "ini", "cfg": "ini", "js": "javascript",
    "mjs": "javascript", "cjs": "javascript", "ts": "typescript", "html": "html", "xml": "xml", "svg": "xml",
    "css": "css", "sql": "sql", "go": "go", "rs": "rust", "rb": "ruby", "java": "java", "c": "c", "h": "c",
    "cpp": "cpp", "ps1": "powershell",
}  # fmt: skip
# Zero-width characters, turns of direction and tags. Not U+200D, which joins emoji.
_UNSEEN = re.compile(
    "[\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_FRONTMATTER = re.compile(r"---[ \t]*\r?\n(?:.*\n){0,400}?---[ \t]*\r?\n")
_NAMES: Mapping[str, str] = {"Dockerfile": "docker", "Makefile": "make"}


def language_for(path: str) -> str:
    """The name of the language of a file by its name; "" where it is none that we colour."""
    name = path.rpartition("/")[2]
    return _NAMES.get(name) or _LEXERS.get(name.rpartition(".")[2].lower() if "." in name else "", "")


def highlight_lines(text: str, path: str, marks: Mapping[int, str] | None = None) -> SafeString:
    """The text as one `span.line` a line, with ids L1, L2, …; `marks` gives lines a tone."""
    marks = marks or {}
    coloured = _coloured(text, language_for(path))
    return format_html_join(
        "",
        '<span class="line" id="L{}" data-n="{}"{}>{}</span>',
        (
            (n, n, format_html(' data-tone="{}"', marks[n]) if n in marks else "", _seen(line))
            for n, line in enumerate(coloured, start=1)
        ),
    )


def _seen(line: str) -> SafeString:
    """The line with every character that hides or turns text around replaced by its number."""
    html = conditional_escape(line)
    if html.isascii():
        return html
    shown = _UNSEEN.sub(lambda found: f'<span class="unseen">U+{ord(found.group()):04X}</span>', html)
    return mark_safe(shown)  # noqa: S308 - only numbers were put into escaped text


def _coloured(text: str, language: str) -> list[str]:
    """The lines with colours; the frontmatter of a Markdown file is YAML."""
    head = _FRONTMATTER.match(text) if language == "markdown" else None
    if head is None:
        return _lines(text, language)
    return [*_lines(head.group(), "yaml"), *_lines(text[head.end() :], language)]


def _in_time(tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens; raises TimeoutError where they come too slowly."""
    end = time.monotonic() + LONGEST_SECONDS
    for token in tokens:
        if time.monotonic() > end:
            raise TimeoutError
        yield token


def _lines(text: str, language: str) -> list[str]:
    lines = text.removesuffix("\n").split("\n")
    if not language or len(text) > MOST_COLOURED or any(len(line) > LONGEST_LINE for line in lines):
        return list(lines)
    lexer: Lexer = get_lexer_by_name(language, stripnl=False, ensurenl=True)
    try:
        html = format_tokens(_in_time(lexer.get_tokens(text)), HtmlFormatter(nowrap=True))
    except TimeoutError:
        return list(lines)
    marked = html.removesuffix("\n").split("\n")
    if len(marked) != len(lines):
        # A lexer that counts lines otherwise than we do would put marks on the wrong ones.
        return list(lines)
    return [mark_safe(line) for line in marked]  # noqa: S308 - pygments escapes the text
