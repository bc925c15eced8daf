"""Findings as a page shows them: by file, with the lines they mean; and what raised the risk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from catalog.bundles.bundle import RISKS
from catalog.bundles.characters import shown
from catalog.bundles.findings import SEVERITIES, Finding
from catalog.bundles.safety import suggested_risk
from catalog.models import Appeal

# A report that nobody reads to its end is cut; its heading still counts everything.
MOST_FINDINGS = 200
LONGEST_LINE = 160
LONGEST_TEXT = 1024 * 1024
# These are about something that must not be shown again: their files are not quoted.
SILENT = frozenset({"secret-detected", "secret-suspected", "dotenv-file"})

# The bytes of a file by its path; None where there are none to quote.
Reader = Callable[[str], bytes | None]


class Told(Protocol):
    """A finding, of an upload or of a version."""

    @property
    def code(self) -> str: ...
    @property
    def severity(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int | None: ...
    @property
    def message(self) -> str: ...
    @property
    def hint(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file: its number, its text with hidden characters spelled out, and whether it is meant."""

    number: int
    text: str
    meant: bool


@dataclass(frozen=True, slots=True)
class Item:
    """A finding with the lines around the place it names, and the last appeal against it."""

    finding: Told
    lines: tuple[Line, ...] = ()
    appeal: Appeal | None = None


@dataclass(frozen=True, slots=True)
class FileItems:
    """The findings of one file, or with the path "" those of the bundle as a whole; worst first."""

    path: str
    items: tuple[Item, ...]

    @property
    def severity(self) -> str:
        """The worst severity."""
        return min((item.finding.severity for item in self.items), key=_rank)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The findings that are shown, by file, those with the worst first; `counts` is of all by severity."""

    files: tuple[FileItems, ...]
    counts: Mapping[str, int]
    only: str = ""

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(self.counts.values())

    @property
    def left_out(self) -> int:
        """How many of the chosen ones are not shown."""
        chosen = self.counts[self.only] if self.only else self.total
        return chosen - sum(len(file.items) for file in self.files)


@dataclass(frozen=True, slots=True)
class Reason:
    """What calls for a risk level: a permission, or a finding at its place."""

    risk: str
    cause: str
    permission: bool
    places: tuple[str, ...] = ()
    more: int = 0


def sheet_of(findings: Sequence[Told], read: Reader, *, only: str = "") -> Sheet:
    """The findings by file; `only` one severity, where that is known."""
    only = only if only in SEVERITIES else ""
    counts: dict[str, int] = {name: sum(one.severity == name for one in findings) for name in SEVERITIES}
    silent = {one.path for one in findings if one.code in SILENT}
    chosen = sorted((one for one in findings if only in {"", one.severity}), key=_worst_first)
    read_once = _remember(read)
    by_path = sorted(chosen[:MOST_FINDINGS], key=lambda one: one.path)
    files = [
        FileItems(
            path,
            tuple(Item(one, () if path in silent else _excerpt(one, read_once)) for one in group),
        )
        for path, group in groupby(by_path, key=lambda one: one.path)
    ]
    return Sheet(tuple(sorted(files, key=lambda file: (_rank(file.severity), file.path))), counts, only)


def reasons_of(risk: str, permissions: Iterable[str], findings: Iterable[Told]) -> tuple[Reason, ...]:
    """What calls for the suggested risk, highest first; nothing where that is low."""
    reasons = [_reason(suggested_risk([name], ()), name) for name in sorted(set(permissions))]
    places: dict[str, list[str]] = {}
    for one in findings:
        places.setdefault(one.code, []).append(f"{one.path}:{one.line}" if one.line else one.path)
    for code, found in places.items():
        named = tuple(dict.fromkeys(place for place in found if place))
        level = suggested_risk((), [Finding(code, "warning", "")])
        reasons.append(Reason(level, code, False, named[:3], max(0, len(named) - 3)))
    known = RISKS[1 : RISKS.index(risk) + 1] if risk in RISKS else ()
    chosen = [one for one in reasons if one.risk in known]
    return tuple(sorted(chosen, key=lambda one: (-RISKS.index(one.risk), one.cause)))


def _reason(risk: str, permission: str) -> Reason:
    return Reason(risk, permission, permission=True)


def _rank(severity: str) -> int:
    return SEVERITIES.index(severity)


def _worst_first(finding: Told) -> tuple[int, str, int, str]:
    return _rank(finding.severity), finding.path, finding.line or 0, finding.code


def _remember(read: Reader) -> Callable[[str], list[str]]:
    """The lines of each file, read once; none of a large file or of no text."""
    known: dict[str, list[str]] = {}

    def lines(path: str) -> list[str]:
        if path not in known:
            content = read(path)
            known[path] = [] if content is None or _is_unquotable(content) else _lines(content)
        return known[path]

    return lines


def _is_unquotable(content: bytes) -> bool:
    return len(content) > LONGEST_TEXT or b"\0" in content[:8000]


def _excerpt(finding: Told, read: Callable[[str], list[str]]) -> tuple[Line, ...]:
    """The line that is meant and its neighbours."""
    if not finding.path or not finding.line:
        return ()
    lines, meant = read(finding.path), finding.line
    if meant > len(lines):
        return ()
    return tuple(
        Line(n, _plain(lines[n - 1]), n == meant)
        for n in range(max(1, meant - 1), min(len(lines), meant + 1) + 1)
    )


def _lines(content: bytes) -> list[str]:
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _plain(text: str) -> str:
    """One line, cut, with what a reader would not see spelled out."""
    return shown(text.replace("\t", "    "), LONGEST_LINE)
