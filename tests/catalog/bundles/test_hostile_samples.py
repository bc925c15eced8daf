"""The shared sample set of hostile uploads, where it lies beside the checkout."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.bundles.findings import has_errors
from tests.catalog.bundles.containers import all_findings, read
from tests.requirements import shared

SET = shared("hostile")
SAMPLES = SET.folder
FAMILIES = ("archive-path", "archive-entry-type", "archive-container", "layout")
# These need the text of SKILL.md, which is read later.
ELSEWHERE = {"broken-reference", "reference-escapes", "name-dir-mismatch"}


CASES = [case for case in SET.lines("expected.jsonl") if case["family"] in FAMILIES]
WARNINGS = {
    family: {c["code"] for c in CASES if c["family"] == family and c["expect"] == "accept-with-warning"}
    for family in FAMILIES
}


@SET.needed
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
