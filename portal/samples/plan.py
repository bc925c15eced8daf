"""Reading the plan of the sample catalog."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

import catalog

FOLDER = Path(catalog.__file__).parent / "samples"
# The safe loader in C, ten times as fast, where PyYAML was built with it.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# User name and password in one; `approver2` also overrides gates and breaks glass.
ACCOUNTS: Mapping[str, tuple[str, str, str]] = {
    "publisher": ("publisher", "Petra", "Vogel"),
    "approver": ("approver", "Amir", "Haddad"),
    "approver2": ("approver", "Ning", "Chen"),
    "analyst": ("analyst", "Anna", "Smirnova"),
    "admin": ("admin", "Alex", "Moreau"),
    "reader": ("reader", "Rosa", "Lindqvist"),
}


def read_plan() -> dict[str, Any]:
    """The plan as it is written."""
    text = (FOLDER / "plan.yaml").read_text(encoding="utf-8")
    plan: dict[str, Any] = yaml.load(text, Loader=LOADER)  # noqa: S506  # a safe one
    return plan


def version_folder(team: str, skill: str, version: str) -> Path:
    """Where the files of a version lie."""
    return FOLDER / "skills" / team / skill / version


def moment(row: Mapping[str, Any], now: datetime) -> datetime:
    """When a row of the plan happens, counted back from `now`."""
    return now - timedelta(days=float(row.get("days_ago", 0)), hours=float(row.get("hours_ago", 0)))
