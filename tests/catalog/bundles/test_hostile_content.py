"""The shared samples of manifests and content, and public skills, where they lie beside the checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from catalog.bundles.archives import read_upload
from catalog.bundles.files import File, Limits, Tree
from catalog.bundles.findings import Finding, has_errors
from catalog.bundles.reading import read_bundle
from catalog.bundles.safety import scan, suggested_risk
from tests.requirements import shared

HOSTILE_SET, REAL_SET = shared("hostile"), shared("real-skills")
HOSTILE, REAL = HOSTILE_SET.folder, REAL_SET.folder
FAMILIES = ("content", "manifest")
# These need a catalog that holds other versions already.
NEED_THE_CATALOG = {
    "manifest-same-version-other-bytes",
    "manifest-same-version-same-bytes",
    "manifest-namespace-collision",
    "manifest-cycle-a",
    "manifest-cycle-closes",
}
SCAN_CODES = {
    "remote-code-install",
    "external-binary-download",
    "obfuscated-code",
    "prompt-injection-phrase",
    "dynamic-shell-context",
}


CASES = [case for case in HOSTILE_SET.lines("expected.jsonl") if case["family"] in FAMILIES]
SKILLS = REAL_SET.lines("index.jsonl")
WARNINGS = {
    family: {c["code"] for c in CASES if c["family"] == family and c["expect"] == "accept-with-warning"}
    for family in FAMILIES
}


def findings_of(file: Path) -> list[Finding]:
    upload = read_upload(file.read_bytes(), filename=file.name, limits=Limits())
    found = list(upload.findings)
    for tree in upload.trees:
        found += read_bundle(tree, limits=Limits()).findings
    return found


@HOSTILE_SET.needed
@pytest.mark.parametrize(
    "case", [c for c in CASES if c["id"] not in NEED_THE_CATALOG], ids=lambda case: str(case["id"])
)
def test_a_sample_is_judged_as_expected(case: dict[str, Any]) -> None:
    found = findings_of(HOSTILE / case["file"])
    codes = {finding.code for finding in found}
    assert has_errors(found) == (case["expect"] == "reject"), found
    if case["expect"] == "accept":
        assert not codes & WARNINGS[case["family"]]
    else:
        assert codes & {case["code"], *case["also"]}


@REAL_SET.needed
@pytest.mark.parametrize("skill", SKILLS, ids=lambda skill: str(skill["path"]))
def test_a_public_skill_is_scanned_without_false_errors(skill: dict[str, Any]) -> None:
    folder = REAL / skill["path"]
    files = [
        File(str(f.relative_to(folder)), f.read_bytes()) for f in sorted(folder.rglob("*")) if f.is_file()
    ]
    found = scan(Tree(folder.name, tuple(files)))
    codes = {finding.code for finding in found}
    assert not has_errors(found), found
    assert codes >= SCAN_CODES & set(skill["warn_codes"])
    if codes & {"remote-code-install", "external-binary-download", "obfuscated-code"}:
        assert suggested_risk((), found) == "high"
