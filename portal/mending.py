"""Mending the head of a bundle in the browser: its text to be edited, and the bundle with what was typed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from catalog.bundles.files import File, Tree
from catalog.bundles.reading import MANIFEST, SKILL_MD
from portal.findings import SILENT, FileItems, Sheet

# The fields of the form, and the files that each can hold.
HEADS = {"skill_text": SKILL_MD, "manifest_text": MANIFEST}
LONGEST = 256 * 1024
# Beyond the last line there are numbers for what is typed next.
MORE_NUMBERS = 300
# A page of more numbers takes seconds; the lines after them have none.
MOST_NUMBERS = 20_000
TONES = {"error": "bad", "warning": "warn", "advice": "mute"}


@dataclass(frozen=True, slots=True)
class Number:
    """The number of a line, and the tone of what was found there, or ""."""

    n: int
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Head:
    """A head as it is edited: the name of its field, its path, its text, and what was found in it.

    `refusal` says why it is not shown, "" where it is: then `text` is its text.
    """

    name: str
    path: str
    text: str
    refusal: str = ""
    numbers: tuple[Number, ...] = field(default=(), repr=False)

    @property
    def lines(self) -> int:
        """How many lines the text has."""
        return self.text.count("\n") + 1


def head_of(tree: Tree, name: str) -> File | None:
    """The head that a field edits, if the bundle has it."""
    return next((file for path in HEADS[name] if (file := tree.get(path))), None)


def heads_of(tree: Tree, sheet: Sheet | None = None, typed: dict[str, str] | None = None) -> tuple[Head, ...]:
    """The heads of a bundle to be edited; what was `typed` stands in the place of what the bundle holds."""
    found = ((name, head_of(tree, name)) for name in HEADS)
    return tuple(_head(name, file, sheet, (typed or {}).get(name)) for name, file in found if file)


def heads_typed(typed: dict[str, str], sheet: Sheet | None = None) -> tuple[Head, ...]:
    """The heads as they were typed, where the bundle that they belong to is not at hand."""
    files = (File(HEADS[name][0], b"") for name in typed)
    return heads_of(Tree("", tuple(files)), sheet, typed)


def mend(tree: Tree, typed: dict[str, str]) -> Tree:
    """The bundle with what was typed; a head whose text is the same keeps its bytes."""
    texts = {file.path: text for name, text in typed.items() if (file := head_of(tree, name))}
    files = tuple(_mended(file, texts.get(file.path)) for file in tree.files)
    return Tree(tree.folder, files, tree.findings)


def readable(content: bytes) -> str | None:
    """The text of a file as a browser can edit it, with plain line ends; None where it is no text for that."""
    if len(content) > LONGEST:
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else plain_ends(text)


def plain_ends(text: str) -> str:
    """The text with a line feed at the end of each line."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _mended(file: File, typed: str | None) -> File:
    if typed is None or plain_ends(typed) == readable(file.content):
        return file
    text = plain_ends(typed)
    # The ends of lines stay what they were, so that a comparison shows what was mended alone.
    if file.content.count(b"\r\n") * 2 > file.content.count(b"\n"):
        text = text.replace("\n", "\r\n")
    return File(file.path, text.encode("utf-8", "replace"))


def _head(name: str, file: File, sheet: Sheet | None, typed: str | None) -> Head:
    found = next((one for one in sheet.files if one.path == file.path), None) if sheet else None
    text = readable(file.content) if typed is None else plain_ends(typed)
    if typed is None and found and any(item.finding.code in SILENT for item in found.items):
        return Head(name, file.path, "", refusal="secret")
    if text is None:
        return Head(name, file.path, "", refusal="text")
    return Head(name, file.path, text, numbers=_numbers(text.count("\n") + 1, found))


def _numbers(count: int, found: FileItems | None) -> tuple[Number, ...]:
    tones: dict[int, str] = {}
    # Worst first: the first tone of a line stays.
    for item in found.items if found else ():
        if item.finding.line:
            tones.setdefault(item.finding.line, TONES[item.finding.severity])
    last = min(count + MORE_NUMBERS, MOST_NUMBERS)
    return tuple(Number(n, tones.get(n, "")) for n in range(1, last + 1))


def typed_in(texts: Iterable[tuple[str, object]]) -> dict[str, str]:
    """What was typed, by the name of its field; a head that was emptied is empty, one that was not sent is not there."""
    return {name: str(text) for name, text in texts if name in HEADS}
