"""What changed inside a text file, line by line, as its page shows it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from catalog import blobs
from catalog.bundles.characters import shown
from catalog.models import Version
from portal.matching import LineMatcher

MOST_BYTES = 128 * 1024
MOST_LINES = 400
LONGEST_LINE = 400
# So many pairs of words are compared in all lines of a file; the changed words of further lines are not marked.
MOST_PAIRS = 4_000_000
# Below this a replaced line is another line, and marking what is alike would only confuse.
ALIKE = 0.5
_WORD = re.compile(r"\w+|\s+|.")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line; `meant` where it is what differs from the line on the other side."""

    text: str
    meant: bool = False


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line: `kind` is same, add, del or fold; its numbers before and after, where it has them.

    A fold stands for `count` unchanged lines. `pieces` are the text with the changed words apart.
    """

    kind: str
    text: str = ""
    before: int | None = None
    after: int | None = None
    count: int = 0
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class DiffRow:
    """Two lines beside each other; None where that side has none."""

    before: DiffLine | None
    after: DiffLine | None

    @property
    def fold(self) -> DiffLine | None:
        """The fold that the row is, if it is one."""
        return self.before if self.before and self.before.kind == "fold" else None


@dataclass(frozen=True, slots=True)
class Diff:
    """The changed lines of a file with their neighbours; none where it cannot be compared.

    `change` is added, removed or changed: in which of the versions the file is. `added`, `removed` and
    `left_out` count lines of the whole file, `left_out` those that are not shown.
    """

    path: str
    lines: tuple[DiffLine, ...] = ()
    change: str = "changed"
    added: int = 0
    removed: int = 0
    left_out: int = 0

    @property
    def rows(self) -> tuple[DiffRow, ...]:
        """The lines side by side."""
        return tuple(_rows(self.lines))


def diff_file(before: Version, after: Version, path: str) -> Diff:
    """Compare a file of two versions."""
    old, new = _text(before, path), _text(after, path)
    return Diff(path) if old is None or new is None else _diff(path, old, new)


def diff_change(before: Version, after: Version, path: str, change: str) -> Diff:
    """Compare a file that is in both, or in one alone; `change` is added, removed or changed."""
    old = [] if change == "added" else _text(before, path)
    new = [] if change == "removed" else _text(after, path)
    diff = Diff(path) if old is None or new is None else _diff(path, old, new)
    return replace(diff, change=change)


def _diff(path: str, old: list[str], new: list[str]) -> Diff:
    lines = diff_lines(old, new)
    return Diff(
        path,
        tuple(_mark(lines[:MOST_LINES])),
        added=sum(line.kind == "add" for line in lines),
        removed=sum(line.kind == "del" for line in lines),
        left_out=len(lines[MOST_LINES:]),
    )


def diff_lines(old: list[str], new: list[str]) -> list[DiffLine]:
    """The changed lines of two texts, three unchanged ones around each change."""
    matcher = LineMatcher(old, new)
    lines: list[DiffLine] = []
    done = 0
    for group in matcher.get_grouped_opcodes(3):
        if group[0][1] > done:
            lines.append(DiffLine("fold", count=group[0][1] - done))
        for tag, a, a_end, b, b_end in group:
            if tag == "equal":
                pairs = zip(range(a, a_end), range(b, b_end), strict=True)
                lines += [DiffLine("same", _plain(old[i]), i + 1, j + 1) for i, j in pairs]
            else:
                lines += [DiffLine("del", _plain(old[i]), before=i + 1) for i in range(a, a_end)]
                lines += [DiffLine("add", _plain(new[j]), after=j + 1) for j in range(b, b_end)]
        done = group[-1][2]
    if lines and done < len(old):
        lines.append(DiffLine("fold", count=len(old) - done))
    return lines


def _mark(lines: Sequence[DiffLine]) -> Iterator[DiffLine]:
    """The lines with their pieces: where two face each other and are alike, the words that differ."""
    left = MOST_PAIRS
    for gone, come in _runs(lines):
        if not come or come[0].kind != "add":
            yield from (replace(line, pieces=(Piece(line.text),)) for line in gone)
            continue
        faced = []
        for a, b in zip(gone, come, strict=False):
            left -= len(a.text) * len(b.text)
            faced.append(_words(a.text, b.text) if left >= 0 else ((Piece(a.text),), (Piece(b.text),)))
        for place, line in enumerate(gone):
            yield replace(line, pieces=faced[place][0] if place < len(faced) else (Piece(line.text),))
        for place, line in enumerate(come):
            yield replace(line, pieces=faced[place][1] if place < len(faced) else (Piece(line.text),))


def _runs(lines: Sequence[DiffLine]) -> Iterator[tuple[list[DiffLine], list[DiffLine]]]:
    """The lines that went and those that came in their place; of any other line, itself and nothing."""
    gone: list[DiffLine] = []
    come: list[DiffLine] = []
    for line in lines:
        if (gone or come) and (line.kind not in {"del", "add"} or (line.kind == "del" and come)):
            yield gone, come
            gone, come = [], []
        if line.kind == "del":
            gone.append(line)
        elif line.kind == "add":
            come.append(line)
        else:
            yield [line], []
    if gone or come:
        yield gone, come


def _words(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    a, b = _WORD.findall(old), _WORD.findall(new)
    matcher = difflib.SequenceMatcher(a=a, b=b, autojunk=False)
    if not old.strip() or not new.strip() or matcher.quick_ratio() < ALIKE or matcher.ratio() < ALIKE:
        return (Piece(old),), (Piece(new),)
    codes = matcher.get_opcodes()
    return (
        _pieces(("".join(a[i:j]), tag != "equal") for tag, i, j, _, _ in codes),
        _pieces(("".join(b[i:j]), tag != "equal") for tag, _, _, i, j in codes),
    )


def _pieces(parts: Iterable[tuple[str, bool]]) -> tuple[Piece, ...]:
    return tuple(Piece(text, meant) for text, meant in parts if text)


def _rows(lines: Sequence[DiffLine]) -> Iterator[DiffRow]:
    for gone, come in _runs(lines):
        if not come and gone[0].kind != "del":
            yield DiffRow(gone[0], gone[0])
            continue
        for left, right in zip_longest(gone, come):
            yield DiffRow(left, right)


def _text(version: Version, path: str) -> list[str] | None:
    file = version.files.filter(path=path).select_related("blob").first()
    # Nothing of a revoked version is quoted.
    if version.revoked_at or file is None or file.blob.size > MOST_BYTES:
        return None
    try:
        text = blobs.read_blob(file.blob_id).decode()
    except (UnicodeDecodeError, FileNotFoundError):
        return None
    return None if "\0" in text else text.replace("\r\n", "\n").split("\n")


def _plain(line: str) -> str:
    """A line with what a reader would not see spelled out."""
    return shown(line.replace("\t", "    "), LONGEST_LINE)
