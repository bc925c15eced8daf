"""The report of a version that is in the catalog, from its rows and the bytes in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from catalog import blobs
from catalog.models import Appeal, BundleFile, Version, VersionFinding
from portal.findings import LONGEST_TEXT, Item, Reader, Reason, Sheet, reasons_of, sheet_of
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
    appeals = {one.fingerprint: one for one in version.appeals.all()}
    granted = {key for key, one in appeals.items() if one.state == Appeal.State.GRANTED}
    raising = [one for one in findings if one.fingerprint not in granted]
    return VersionReport(
        version=version,
        sheet=_with_appeals(sheet_of(findings, _reader(version, files), only=only), appeals),
        runtimes=runtimes_shown(version.runtimes),
        reasons=reasons_of(version.suggested_risk, version.permissions, raising),
    )


def _with_appeals(sheet: Sheet, appeals: Mapping[str, Appeal]) -> Sheet:
    """The sheet with the last appeal of each finding."""
    if not appeals:
        return sheet
    files = [
        replace(file, items=tuple(replace(one, appeal=_appeal_of(one, appeals)) for one in file.items))
        for file in sheet.files
    ]
    return replace(sheet, files=tuple(files))


def _appeal_of(item: Item, appeals: Mapping[str, Appeal]) -> Appeal | None:
    return appeals.get(getattr(item.finding, "fingerprint", ""))


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
