"""The shared sample set of hostile uploads, where it lies beside the checkout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catalog.bundles.findings import has_errors
from tests.catalog.bundles.containers import all_findings, read

SAMPLES = Path(__file__).parents[4] / "shared" / "hostile"
FAMILIES = ("archive-path", "archive-entry-type", "archive-container", "layout")
# These need the text of SKILL.md, which is read later.
ELSEWHERE = {"broken-reference", "reference-escapes", "name-dir-mismatch"}


def cases() -> list[dict[str, Any]]:
    if not SAMPLES.is_dir():
        return []
    lines = (SAMPLES / "expected.jsonl").read_text("utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["family"] in FAMILIES]


CASES = cases()
WARNINGS = {
    family: {c["code"] for c in CASES if c["family"] == family and c["expect"] == "accept-with-warning"}
    for family in FAMILIES
}


@pytest.mark.skipif(not CASES, reason="the sample set is not beside the checkout")
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_a_sample_is_judged_as_expected(case: dict[str, Any]) -> None:
    file = SAMPLES / case["file"]
    found = all_findings(read(file.read_bytes(), file.name))
    codes = {finding.code for finding in found}
    wanted = {case["code"], *case["also"]}
    assert has_errors(found) == (case["expect"] == "reject"), found
    if case["expect"] == "accept":
        assert not codes & WARNINGS[case["family"]]
    elif not wanted & ELSEWHERE:
        assert codes & wanted
