"""What docs/findings.md says of codes, as an oracle for whatever answers with findings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from catalog.bundles.findings import Finding

ROOT = Path(__file__).parents[2]
ROWS = re.findall(
    r"^\| `([a-z0-9-]+)` \| ([a-z, ]+) \|", (ROOT / "docs" / "findings.md").read_text("utf-8"), re.MULTILINE
)
DOCUMENTED = {code: set(severities.split(", ")) for code, severities in ROWS}


def assert_told(findings: Iterable[Finding], paths: Iterable[str]) -> None:
    """Each finding has a documented code and severity, says what to do, and names a file of these and its line."""
    allowed = {*paths, ""}
    for finding in findings:
        assert finding.severity in DOCUMENTED[finding.code]
        assert finding.message
        assert finding.hint
        assert "\n" not in finding.message + finding.hint
        assert finding.path in allowed
        assert finding.line is None or finding.line >= 1
