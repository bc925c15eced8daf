"""The pass of an instance's own rules over a payload, before that of the built-in ones.

Where a rule matches, what the built-in kinds find at the same place is taken along, so that no half of it stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from governance.masking import detection, escapes, names
from governance.masking.custom import Pattern
from governance.masking.custom_rules import Custom, Patterns, may_apply
from governance.masking.json_text import decode, encode, may_be_json
from governance.masking.masks import MASK, SubjectTag, spell, tag_of
from governance.masking.spans import Cover, Span, covers
from governance.masking.walk import DEEPEST, DEEPEST_TEXT, TOO_DEEP, as_json, free_name

# A string and the colon that makes it a key; a bracket; a number; what else stands between values.
_TOKEN = re.compile(
    r'"((?:[^"\\]|\\.)*+)"([ \t\r\n]*+:)?|([{}\[\]])|(-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)'
    r"|(?:[ \t\r\n,]++|(?:true|false|null|NaN|-?Infinity)(?![A-Za-z]))",
    re.DOTALL,
)
_STRING, _KEY, _BRACKET, _NUMBER = range(1, 5)
_TIMES = frozenset(("start_ms", "duration_ms"))


@dataclass(slots=True)
class CustomWalk:
    """One pass: `masked` answers the payload; `tags` are of what was masked in it."""

    key: bytes = field(repr=False)
    rules: Custom
    off: frozenset[str] = frozenset()
    tags: set[SubjectTag] = field(default_factory=set)
    # The names of fields and many values come again and again.
    _known: dict[str, str] = field(default_factory=dict)

    def masked(self, value: Any) -> Any:
        """The value with what the rules find masked; the very same value where they find nothing."""
        if not may_apply(self.rules, value):
            return value
        return self._value(value, (), 0)

    def spans(self, text: str, patterns: Iterable[Pattern]) -> list[Span]:
        """What these rules find in a text, as it is written and with its escapes undone."""
        told = tuple(patterns)
        found = [
            Span(start, end, one.rule.kind, text[start:end]) for one in told for start, end in one.spans(text)
        ]
        view = escapes.read(text)
        if view:
            for one in told:
                for first, last in one.spans(view.text):
                    start, end = view.place(first), view.place(last)
                    if start < end and not MASK.search(text, start, end):
                        found.append(Span(start, end, one.rule.kind, view.text[first:last], unescaped=True))
        return found

    def _value(self, value: Any, active: Patterns, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return self._text(value, active, 0)
        if value is None or kind is bool:
            return value
        if kind is int or kind is float:
            return self._number(_written(value), active) or value if active else value
        if isinstance(value, dict):
            return self._mapping(value, active, depth + 1) if depth < DEEPEST else value
        if isinstance(value, list | tuple):
            return [self._value(one, active, depth + 1) for one in value] if depth < DEEPEST else value
        return self._value(as_json(value), active, depth)

    def _mapping(self, value: Mapping[Any, Any], active: Patterns, depth: int) -> dict[Any, Any]:
        named = next(filter(None, (self.rules.at(value.get(key)) for key in names.NAMING)), ())
        masked: dict[Any, Any] = {}
        for key, one in value.items():
            name = key
            if isinstance(key, str) and key not in self.rules.kept:
                name = self._running(key, self.rules.anywhere)
            if name in masked:
                name = free_name(name, masked)
            own = self.rules.at(key)
            if key in _TIMES and not own and type(one) is int:
                # Of a span whose payload a rule masks whole: pages draw it by these.
                masked[name] = one
                continue
            if named and isinstance(key, str) and key.lower() in names.NAMED:
                own = (*own, *named)
            masked[name] = self._value(one, (*active, *own), depth)
        return masked

    def _text(self, text: str, active: Patterns, depth: int) -> str:
        whole = next((one for one in active if one.is_whole), None)
        if whole:
            return self._whole(text, whole)
        if depth < DEEPEST_TEXT and may_be_json(text):
            document = _Document(self, active, depth)
            if document.read(text):
                rest = text[document.stop :]
                return document.edited(text) + self._running(rest, self._with(active))
        return self._running(text, self._with(active))

    def _whole(self, text: str, pattern: Pattern) -> str:
        value = text.strip()
        if not value or value == TOO_DEEP or not MASK.sub("", value).strip():
            return text
        # What is told apart in it is tagged, so that it can be found.
        self._tag((span.kind, span.normal, span.also) for span in self._built_in(text))
        return spell(self._tag([(pattern.rule.kind, value, ())]))

    def _number(self, written: str, active: Patterns) -> str:
        """The text that masks a number; empty where it need not be masked."""
        masked = self._text(written, active, DEEPEST_TEXT)
        return "" if masked == written else masked

    def _running(self, text: str, patterns: Patterns) -> str:
        if patterns is not self.rules.anywhere:
            return self._searched(text, patterns)
        if (masked := self._known.get(text)) is None:
            masked = self._known[text] = self._searched(text, patterns)
        return masked

    def _searched(self, text: str, patterns: Patterns) -> str:
        found = self.spans(text, patterns) if text else []
        if not found:
            return text
        every = (*found, *self._built_in(text))
        parts: list[str] = []
        end = 0
        for cover in covers(every):
            inside = [span for span in every if cover.start <= span.start and span.end <= cover.end]
            if not frozenset(found).isdisjoint(inside):
                parts += text[end : cover.start], spell(self._tag_cover(cover, inside))
                end = cover.end
        return "".join(parts) + text[end:]

    def _with(self, active: Patterns) -> Patterns:
        return (*self.rules.anywhere, *active) if active else self.rules.anywhere

    def _built_in(self, text: str) -> list[Span]:
        return [span for span in detection.spans_in(text) if span.kind not in self.off]

    def _tag_cover(self, cover: Cover, inside: Sequence[Span]) -> SubjectTag:
        self._tag((span.kind, span.normal, span.also) for span in inside)
        return tag_of(self.key, cover.named.kind, cover.named.normal)

    def _tag(self, found: Iterable[tuple[str, str, tuple[str, ...]]]) -> SubjectTag:
        """Note the tags of what was found; answers the last one."""
        tag = SubjectTag("", "")
        for kind, normal, also in found:
            for reading in (*also, normal):
                tag = tag_of(self.key, kind, reading)
                self.tags.add(tag)
        return tag


@dataclass(slots=True)
class _Document:
    """JSON in a text, as far as it is JSON: its strings and numbers are masked where they stand."""

    walk: CustomWalk
    active: Patterns
    depth: int
    stop: int = 0
    _fields: int = 0
    _edits: list[tuple[int, int, str]] = field(default_factory=list)
    # Of each open bracket: whether it is an object, and the rules for what is in it.
    _open: list[tuple[bool, Patterns]] = field(default_factory=list)

    def read(self, text: str) -> bool:
        """Whether the text is a document, or the beginning of one; notes what changes and where it stops."""
        pending = self.active
        while match := _TOKEN.match(text, self.stop):
            kind = match.lastindex
            if kind == _KEY and not (self._open and self._open[-1][0]):
                break
            if kind == _KEY:
                pending = self._key(match)
            elif kind == _BRACKET:
                if not self._bracket(match[3], pending):
                    break
                pending = self._inside()
            elif kind in (_STRING, _NUMBER):
                self._leaf(match, pending)
                pending = self._inside()
            self.stop = match.end()
        whole = not self._open and not text[self.stop :].strip()
        return whole or self._fields > 0

    def edited(self, text: str) -> str:
        """The text up to where it stops to be JSON."""
        parts: list[str] = []
        end = 0
        for start, stop, written in self._edits:
            parts += text[end:start], written
            end = stop
        return "".join((*parts, text[end : self.stop]))

    def _inside(self) -> Patterns:
        return self._open[-1][1] if self._open else self.active

    def _bracket(self, bracket: str, pending: Patterns) -> bool:
        if bracket in "{[":
            self._open.append((bracket == "{", pending))
        elif self._open:
            self._open.pop()
        else:
            return False
        return True

    def _key(self, match: re.Match[str]) -> Patterns:
        self._fields += 1
        name = decode(match[1])
        self._edit(match, name, self.walk._running(name, self.walk.rules.anywhere))
        return (*self._inside(), *self.walk.rules.at(name))

    def _leaf(self, match: re.Match[str], active: Patterns) -> None:
        if match[1] is not None:
            text = decode(match[1])
            self._edit(match, text, self.walk._text(text, active, self.depth + 1))
        elif active and (masked := self.walk._number(match[4], active)):
            self._edits.append((*match.span(4), encode(masked)))

    def _edit(self, match: re.Match[str], text: str, masked: str) -> None:
        if masked != text:
            self._edits.append((match.start(1) - 1, match.end(1) + 1, encode(masked)))


def _written(number: float) -> str:
    """A number as JSON writes it."""
    try:
        return str(number)
    except ValueError:  # more digits than Python writes
        return hex(int(number))
