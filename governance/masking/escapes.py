"""A text as it reads with its escapes undone, and where each character came from.

Undone are percent-encoding (`%40`, also encoded again as `%2540`), backslashes of JSON and of program text
(`\\u0040`, `\\x40`, `\\n`, `\\"`, with any number of backslashes before them) and the entities of HTML (`&#64;`).
Characters that nobody sees are left out: where a line may break, and which way a number that was copied is read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

_UNSEEN = "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
_IS_UNSEEN = re.compile(_UNSEEN)
_ESCAPE = re.compile(
    r"(?:%(?:25){0,8}[0-9A-Fa-f]{2})+"
    r"|\\(?<!\\\\)\\*+(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[nrtbf\"'/])"
    rf"|{_UNSEEN}+"
    r"|&(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|amp|quot|apos|lt|gt|nbsp|commat|period|colon);"
)
_PERCENT = re.compile(r"%(?:25){0,8}([0-9A-Fa-f]{2})")
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_LEVELS = 2


@dataclass(slots=True)
class View:
    """The text as it reads; `place` leads from a position in it to the one in the text as written."""

    text: str = ""
    _seen: list[int] = field(default_factory=list)
    _written: list[int] = field(default_factory=list)
    _copied: list[bool] = field(default_factory=list)
    _inner: View | None = None

    def place(self, position: int) -> int:
        """Where the character at this position stands in the text as written; its end for the end."""
        at = bisect_right(self._seen, position) - 1
        written = self._written[at] + (position - self._seen[at] if self._copied[at] else 0)
        return self._inner.place(written) if self._inner else written

    def note(self, seen: int, written: int, copied: bool) -> None:
        """Remember where a stretch of the text begins, and whether its characters were copied one by one."""
        self._seen.append(seen)
        self._written.append(written)
        self._copied.append(copied)


def are_in(text: str) -> bool:
    """Whether the text has escapes."""
    return _may_be_in(text) and _ESCAPE.search(text) is not None


def hold_unseen(text: str) -> bool:
    """Whether the text has characters that nobody sees."""
    return not text.isascii() and _IS_UNSEEN.search(text) is not None


def _may_be_in(text: str) -> bool:
    return "%" in text or "\\" in text or "&" in text or hold_unseen(text)


def read(text: str) -> View | None:
    """The text with its escapes undone; None where there are none."""
    view: View | None = None
    for _ in range(_LEVELS):
        if not _may_be_in(text):
            break
        outer = _undo(text, view)
        if outer is None:
            break
        view, text = outer, outer.text
    return view


def _undo(text: str, inner: View | None) -> View | None:
    match = _ESCAPE.search(text)
    if match is None:
        return None
    view = View(_inner=inner)
    parts: list[str] = []
    # Who writes a plus as %2B writes a space as a plus.
    space = " " if "%2B" in text or "%2b" in text else "+"
    seen = end = 0
    while match is not None:
        view.note(seen, end, copied=True)
        parts.append(text[end : match.start()].replace("+", space))
        seen += match.start() - end
        end = match.start()
        for char, width in _characters(match.group()):
            view.note(seen, end, copied=False)
            parts.append(char)
            seen += len(char)
            end += width
        end = match.end()
        match = _ESCAPE.search(text, end)
    view.note(seen, end, copied=True)
    view.text = "".join((*parts, text[end:].replace("+", space)))
    return view


def _characters(escape: str) -> Iterator[tuple[str, int]]:
    """The characters that an escape stands for, each with its width as written."""
    if escape[0] == "%":
        yield from _percent(escape)
    elif _IS_UNSEEN.match(escape):
        yield "", len(escape)
    elif escape[0] == "&":
        yield unescape(escape) or " ", len(escape)
    else:
        code = escape.lstrip("\\")
        yield (chr(int(code[1:], 16)) if len(code) > 1 else _SIMPLE.get(code, code)), len(escape)


def _percent(escape: str) -> Iterator[tuple[str, int]]:
    """Bytes of UTF-8; those that are not stay one character a byte."""
    widths = [len(match.group()) for match in _PERCENT.finditer(escape)]
    raw = bytes(int(match[1], 16) for match in _PERCENT.finditer(escape))
    at = 0
    for char in raw.decode("utf-8", "surrogateescape"):
        length = 1 if "\udc80" <= char <= "\udcff" else len(char.encode("utf-8", "surrogatepass"))
        yield char, sum(widths[at : at + length])
        at += length
