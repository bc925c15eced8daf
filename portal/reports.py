"""The report of an upload as its page shows it: findings with the lines they mean, and the files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from catalog.bundles.characters import shown
from catalog.bundles.files import File, Tree
from catalog.bundles.findings import SEVERITIES, Finding
from catalog.publishing import Publication

# A report that nobody reads to its end is cut; its heading still counts everything.
MOST_FINDINGS = 100
MOST_FILES = 300
LONGEST_LINE = 160
LONGEST_TEXT = 1024 * 1024
# These are about something that must not be shown again: their files are not quoted.
SILENT = frozenset({"secret-detected", "secret-suspected", "dotenv-file"})
STORED = frozenset({"published", "unchanged"})


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file: its number, its text with hidden characters spelled out, and whether it is meant."""

    number: int
    text: str
    meant: bool


@dataclass(frozen=True, slots=True)
class Told:
    """A finding with the lines around the place it names."""

    finding: Finding
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """The findings of one severity: how many there are, and those that are shown, file by file."""

    severity: str
    count: int
    files: tuple[tuple[str, tuple[Told, ...]], ...]

    @property
    def left_out(self) -> int:
        """How many are not shown."""
        return self.count - sum(len(told) for _, told in self.files)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A file of the bundle, with the worst severity of its findings or ""."""

    path: str
    size: int
    severity: str


@dataclass(frozen=True, slots=True)
class BundleReport:
    """What the checks say of one skill of the upload."""

    publication: Publication
    parts: tuple[Part, ...]
    folders: tuple[tuple[str, tuple[Leaf, ...]], ...]
    size: int

    @property
    def passes(self) -> bool:
        """Whether publishing would store it."""
        return self.publication.status == "checked"

    @property
    def stored(self) -> bool:
        """Whether it is in the catalog now."""
        return self.publication.status in STORED and self.publication.row is not None


@dataclass(frozen=True, slots=True)
class UploadReport:
    """What the checks say of an upload; `parts` are about the upload as a whole."""

    filename: str
    parts: tuple[Part, ...]
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
        parts = [*self.parts, *(part for bundle in self.bundles for part in bundle.parts)]
        return {name: sum(part.count for part in parts if part.severity == name) for name in SEVERITIES}


def report_of(
    filename: str, findings: Sequence[Finding], publications: Iterable[Publication], *, done: bool = False
) -> UploadReport:
    """The report of an upload with its own findings and what became of each bundle in it."""
    bundles = tuple(_report_bundle(publication) for publication in publications)
    return UploadReport(shown(filename), _parts(findings, None), bundles, done)


def _report_bundle(publication: Publication) -> BundleReport:
    tree = publication.bundle.tree
    worst = {finding.path: finding.severity for finding in reversed(publication.findings) if finding.path}
    leaves = sorted(
        (Leaf(file.path, file.size, worst.get(file.path, "")) for file in tree.files[:MOST_FILES]),
        key=lambda leaf: ("/" in leaf.path, leaf.path),
    )
    folders = groupby(leaves, key=lambda leaf: leaf.path.partition("/")[0] if "/" in leaf.path else "")
    return BundleReport(
        publication=publication,
        parts=_parts(publication.findings, tree),
        folders=tuple((name, tuple(inside)) for name, inside in folders),
        size=sum(file.size for file in tree.files),
    )


def _parts(findings: Sequence[Finding], tree: Tree | None) -> tuple[Part, ...]:
    silent = {finding.path for finding in findings if finding.code in SILENT}
    parts = []
    for severity in SEVERITIES:
        same = sorted((f for f in findings if f.severity == severity), key=lambda f: (f.path, f.line or 0))
        if same:
            told = [
                Told(finding, () if finding.path in silent else _excerpt(finding, tree))
                for finding in same[:MOST_FINDINGS]
            ]
            files = groupby(told, key=lambda one: one.finding.path)
            parts.append(Part(severity, len(same), tuple((path, tuple(group)) for path, group in files)))
    return tuple(parts)


def _excerpt(finding: Finding, tree: Tree | None) -> tuple[Line, ...]:
    """The line that is meant and its neighbours; nothing of a large file or of no text."""
    file = tree.get(finding.path) if tree and finding.line else None
    if file is None or not finding.line or file.size > LONGEST_TEXT or b"\0" in file.content[:8000]:
        return ()
    lines = _lines(file)
    first, last = max(1, finding.line - 1), min(len(lines), finding.line + 1)
    return tuple(Line(n, _plain(lines[n - 1]), n == finding.line) for n in range(first, last + 1))


def _lines(file: File) -> list[str]:
    text = file.content.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _plain(text: str) -> str:
    """One line, cut, with what a reader would not see spelled out."""
    return shown(text.replace("\t", "    "), LONGEST_LINE)
