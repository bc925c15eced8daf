"""Text as it reads with its escapes undone (`%40`, `\\u0040`, `\\n`), and where each character came from."""

from __future__ import annotations

import re
from typing import NamedTuple

_ESCAPE = re.compile(r"(?:%[0-9A-Fa-f]{2})+|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[nrtbf\"'/\\]")
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
LEVELS = 3


class View(NamedTuple):
    """The text read, and for each of its characters, and its end, the place in the text as written."""

    text: str
    places: list[int]


def read(text: str) -> View | None:
    """The text with up to three levels of escapes undone; None where there are none."""
    view = None
    for _ in range(LEVELS):
        if "%" not in text and "\\" not in text:
            break
        step = _undo(text)
        if step is None:
            break
        view = step if view is None else View(step.text, [view.places[place] for place in step.places])
        text = step.text
    return view


def _undo(text: str) -> View | None:
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        parts.append(text[end : match.start()])
        places.extend(range(end, match.start()))
        for char, width in _characters(match.group()):
            parts.append(char)
            places.extend([match.start() if not places else max(match.start(), end)] * len(char))
            end = max(match.start(), end) + width
        end = match.end()
    if not end:
        return None
    parts.append(text[end:])
    places.extend(range(end, len(text) + 1))
    return View("".join(parts), places)


def _characters(escape: str) -> list[tuple[str, int]]:
    """The characters of an escape, each with its width as written."""
    if escape[0] == "\\":
        if escape[1] in "ux":
            return [(chr(int(escape[2:], 16)), len(escape))]
        return [(_SIMPLE.get(escape[1], escape[1]), 2)]
    raw = bytes.fromhex(escape.replace("%", ""))
    try:
        return [(char, 3 * len(char.encode())) for char in raw.decode()]
    except UnicodeDecodeError:
        return [(chr(byte) if byte < 128 else "\ufffd", 3) for byte in raw]
