"""Rules of an instance beside the built-in ones: read strictly, and matched by RE2, whose time is linear."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import re2

from governance.masking.masks import KINDS, MASK

LONGEST_PATTERN: Final = 1000
MOST_FIELDS, LONGEST_FIELD = 50, 64
# Instructions of the compiled program; a rule that people can read has a few hundred.
LARGEST_PROGRAM: Final = 10_000
_MEMORY: Final = 8 << 20
_KIND = re.compile(r"[A-Z][A-Z0-9_]{1,15}")
_JOINTS = re.compile(r"[^0-9a-zA-Z\u0080-\U0010ffff]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
# With one of these a rule looks at the ends of its text, which lie elsewhere in a text of several.
_ENDS = re.compile(r"\\[AzZ]|\(\?[a-zA-Z]*-")
# Matching these with nothing, a pattern says where something is and not what.
_LITTLE = ("", "a", "1", " ", "a 1", "ab-12.c")
# What a pattern matches that takes each of these whole is anything.
_ANYTHING = ("a", "1")
_ONE_OF_ONE = re.compile(r"\[([^\\\]^])\]")
_OF_MANY = re.compile(r"\\[A-Za-z](?:\{[0-9,]+\})?|\[[^\]]+\]|(?<!\\)(?:[.)][*+?]|[*+()|^$]|\{[0-9,]+\})")
_MASK_OF = "[{}·7f3a]"
# What RE2 says of a pattern, by the beginning of its sentence.
_SAID: Final = {
    "invalid perl operator: (?=": "it looks ahead, which takes more than linear time and is not known here",
    "invalid perl operator: (?!": "it looks ahead, which takes more than linear time and is not known here",
    "invalid perl operator: (?<": "it looks behind, which takes more than linear time and is not known here",
    "invalid perl operator": "it holds a group that RE2 does not know",
    "invalid escape sequence": "it holds an escape that RE2 does not know",
    "missing )": "a bracket is opened and not closed",
    "unexpected )": "a bracket is closed that was not opened",
    "missing ]": "a class of characters is opened and not closed",
    "invalid character class range": "a class of characters holds a range that is none",
    "invalid repetition size": "it repeats something too often; RE2 takes up to 1,000 times, all in all",
    "no argument for repetition operator": "it repeats something, and nothing stands before the sign for it",
    "bad repetition operator": "it has two signs for a repetition in a row",
    "invalid named capture group": "a group has a name that is none",
    "duplicate capture group name": "two groups have the same name",
    "trailing \\": "it ends with a backslash",
    "pattern too large": "it is too large; say it shorter, or make two rules of it",
}


class BadRule(Exception):
    """A rule that is not taken; `field` says which part of it is wrong: kind, pattern or fields."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Rule:
    """What a rule says: the kind of its masks, what it looks for, and under which names alone."""

    kind: str
    pattern: str = ""
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A rule compiled; without an expression it takes whole values."""

    rule: Rule
    _found: Any = field(repr=False, default=None, compare=False)
    _lines: Any = field(repr=False, default=None, compare=False)
    _group: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether it masks values as they are."""
        return self._found is None

    def may_be_in(self, lines: bytes) -> bool:
        """Whether it may match one of several texts, which are the lines of one in UTF-8."""
        return self._lines is None or self._lines.search(lines) is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """What it masks of a text: its matches, or their group `value`; never a part of a mask."""
        if self._found is None:
            return
        read = text if text.isascii() else _SURROGATE.sub("\ufffd", text)
        masks: list[tuple[int, int]] | None = None
        for match in self._found.finditer(read):
            start, end = match.span(self._group)
            if start < 0:
                start, end = match.span()
            if start == end:
                continue
            if masks is None:
                masks = [mask.span() for mask in MASK.finditer(text)]
            yield from _outside(start, end, masks)


