"""Whether a path that a file of a bundle names stays inside the bundle."""

from __future__ import annotations

import re

_ABSOLUTE = re.compile(r"[/\\~]|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]*://")


def escapes(path: str) -> bool:
    """Whether a path, relative to the root of the bundle, leaves it on any system; never touches a disk."""
    if _ABSOLUTE.match(path) or "\0" in path:
        return True
    depth = 0
    for part in re.split(r"[/\\]", path):
        depth += {"..": -1, ".": 0, "": 0}.get(part.strip(), 1)
        if depth < 0:
            return True
    return False
