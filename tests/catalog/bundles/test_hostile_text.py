"""The sample set of hostile uploads, where it lies beside the checkout: the families of text."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from catalog.bundles.archives import read_upload
from catalog.bundles.bundle import Bundle
from catalog.bundles.files import Limits
from catalog.bundles.findings import Finding
from catalog.bundles.reading import read_bundle
from tests.requirements import shared

SET = shared("hostile")
SAMPLES = SET.folder
FAMILIES = ("skill-md-text", "frontmatter-yaml", "fields", "layout", "content")

pytestmark = SET.needed

CASES = [case for case in SET.lines("expected.jsonl") if case["family"] in FAMILIES]
WARNINGS = {
    family: {c["code"] for c in CASES if c["family"] == family and c["expect"] == "accept-with-warning"}
    for family in FAMILIES
}


def _read(case: dict[str, Any]) -> tuple[list[Bundle], list[Finding]]:
    path = SAMPLES / case["file"]
    upload = read_upload(path.read_bytes(), filename=path.name, limits=Limits())
    bundles = [read_bundle(tree, limits=Limits()) for tree in upload.trees]
    return bundles, [*upload.findings, *(finding for bundle in bundles for finding in bundle.findings)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_verdict_is_as_expected(case: dict[str, Any]) -> None:
    started = time.process_time()
    _, findings = _read(case)
    assert time.process_time() - started < 2
    codes = {finding.code for finding in findings}
    refused = any(finding.severity == "error" for finding in findings)
    if case["expect"] == "accept":
        assert not refused
        assert not codes & WARNINGS[case["family"]]
    else:
        assert refused is (case["expect"] == "reject")
        assert codes & {case["code"], *case["also"]}


def _bundle(name: str) -> Bundle:
    (case,) = (case for case in CASES if case["id"] == name)
    (bundle,), _ = _read(case)
    return bundle


@pytest.mark.parametrize("name", ["md-bom", "yaml-case-variant-key"])
def test_the_name_is_demo_skill(name: str) -> None:
    assert _bundle(name).name == "demo-skill"


def test_dashes_do_not_cut_the_description() -> None:
    assert _bundle("md-dashes-in-description").description.endswith("tables")


def test_a_comment_cuts_the_description_where_yaml_says_so() -> None:
    assert _bundle("yaml-unquoted-hash").description == "Handles C"


def test_folded_text() -> None:
    assert _bundle("yaml-block-scalar").description == "Formats tables."


def test_values_are_text() -> None:
    country, name, date = _bundle("yaml-norway"), _bundle("yaml-name-exponent"), _bundle("yaml-date-value")
    assert country.frontmatter is not None
    assert country.frontmatter.metadata == {"country": "NO", "on": "yes", "off": "n"}
    assert name.name == "1e3"
    assert date.frontmatter is not None
    assert date.frontmatter.metadata == {"updated": "2025-10-20"}


def test_the_version_is_the_authors_text() -> None:
    bundle = _bundle("yaml-version-1-10")
    assert (bundle.version, bundle.version_text) == ("1.10.0", "1.10")


def test_nothing_is_constructed() -> None:
    assert _bundle("yaml-python-object").refused
    assert not Path("/tmp/pwned").exists()
