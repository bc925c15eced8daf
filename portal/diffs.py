"""What changed inside a text file, line by line, as its page shows it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from catalog import blobs
from catalog.bundles.characters import shown
from catalog.models import Version

MOST_BYTES = 128 * 1024
MOST_LINES = 400
LONGEST_LINE = 400


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line: `kind` is same, add, del or fold; its numbers before and after, where it has them."""

    kind: str
    text: str = ""
    before: int | None = None
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Diff:
    """The changed lines of a file with their neighbours; none where it cannot be compared."""

    path: str
    lines: tuple[DiffLine, ...] = ()
    cut: bool = False


def diff_file(before: Version, after: Version, path: str) -> Diff:
    """Compare a file of two versions."""
    old, new = _text(before, path), _text(after, path)
    if old is None or new is None:
        return Diff(path)
    lines = diff_lines(old, new)
    return Diff(path, tuple(lines[:MOST_LINES]), cut=len(lines) > MOST_LINES)


def diff_lines(old: list[str], new: list[str]) -> list[DiffLine]:
    """The changed lines of two texts, three unchanged ones around each change."""
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=len(old) + len(new) > 2000)
    lines: list[DiffLine] = []
    for number, group in enumerate(matcher.get_grouped_opcodes(3)):
        if number or group[0][1]:
            lines.append(DiffLine("fold"))
        for tag, a, a_end, b, b_end in group:
            if tag == "equal":
                pairs = zip(range(a, a_end), range(b, b_end), strict=True)
                lines += [DiffLine("same", _plain(old[i]), i + 1, j + 1) for i, j in pairs]
            else:
                lines += [DiffLine("del", _plain(old[i]), before=i + 1) for i in range(a, a_end)]
                lines += [DiffLine("add", _plain(new[j]), after=j + 1) for j in range(b, b_end)]
    return lines


def _text(version: Version, path: str) -> list[str] | None:
    file = version.files.filter(path=path).select_related("blob").first()
    if file is None or file.blob.size > MOST_BYTES:
        return None
    try:
        text = blobs.read_blob(file.blob_id).decode()
    except (UnicodeDecodeError, FileNotFoundError):
        return None
    return None if "\0" in text else text.replace("\r\n", "\n").split("\n")


def _plain(line: str) -> str:
    """A line with what a reader would not see spelled out."""
    return shown(line.replace("\t", "    "), LONGEST_LINE)
