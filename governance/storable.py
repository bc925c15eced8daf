"""Values that JSON can carry and a database, or an answer, cannot."""

from __future__ import annotations

import math
import re
from typing import Any

DEPTH = 120
TOO_DEEP = "[TOO DEEP]"

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def storable(value: Any, depth: int = 0) -> Any:
    """The value with U+FFFD for NUL and lone surrogates, null for numbers that are none, cut where too deep."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, dict | list | tuple):
        return value
    if depth > DEPTH:
        return TOO_DEEP
    if isinstance(value, dict):
        return {storable(key): storable(item, depth + 1) for key, item in value.items()}
    return [storable(item, depth + 1) for item in value]
