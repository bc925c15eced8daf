"""What a test needs of the machine: without it the test is skipped, and fails where all must run."""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest


def require(reason: str) -> NoReturn:
    """End this test for what is missing: as skipped, or as failed where QM_REQUIRE_ALL=1."""
    if os.environ.get("QM_REQUIRE_ALL") == "1":
        pytest.fail(f"QM_REQUIRE_ALL=1, and {reason}", pytrace=False)
    pytest.skip(reason)


def find_program(*names: str) -> str:
    """The path of the first of these programs that is installed; ends the test where none is."""
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    require(f"none of {', '.join(names)} is installed")


def find_browser() -> str:
    """The path of Chromium; ends the test where it is not installed."""
    return find_program("chromium", "chromium-browser", "google-chrome")
