"""Every code that the catalog can report is explained in docs/findings.md, with its severity."""

from __future__ import annotations

import re

from tests.catalog.documented import DOCUMENTED, ROOT, ROWS

REPORTED = re.compile(r"\b(error|warning|advice)\(\s*\"([a-z0-9]+(?:-[a-z0-9]+)+)\"")


def test_every_code_in_the_source_is_documented_with_its_severity() -> None:
    sources = [file.read_text("utf-8") for file in sorted((ROOT / "catalog").glob("**/*.py"))]
    reported = {match for source in sources for match in REPORTED.findall(source)}
    assert reported
    missing = sorted(
        (code, severity) for severity, code in reported if severity not in DOCUMENTED.get(code, ())
    )
    assert missing == []


def test_every_documented_code_is_reported_somewhere() -> None:
    floors = ("catalog", "governance", "portal")
    sources = [file.read_text("utf-8") for floor in floors for file in (ROOT / floor).glob("**/*.py")]
    told = set(re.findall(r"\"([a-z0-9]+(?:-[a-z0-9]+)+)\"", "\n".join(sources)))
    assert sorted(set(DOCUMENTED) - told) == []


def test_a_code_is_documented_once() -> None:
    assert sorted(code for code, _ in ROWS) == sorted(DOCUMENTED)