@lru_cache(maxsize=256)
def compile_rule(rule: Rule) -> Pattern:
    """The rule compiled; raises BadRule where RE2 refuses its pattern or it would be too large."""
    if not rule.pattern:
        return Pattern(rule)
    found = _compile(rule.pattern)
    if max(found.programsize, found.reverseprogramsize) > LARGEST_PROGRAM:
        raise BadRule("pattern", "The pattern is too large; say it shorter, or make two rules of it.")
    lines = None if _ENDS.search(rule.pattern) else _compile(f"(?m){rule.pattern}")
    return Pattern(rule, found, lines, dict(found.groupindex).get("value", 0))


def check_rule(rule: Rule) -> None:
    """Raise BadRule where the rule is none, would mask nothing or everything, or masks of masks."""
    if not _KIND.fullmatch(rule.kind):
        raise BadRule(
            "kind", "A kind has 2 to 16 characters: a capital letter, then capitals, digits and underscores."
        )
    if rule.kind in KINDS:
        raise BadRule("kind", f"{rule.kind} is a built-in kind; give another name.")
    _check_fields(rule.fields)
    if not rule.pattern:
        if not rule.fields:
            raise BadRule("pattern", "Say what to look for, or under which names values are masked whole.")
        return
    if len(rule.pattern) > LONGEST_PATTERN:
        raise BadRule("pattern", f"The pattern has {len(rule.pattern)} characters; at most 1,000 are taken.")
    _check_reach(compile_rule(rule))


def spelled_out(pattern: str) -> str:
    """The texts that a pattern spells out, without the signs of expressions: `bob@example\\.com` is an address."""
    written = _OF_MANY.sub(" ", _ONE_OF_ONE.sub(r"\\\1", pattern))
    return re.sub(r"\\(.)|\?", r"\1", written)


def fold(name: str) -> str:
    """A name of a field however its words are joined: `employee_id`, `Employee-ID` and `employeeId` are the same."""
    return _JOINTS.sub("", name).casefold()


def _check_fields(fields: Sequence[str]) -> None:
    if len(fields) > MOST_FIELDS:
        raise BadRule(
            "fields", f"{len(fields)} names of fields are too many; at most {MOST_FIELDS} are taken."
        )
    for name in fields:
        if not fold(name) or len(name) > LONGEST_FIELD:
            raise BadRule(
                "fields", f"{name[:80]!r} is no name of a field: up to 64 characters, with a letter."
            )


def _check_reach(pattern: Pattern) -> None:
    found = pattern._found
    if any(match.start() == match.end() for text in _LITTLE for match in found.finditer(text)):
        raise BadRule("pattern", "The pattern matches the empty text; say what must be there.")
    for kind in (*KINDS, pattern.rule.kind):
        mask = _MASK_OF.format(kind)
        for match in found.finditer(mask):
            if match.span(pattern._group) == (0, len(mask)):
                raise BadRule(
                    "pattern",
                    f"The pattern matches masks as well, such as {mask}; say more closely what it looks for.",
                )
    if not pattern.rule.fields and all(map(found.fullmatch, _ANYTHING)):
        raise BadRule("pattern", "The pattern matches whatever there is; say more closely what it looks for.")


def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as fault:
        raise BadRule("pattern", _sentence(pattern, fault)) from fault
    except UnicodeEncodeError as fault:
        raise BadRule("pattern", "The pattern holds half a character.") from fault


def _sentence(pattern: str, fault: Exception) -> str:
    """What RE2 says, for people."""
    told = fault.args[0] if fault.args else ""
    said = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
    if re.match(r"invalid escape sequence: \\[1-9]", said):
        return "The pattern cannot be used: it refers back to a group, which takes more than linear time."
    for beginning, words in _SAID.items():
        if said.startswith(beginning):
            return f"The pattern cannot be used: {words} ({said})."
    return f"The pattern cannot be used: RE2 says {said}."


def _outside(start: int, end: int, masks: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts from start to end that lie in no mask."""
    for first, last in masks:
        if last <= start:
            continue
        if first >= end:
            break
        if start < first:
            yield start, first
        start = max(start, last)
    if start < end:
        yield start, end
