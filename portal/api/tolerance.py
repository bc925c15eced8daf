"""What is looked at in a parsed body before anything walks it."""

from __future__ import annotations

import json
from typing import Any


def deeper_than(most: int, value: Any) -> bool:
    """Whether lists and objects in the value are nested more than `most` levels."""
    level, depth = [value] if isinstance(value, dict | list) else [], 0
    while level:
        depth += 1
        if depth > most:
            return True
        level = [
            inside
            for outside in level
            for inside in (outside.values() if isinstance(outside, dict) else outside)
            if isinstance(inside, dict | list)
        ]
    return False


def has_null(value: Any) -> bool:
    """Whether some text in the value holds a NUL; the value is not nested deep."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(has_null(key) or has_null(item) for key, item in value.items())
    return isinstance(value, list) and any(map(has_null, value))


# More than this no double has; Python refuses to read far more than that.
LONGEST_NUMBER = 400


def read_tolerantly(body: bytes) -> Any:
    """JSON as Python reads it, with null for NaN, infinities and what is as large; raises ValueError, RecursionError."""
    return json.loads(body.decode("utf-8", "replace"), parse_constant=lambda _: None, parse_int=_whole)


def _whole(written: str) -> int | None:
    return int(written) if len(written) <= LONGEST_NUMBER else None
