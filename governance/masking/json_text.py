"""Text that holds JSON: its strings and numbers are masked where they stand, all else stays as it was written.

Written back in place rather than parsed and serialised, so that `1.10` stays `1.10`, keys given twice stay, and of
a document that was cut off all that is there is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from governance.masking import names

_TOKEN = re.compile(
    r"[ \t\r\n]*+(?:(?P<string>\"(?:[^\"\\]|\\.)*+\")|(?P<mark>[{}\[\],:])"
    r"|(?P<number>-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?=[\s,\]}]|\Z))"
    r"|(?P<word>true|false|null|NaN|-?Infinity)(?![A-Za-z]))",
    re.DOTALL,
)
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class _Bracket:
    """An open bracket: the role of what is in it, its last key, and the role that a field `name` gave."""

    is_object: bool
    role: str
    key: str = ""
    named: str = names.PLAIN


@dataclass(slots=True)
class Editor:
    """Walks a document once; `string` masks a text and `number` a number as written, each under a role."""

    text: str
    string: Callable[[str, str], str]
    number: Callable[[str, str], str]
    _parts: list[str] = field(default_factory=list)
    _copied: int = 0
    _open: list[_Bracket] = field(default_factory=list)
    _role: str = names.PLAIN
    _key_next: bool = False
    _element: int = 0
    _fields: int = 0

    def edit(self) -> tuple[str, int] | None:
        """The edited text up to where it stops to be JSON, and that place; None where it is no document."""
        at = 0
        while match := _TOKEN.match(self.text, at):
            end = match.end()
            if match.lastgroup == "mark" and not self._mark(match["mark"], end):
                break
            if match.lastgroup == "string":
                self._string(match.start("string"), end)
            elif match.lastgroup == "number":
                self._replace(match.start("number"), end, self.number(match["number"], self._role))
            at = end
        whole = not self._open and not self.text[at:].strip(" \t\r\n")
        if not whole and not self._fields:
            return None
        # What was cut off inside an element is read again with the name that stands before it.
        stop = max(self._element, self._copied) if self._open else at
        self._copy(stop)
        return "".join(self._parts), stop

    def _mark(self, mark: str, end: int) -> bool:
        if mark in "{[":
            self._open.append(_Bracket(mark == "{", self._role))
            self._key_next = mark == "{"
            self._element = end
        elif mark in "}]":
            if not self._open:
                return False
            self._open.pop()
            self._key_next = False
        elif not self._open:
            return False
        elif mark == ",":
            self._element = end
            self._key_next = self._open[-1].is_object
            self._role = self._open[-1].role
        return True

    def _string(self, start: int, end: int) -> None:
        value = _decode(self.text[start:end])
        inside = self._open[-1] if self._open else None
        if inside and self._key_next:
            self._key_next = False
            self._fields += 1
            inside.key = value.lower()
            self._role = names.role_under(value, inside.role, inside.named)
            self._replace_string(start, end, value, names.PLAIN)
            return
        if inside and inside.key in names.NAMING:
            inside.named = names.role_of(value)
        elif inside and inside.key == "type" and value in names.SCHEMA_TYPES:
            inside.role = names.PLAIN
        self._replace_string(start, end, value, self._role)

    def _replace_string(self, start: int, end: int, value: str, role: str) -> None:
        masked = self.string(value, role)
        if masked != value:
            self._replace(start, end, encode(masked))

    def _replace(self, start: int, end: int, written: str) -> None:
        if written != self.text[start:end]:
            self._copy(start)
            self._parts.append(written)
            self._copied = end

    def _copy(self, end: int) -> None:
        self._parts.append(self.text[self._copied : end])
        self._copied = end


def _decode(literal: str) -> str:
    if "\\" not in literal:
        return literal[1:-1]
    try:
        return str(json.loads(literal, strict=False))
    except ValueError:
        return literal[1:-1]


def encode(text: str) -> str:
    """The text as a JSON string that reads well; lone surrogates stay escaped, for no encoding can write them."""
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text, ensure_ascii=False))
