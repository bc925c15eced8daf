"""What a test needs of the machine: without it the test is skipped, and fails where all must run."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

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


@dataclass(frozen=True, slots=True)
class SampleSet:
    """Samples beside the checkout; they are no part of the project and need not be there.

    `needed` marks the tests that read them: it skips them where the folder is absent, whatever must run.
    """

    folder: Path

    @property
    def needed(self) -> pytest.MarkDecorator:
        """The mark of a test that reads the samples."""
        reason = f"the sample set shared/{self.folder.name} is not beside the checkout"
        return pytest.mark.skipif(not self.folder.is_dir(), reason=reason)

    def lines(self, name: str) -> list[dict[str, Any]]:
        """The objects of a file with one in each line; none where the folder is absent."""
        if not self.folder.is_dir():
            return []
        text = (self.folder / name).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]


def shared(name: str) -> SampleSet:
    """The set of that name in the folder `shared` beside the checkout."""
    return SampleSet(Path(__file__).resolve().parents[2] / "shared" / name)
