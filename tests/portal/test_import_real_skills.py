"""131 public skills in one run of `import_skills`, and a second run that changes nothing."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from catalog.models import JournalEntry, Version
from tests import make
from tests.requirements import shared

REAL = shared("real-skills")

pytestmark = [pytest.mark.django_db, REAL.needed]


def imported(folder: str) -> list[dict[str, Any]]:
    """What the command reports of each skill, in the order of their folders."""
    out = StringIO()
    with pytest.raises(SystemExit):  # some are refused
        call_command("import_skills", folder, team="payments", format="json", stdout=out)
    results: list[dict[str, Any]] = json.loads(out.getvalue())["results"]
    return results


def test_each_gets_its_verdict_and_a_second_run_changes_nothing() -> None:
    make.team("payments")
    index = REAL.lines("index.jsonl")
    found = imported(str(REAL.folder))
    assert len(index) == 131
    for entry, one in zip(sorted(index, key=lambda entry: entry["path"]), found, strict=True):
        assert one["folder"] == entry["path"].split("/")[1]
        codes = {finding["code"] for finding in one["findings"]}
        if entry.get("same_name_as"):
            assert "name-collision" in codes, entry["path"]
        elif entry["expect"] == "reject":
            assert one["status"] == "rejected", entry["path"]
            assert codes & set(entry["reject_codes"]), entry["path"]
        else:
            assert one["status"] == "published", (entry["path"], codes)
            assert set(one["runtimes"]) == {"spec", "raf", "awaken", "maf"}
    versions, entries = Version.objects.count(), JournalEntry.objects.count()

    again = imported(str(REAL.folder))
    assert {one["status"] for one in again} == {"unchanged", "rejected"}
    assert Version.objects.count() == versions
    assert JournalEntry.objects.count() == entries
