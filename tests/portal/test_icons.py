"""The icons of the pages: each that is asked for is there, and none is carried along for nothing."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHEET = ROOT / "templates/includes/icons.html"
DRAWN = set(re.findall(r'<symbol id="i-([a-z-]+)"', SHEET.read_text()))
PLACES = [path for path in (ROOT / "templates").rglob("*.html") if path != SHEET]
CODE = [*(ROOT / "portal").rglob("*.py"), *(ROOT / "static/js").glob("*.js")]


def test_every_icon_that_is_asked_for_is_drawn() -> None:
    for path in PLACES:
        asked = re.findall(r'(?:icon "|icon_name="|#i-)([a-z-]+)"', path.read_text())
        assert set(asked) <= DRAWN, path


def test_every_icon_is_used() -> None:
    text = "\n".join(path.read_text() for path in (*PLACES, *CODE))
    # The names of the risks are put together in the template.
    unused = {name for name in DRAWN if not re.search(rf"""["'-]{name}["']""", text)}
    assert unused <= {"risk-low", "risk-medium", "risk-high"}
