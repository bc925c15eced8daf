"""The report of an upload as its page shows it: what becomes of each skill in it, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.urls import reverse
from django.utils.translation import gettext as _

from catalog.bundles.characters import shown
from catalog.bundles.files import Tree
from catalog.bundles.findings import SEVERITIES, Finding
from catalog.bundles.runtimes import judge
from catalog.publishing import Publication
from portal.findings import Reader, Reason, Sheet, reasons_of, sheet_of
from portal.report_text import markdown_of
from portal.runtimes import Runtime, runtimes_shown

MOST_FILES = 300
STORED = frozenset({"published", "unchanged"})


@dataclass(frozen=True, slots=True)
class Leaf:
    """A file of the bundle, with the worst severity of its findings or ""."""

    path: str
    size: int
    severity: str


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of a folder, or with the name "" those beside it; with the worst severity among them or ""."""

    name: str
    leaves: tuple[Leaf, ...]

    @property
    def severity(self) -> str:
        """What a closed folder would hide."""
        return min((leaf.severity for leaf in self.leaves if leaf.severity), key=SEVERITIES.index, default="")


@dataclass(frozen=True, slots=True)
class BundleReport:
    """What the checks say of one skill of the upload."""

    publication: Publication
    sheet: Sheet
    folders: tuple[Folder, ...]
    size: int
    runtimes: tuple[Runtime, ...]
    reasons: tuple[Reason, ...]

    @property
    def blocked(self) -> bool:
        """Whether it cannot be stored, so that somebody has to look at it."""
        return self.publication.status in {"conflict", "rejected"}

    @property
    def passes(self) -> bool:
        """Whether publishing would store it."""
        return self.publication.status == "checked"

    @property
    def stored(self) -> bool:
        """Whether it is in the catalog now."""
        return self.publication.status in STORED and self.publication.row is not None

    @property
    def there(self) -> str:
        """The address of the version that the catalog has by this name and number, "" where it has none."""
        told = self.publication
        known = told.status in {"unchanged", "conflict"} and told.version
        return reverse("version-detail", args=[told.bundle.folder, told.version]) if known else ""

    @property
    def markdown(self) -> str:
        """The report as text to be pasted elsewhere."""
        publication = self.publication
        title = f"{publication.name or publication.bundle.tree.folder} {publication.version}".strip()
        facts = [("sha256", publication.bundle_sha256), (_("Risk"), publication.risk_level)]
        return markdown_of(title or _("Report"), facts, self.sheet, self.runtimes, self.reasons)


@dataclass(frozen=True, slots=True)
class UploadReport:
    """What the checks say of an upload; `sheet` is about the upload as a whole."""

    filename: str
    sheet: Sheet
    bundles: tuple[BundleReport, ...]
    done: bool

    @property
    def ready(self) -> tuple[BundleReport, ...]:
        """The skills that publishing would store."""
        return tuple(bundle for bundle in self.bundles if bundle.passes)

    @property
    def stored(self) -> tuple[BundleReport, ...]:
        """The skills that are in the catalog now."""
        return tuple(bundle for bundle in self.bundles if bundle.stored)

    @property
    def unchanged(self) -> bool:
        """Whether everything in the upload is in the catalog already."""
        return bool(self.bundles) and all(one.publication.status == "unchanged" for one in self.bundles)

    @property
    def counts(self) -> dict[str, int]:
        """How many findings of each severity the whole upload has."""
        sheets = [self.sheet, *(bundle.sheet for bundle in self.bundles)]
        return {name: sum(sheet.counts[name] for sheet in sheets) for name in SEVERITIES}

    @property
    def markdown(self) -> str:
        """The whole report as text to be pasted elsewhere."""
        own = [markdown_of(self.filename, (), self.sheet)] if self.sheet.total or not self.bundles else []
        return "\n".join([*own, *(bundle.markdown for bundle in self.bundles)])


def report_of(
    filename: str, findings: Sequence[Finding], publications: Iterable[Publication], *, done: bool = False
) -> UploadReport:
    """The report of an upload with its own findings and what became of each bundle in it."""
    bundles = tuple(_report_bundle(publication) for publication in publications)
    return UploadReport(shown(filename), sheet_of(findings, lambda _path: None), bundles, done)


def _report_bundle(publication: Publication) -> BundleReport:
    tree = publication.bundle.tree
    worst = {finding.path: finding.severity for finding in reversed(publication.findings) if finding.path}
    leaves = sorted(
        (Leaf(file.path, file.size, worst.get(file.path, "")) for file in tree.files[:MOST_FILES]),
        key=lambda leaf: ("/" in leaf.path, leaf.path),
    )
    folders = groupby(leaves, key=lambda leaf: leaf.path.partition("/")[0] if "/" in leaf.path else "")
    verdicts = judge(publication.bundle).items()
    return BundleReport(
        publication=publication,
        sheet=sheet_of(publication.findings, _reader(tree)),
        folders=tuple(Folder(name, tuple(inside)) for name, inside in folders),
        size=sum(file.size for file in tree.files),
        runtimes=runtimes_shown({key: {"verdict": one.verdict, "notes": one.notes} for key, one in verdicts}),
        reasons=reasons_of(
            publication.bundle.suggested_risk, _permissions(publication), publication.findings
        ),
    )


def _permissions(publication: Publication) -> tuple[str, ...]:
    manifest = publication.bundle.manifest
    return (manifest.permissions if manifest else None) or ()


def _reader(tree: Tree) -> Reader:
    def read(path: str) -> bytes | None:
        file = tree.get(path)
        return file.content if file else None

    return read
