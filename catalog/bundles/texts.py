"""Text of a bundle's files as the safety scan reads it, and search in it in linear time."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from catalog.bundles.files import File
from catalog.bundles.findings import Finding, Severity

MAX_PER_RULE = 20
"""Findings of one rule in one file; the rest would say nothing new."""

MAX_TRIES = 100_000
"""Anchors that one rule looks at in one file, so that no file can hold a scan up."""
MAX_TRIES_IN_ALL = 250_000
"""The same for all rules together."""
MAX_TICKS = 300_000
"""Backticks and tildes in Markdown whose code is told apart; beyond, all of it is read as prose."""

# (byte order mark, encoding); UTF-32 first, since its mark begins like that of UTF-16.
_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xef\xbb\xbf", "utf-8"),
)
# With the line feed before it, so that the search runs from line to line; bounded, or a line of
# spaces would be looked at again from each of them.
_FENCE = re.compile(r"\n[ \t>]{0,99}(?:[-*+]|\d{1,3}[.)])?[ \t]{0,99}(`{3,}|~{3,})")
# Written like this, and not as a repetition alone, so that the search runs from tick to tick.
_TICKS = re.compile(r"``*")
_BLOCK = 4096
_NOT_LINE_END = re.compile(r"[^\n]+")


@dataclass(frozen=True)
class Text:
    """The text of one file; `utf8` tells whether that is its encoding, `binary` that it is no text.

    A binary file is read as Latin-1, so that what is hidden in it is still found.
    """

    path: str
    text: str = field(repr=False)
    utf8: bool = True
    binary: bool = False
    # What has been found out about the text on the way: anchors it lacks, rules that gave up.
    lacks: set[tuple[str, bool]] = field(default_factory=set, repr=False, compare=False)
    given_up: set[str] = field(default_factory=set, repr=False, compare=False)
    tried: Counter[str] = field(default_factory=Counter, repr=False, compare=False)
    judged: Counter[str] = field(default_factory=Counter, repr=False, compare=False)
    _places: dict[re.Pattern[str], list[int]] = field(default_factory=dict, repr=False, compare=False)

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
    def prose(self) -> str:
        """Markdown with fenced blocks and code spans blanked, with every character in its place."""
        if not self.markdown or self.text.count("`") + self.text.count("~") > MAX_TICKS:
            return self.text
        return _without_spans(_without_fences(self.text))

    def has_between(self, pattern: re.Pattern[str], start: int, end: int) -> bool:
        """Whether a match of the pattern begins there; the text is searched for it once."""
        places = self._places.get(pattern)
        if places is None:
            places = self._places[pattern] = [match.start() for match in pattern.finditer(self.text)]
        following = bisect_left(places, start)
        return following < len(places) and places[following] < end

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


@dataclass(frozen=True)
class Rule:
    """A pattern that is tried only where one of its anchors stands, which keeps a scan linear.

    The pattern has to match at the anchor. With a `reach` it may run on from there for so many
    characters of the line (`across`: of the text), and one that fails is not tried again inside
    them; without one the pattern must bound its own length. `fold` looks for anchors in lower case.
    `needs` names rarer words, in lower case: one of them stands wherever the rule applies. `ending`
    is a pattern that begins behind the anchor wherever the rule applies.
    """

    code: str
    severity: Severity
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    message: str
    hint: str
    reach: int = 0
    across: bool = False
    fold: bool = True
    needs: tuple[str, ...] = ()
    ending: re.Pattern[str] | None = None

    @cached_property
    def words(self) -> frozenset[str]:
        """What to look for, in lower case, before the rule is tried at all."""
        return frozenset(self.needs or map(str.lower, self.anchors))

    def may_apply(self, held: Collection[str]) -> bool:
        """Whether a text that holds these words, and no others of the rules', is worth a try."""
        return not self.words.isdisjoint(held)

    def matches(self, text: Text) -> Iterator[re.Match[str]]:
        """Where the rule applies, anchor by anchor; a text with too many anchors is given up."""
        tries = 0
        most = min(MAX_TRIES, MAX_TRIES_IN_ALL - text.tried.total())
        searched = text.lowered if self.fold else text.text
        for anchor in self.anchors:
            if (anchor, self.fold) in text.lacks:
                continue
            at = searched.find(anchor)
            if at < 0:
                text.lacks.add((anchor, self.fold))
            while at >= 0:
                end, following = self._window(at, len(anchor), text)
                if match := self._match(text, at, end):
                    yield match
                    following = max(match.end(), at + 1)
                tries += 1
                text.tried[self.code] += 1
                if tries > most:
                    text.given_up.add(self.code)
                    return
                at = searched.find(anchor, following)

    def _match(self, text: Text, at: int, end: int) -> re.Match[str] | None:
        if self.ending is not None and not text.has_between(self.ending, at, end):
            return None
        return self.pattern.match(text.text, at, end)

    def _window(self, at: int, length: int, text: Text) -> tuple[int, int]:
        """Where the pattern has to end, and where the search goes on when it fails."""
        if not self.reach:
            return len(text.text), at + length
        # No further than the reach, or one long line would be read through again and again.
        limit = -1 if self.across else text.text.find("\n", at, at + self.reach + 1)
        if limit < 0 and at + self.reach < len(text.text):
            return at + self.reach, at + self.reach // 2
        limit = len(text.text) if limit < 0 else limit
        return limit, max(limit, at + length)

    def findings(self, text: Text) -> Iterator[Finding]:
        """One finding for each line where the rule applies, up to `MAX_PER_RULE`."""
        lines: set[int] = set()
        told = range(0)
        for match in self.matches(text):
            if match.start() in told:
                continue
            told = range(match.start(), text.line_end(match.start()))
            line = text.line(match.start())
            if line not in lines:
                lines.add(line)
                yield self.finding(text, line)
            if len(lines) == MAX_PER_RULE:
                return

    def finding(self, text: Text, line: int) -> Finding:
        """The finding at a line, in the rule's words."""
        message = f"{text.path}, line {line}: {self.message}"
        return Finding(self.code, self.severity, message, self.hint, text.path, line)


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
        return Text(file.path, text)
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


def _blank(text: str) -> str:
    return _NOT_LINE_END.sub(lambda match: " " * len(match.group()), text)


def _without_fences(text: str) -> str:
    if ("`" not in text or "```" not in text) and ("~" not in text or "~~~" not in text):
        return text
    text = f"\n{text}"
    parts: list[str] = []
    done = 0
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            parts.append(text[done : fence.start()])
            opened, done = fence, fence.start()
        elif fence[1].startswith(opened[1]):
            parts.append(_blank(text[done : fence.end()]))
            opened, done = None, fence.end()
    rest = text[done:]
    parts.append(_blank(rest) if opened else rest)
    return "".join(parts)[1:]


def _without_spans(text: str) -> str:
    """Code spans blanked; one ends at a run of as many backticks in its own paragraph."""
    if "`" not in text:
        return text
    parts: list[str] = []
    done = 0
    paragraph_end = -1
    waiting: dict[int, re.Match[str]] = {}
    for ticks in _TICKS.finditer(text):
        if ticks.start() >= paragraph_end:
            waiting.clear()
            paragraph_end = text.find("\n\n", ticks.start())
            paragraph_end = len(text) if paragraph_end < 0 else paragraph_end
        opened = waiting.pop(len(ticks.group()), None)
        if opened is None or opened.start() < done:
            waiting[len(ticks.group())] = ticks
            continue
        parts += [text[done : opened.end()], _blank(text[opened.end() : ticks.start()])]
        waiting.clear()
        done = ticks.start()
    return "".join(parts) + text[done:]
