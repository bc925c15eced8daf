"""Text of a bundle's files, and the forms in which it is searched."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from catalog.bundles.files import File
from catalog.bundles.prose import without_code

# (byte order mark, encoding); UTF-32 first, since its mark begins like that of UTF-16.
_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xef\xbb\xbf", "utf-8"),
)
_BLOCK = 4096
_ASCII, _CONTINUED = bytes(range(0x80)), bytes(range(0x80, 0xC0))
# In lower case, with the byte that begins a character beyond ASCII as `?`.
_FOLDED = _ASCII.lower() + b"?" * 0x80
# The letters beyond ASCII whose lower case is in ASCII, or that patterns take for such a letter
# when they ignore case: dotted I, dotless i, long s and the sign of kelvin.
_LIKE_ASCII = ("\u0130", "\u0131", "\u017f", "\u212a")


@dataclass(frozen=True)
class Text:
    """The text of one file; `utf8` tells whether that is its encoding, `binary` that it is no text.

    A binary file is read as Latin-1, so that what is hidden in it is still found. `given` are the
    bytes where they are the text in UTF-8.
    """

    path: str
    text: str = field(repr=False)
    utf8: bool = True
    binary: bool = False
    given: bytes | None = field(default=None, repr=False, compare=False)
    # What has been found out about the text on the way: where words in lower case stand, which rules
    # gave up, and how much each has looked at.
    places: dict[str, Sequence[int]] = field(default_factory=dict, repr=False, compare=False)
    given_up: set[str] = field(default_factory=set, repr=False, compare=False)
    tried: Counter[str] = field(default_factory=Counter, repr=False, compare=False)
    judged: Counter[str] = field(default_factory=Counter, repr=False, compare=False)
    _marks: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @cached_property
    def suffix(self) -> str:
        """The extension with its dot, in lower case."""
        return suffix_of(self.path)

    @property
    def markdown(self) -> bool:
        """Whether a reviewer sees the file rendered."""
        return self.suffix in (".md", ".markdown", ".mdx")

    @cached_property
    def lowered(self) -> str:
        """The text in lower case, with every character at the place it had."""
        if self.text.isascii():
            return self.text.lower()
        # The only character whose lower case has another length, and two letters that patterns
        # take for i and s when they ignore case.
        lowered = self.text.replace("\u0130", "I").lower()
        return lowered.replace("\u0131", "i").replace("\u017f", "s")

    @cached_property
    def folded(self) -> str:
        """The same with `?` for every character beyond ASCII, which is searched in half the time."""
        if self.text.isascii():
            return self.lowered
        if any(letter in self.beyond_ascii for letter in _LIKE_ASCII):
            return self.lowered.encode("ascii", "replace").decode("ascii")
        return self.encoded.translate(_FOLDED, _CONTINUED).decode("ascii")

    @cached_property
    def beyond_ascii(self) -> str:
        """The text without its ASCII, which in most files leaves little to look at."""
        if self.text.isascii():
            return ""
        return self.encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass")

    @cached_property
    def encoded(self) -> bytes:
        """The text in UTF-8."""
        return self.text.encode("utf-8", "surrogatepass") if self.given is None else self.given

    @cached_property
    def prose(self) -> str:
        """Markdown with fenced blocks and code spans blanked, with every character in its place."""
        return without_code(self.text) if self.markdown else self.text

    def holds(self, mark: str) -> bool:
        """Whether the text holds a mark; it is searched for it once."""
        held = self._marks.get(mark)
        if held is None:
            # A search for one letter runs at the speed of memory.
            held = self._marks[mark] = mark[0] in self.text and mark.encode() in self.encoded
        return held

    def find(self, word: str, start: int) -> int:
        """The first place from `start` on where a word in lower case stands, in any case; -1 where it does not."""
        places = self.places.get(word)
        if places is None:
            return (self.folded if word.isascii() else self.lowered).find(word, start)
        following = bisect_left(places, start)
        return places[following] if following < len(places) else -1

    def line(self, at: int) -> int:
        """The line of a place in the text, counted from 1."""
        block = at // _BLOCK
        return self._lines_before[block] + self.text.count("\n", block * _BLOCK, at) + 1

    def line_end(self, at: int) -> int:
        """The place of the line feed that ends the line of `at`, or of the end of the text."""
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def unlike_lines(self, places: Iterable[int], most: int) -> list[int]:
        """The lines of places that rise, each once and at most so many."""
        lines: list[int] = []
        told = -1
        for at in places:
            if at > told:
                told = self.line_end(at)
                lines.append(self.line(at))
                if len(lines) == most:
                    break
        return lines

    @cached_property
    def _lines_before(self) -> list[int]:
        """The line feeds before each block of the text, so that none is counted twice over."""
        starts = range(0, len(self.text), _BLOCK)
        counts = (self.text.count("\n", start, start + _BLOCK) for start in starts)
        return [0, *accumulate(counts)]


def suffix_of(path: str) -> str:
    """The extension of a path with its dot, in lower case; a dot at the start of a name makes none."""
    name, _, extension = path.rpartition("/")[2].rpartition(".")
    return f".{extension.lower()}" if name and extension else ""


def decode(file: File) -> Text:
    """The file as text, whatever its encoding; never raises."""
    for mark, encoding in _MARKS:
        if file.content.startswith(mark):
            text = file.content[len(mark) :].decode(encoding, "replace")
            return Text(file.path, text, utf8=encoding == "utf-8")
    try:
        text = file.content.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not file.content or (text and "\0" not in text):
        return Text(file.path, text, given=file.content)
    return _decode_odd(file)


def _decode_odd(file: File) -> Text:
    """A file that is no plain UTF-8: UTF-16 without a mark, another encoding, or no text."""
    head = file.content[:4096]
    zeros = head.count(0)
    if zeros:
        even, odd = head[::2].count(0), head[1::2].count(0)
        if zeros * 3 > len(head) and min(even, odd) * 10 <= zeros:
            encoding = "utf-16-be" if even > odd else "utf-16-le"
            return Text(file.path, file.content.decode(encoding, "replace"), utf8=False)
    control = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
    return Text(file.path, file.content.decode("latin-1"), utf8=False, binary=control * 50 > len(head))
