"""How agent runtimes read a bundle, as pages tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _


@dataclass(frozen=True, slots=True)
class Runtime:
    """One runtime: its name, its verdict (loads, loss or fails) and why."""

    key: str
    name: str
    verdict: str
    notes: tuple[str, ...]


def runtimes_shown(stored: Mapping[str, Any]) -> tuple[Runtime, ...]:
    """The verdicts that `Version.runtimes` holds, in the order in which they are shown."""
    names = {
        "spec": _("Open specification"),
        "raf": "RAF",
        "awaken": "Awaken",
        "maf": "Microsoft Agent Framework",
    }
    return tuple(
        Runtime(key, name, str(stored[key]["verdict"]), tuple(map(str, stored[key]["notes"])))
        for key, name in names.items()
        if key in stored
    )
