"""131 public skills, where they lie beside the checkout: the verdict, and where ours differs."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.bundles.bundle import Bundle
from catalog.bundles.files import File, Limits
from catalog.bundles.layout import tree_of
from catalog.bundles.reading import read_bundle
from tests.requirements import shared

SET = shared("real-skills")
SAMPLES = SET.folder

pytestmark = SET.needed

# Where the catalog judges otherwise than the index proposes: codes that are not told, and why.
JUDGED_OTHERWISE = {
    "025/x-twitter": ({"frontmatter-unknown-key"}, "user-invocable is an extension that the catalog knows"),
    "026/x-twitter2": ({"frontmatter-unknown-key"}, "user-invocable is an extension that the catalog knows"),
}


INDEX = SET.lines("index.jsonl")


def _read(entry: dict[str, Any]) -> Bundle:
    folder = SAMPLES / entry["path"]
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = [File(path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths]
    return read_bundle(tree_of(folder.name, files, Limits()), limits=Limits())


@pytest.mark.parametrize("entry", INDEX, ids=lambda entry: entry["path"])
def test_the_verdict_is_as_expected(entry: dict[str, Any]) -> None:
    bundle = _read(entry)
    codes = {finding.code for finding in bundle.findings}
    errors = {finding.code for finding in bundle.findings if finding.severity == "error"}
    otherwise, _ = JUDGED_OTHERWISE.get(entry["path"], (set(), ""))
    if entry["expect"] == "reject":
        assert errors & set(entry["reject_codes"])
        return
    assert not errors
    assert set(entry["warn_codes"]) - codes == otherwise
    if entry["expect"] == "accept":
        assert not [finding for finding in bundle.findings if finding.severity == "warning"]


def test_a_download_of_a_hidden_program_is_accepted_as_high_risk() -> None:
    (entry,) = (entry for entry in INDEX if entry["path"].startswith("070/"))
    bundle = _read(entry)
    assert not bundle.refused
    assert bundle.suggested_risk == "high"


def test_every_finding_says_where_and_how_to_mend_it() -> None:
    for entry in INDEX:
        for finding in _read(entry).findings:
            assert finding.message.endswith((".", "!", "?"))
            assert finding.hint
            assert "\n" not in finding.message + finding.hint
