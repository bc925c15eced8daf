"""The report of a version that is in the catalog, from its rows and the bytes in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from catalog import blobs
from catalog.models import BundleFile, Version, VersionFinding
from portal.findings import LONGEST_TEXT, Reader, Reason, Sheet, reasons_of, sheet_of
from portal.report_text import markdown_of
from portal.runtimes import Runtime, runtimes_shown


@dataclass(frozen=True, slots=True)
class VersionReport:
    """What the validation found in a version, how runtimes read it, and what raised its risk."""

    version: Version
    sheet: Sheet
    runtimes: tuple[Runtime, ...]
    reasons: tuple[Reason, ...]

    @property
    def markdown(self) -> str:
        """The report as text to be pasted elsewhere."""
        version = self.version
        facts = [
            ("sha256", version.bundle_sha256),
            (_("Risk"), version.effective_risk),
            (_("Suggested risk"), version.suggested_risk),
        ]
        title = f"{version.skill.name} {version.version}"
        return markdown_of(title, facts, self.sheet, self.runtimes, self.reasons)


def version_report(
    version: Version, findings: Sequence[VersionFinding], files: Sequence[BundleFile], *, only: str = ""
) -> VersionReport:
    """The report; `only` one severity, where that is known."""
    return VersionReport(
        version=version,
        sheet=sheet_of(findings, _reader(version, files), only=only),
        runtimes=runtimes_shown(version.runtimes),
        reasons=reasons_of(version.suggested_risk, version.permissions, findings),
    )


def _reader(version: Version, files: Sequence[BundleFile]) -> Reader:
    """Reads from the store; nothing of a revoked version is quoted."""
    known = {file.path: file.blob for file in files}

    def read(path: str) -> bytes | None:
        blob = known.get(path)
        if blob is None or version.revoked_at or blob.size > LONGEST_TEXT:
            return None
        try:
            return blobs.read_blob(blob.pk)
        except FileNotFoundError:
            return None

    return read
