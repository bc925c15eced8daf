"""Where a number begins and ends. ASCII only: beside Chinese or Cyrillic letters a number stands alone."""

from __future__ import annotations

import re

_GLUED_BEFORE = re.compile(r"(?:[A-Za-z0-9_]|[A-Za-z0-9_][-#]|[0-9][.,:/])\Z")
_GLUED_AFTER = re.compile(r"[A-Za-z0-9_]|[-][A-Za-z0-9_]|[.,:][0-9]")


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether these characters are no part of a longer identifier or number."""
    return not _GLUED_BEFORE.search(text[max(0, start - 2) : start]) and not _GLUED_AFTER.match(text, end)
