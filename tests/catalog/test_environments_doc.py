"""docs/environments.md says of every field what a new catalog, and a new environment, starts with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from catalog.bundles.bundle import PERMISSIONS
from catalog.models import Environment
from catalog.terms import FIELDS, terms_of

pytestmark = pytest.mark.django_db

TEXT = (Path(__file__).parents[2] / "docs" / "environments.md").read_text("utf-8")
ROWS = {
    row[0]: row[1:] for row in re.findall(r"^\| `(\w+)` \|" + r"([^|\n]+)\|" * 5 + "$", TEXT, re.MULTILINE)
}


def told(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return {0: "none", len(PERMISSIONS): "all"}[len(value)]
    return f"`{value}`" if isinstance(value, str) else str(value)


def test_every_field_and_every_default_is_told() -> None:
    assert set(ROWS) == set(FIELDS) - {"title", "order"}
    made = [*Environment.objects.order_by("order"), Environment(name="further", title="Further", order=40)]
    for place, environment in enumerate(made, start=1):
        terms = terms_of(environment)
        for name, cells in ROWS.items():
            assert cells[place].strip() == told(terms[name]), (environment.name, name)
