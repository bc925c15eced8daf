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
from governance.masking.detection import field as field_of
from governance.masking.detection import is_plain

# Groups: a string without its quotes, the colon that makes it a key, a mark, a number, another word.
_TOKEN = re.compile(
    r"[ \t\r\n]*+(?:\"([^\"\\]*+(?:\\.[^\"\\]*+)*+)\"([ \t\r\n]*+:)?|([{}\[\],])"
    r"|(-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?=[\s,\]}]|\Z))|(true|false|null|NaN|-?Infinity)(?![A-Za-z]))",
    re.DOTALL,
)
_STRING, _KEY, _MARK, _NUMBER = 1, 2, 3, 4
_BLANKS = " \t\r\n"
_OPENING = frozenset('{["')
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
    """Walks a document once and leaves it in `parts`.

    `string` is told the place in `parts` of each string that is not plain, its text and its role, and puts it there
    anew if it must; `number` answers the mask of a number as written, or nothing.
    """

    text: str
    parts: list[str]
    string: Callable[[int, str, str], None]
    number: Callable[[str, str], str]
    _copied: int = 0
    _element: int = 0
    _fields: int = 0
    _role: str = names.PLAIN
    _open: list[_Bracket] = field(default_factory=list)

    def edit(self, role: str) -> int | None:
        """Where the text stops to be JSON; None where it is no document at all."""
        self._role = role
        at, text = 0, self.text
        while match := _TOKEN.match(text, at):
            kind = match.lastindex
            if kind == _STRING:
                self._string(match.start(1), match.end(1))
            elif (kind == _KEY and not self._key(match.start(1), match.end(1))) or (
                kind == _MARK and not self._mark(match[3], match.end())
            ):
                break
            elif kind == _NUMBER and (masked := self.number(match[4], self._role)):
                self._replace(match.start(4), match.end(4), f'"{masked}"')
            at = match.end()
        whole = not self._open and not text[at:].strip(_BLANKS)
        if not whole and not self._fields:
            return None
        # What was cut off inside an element is read again with the name that stands before it.
        stop = max(self._element, self._copied) if self._open else at
        self._copy(stop)
        return stop

    def _mark(self, mark: str, end: int) -> bool:
        if mark == "{" or mark == "[":
            self._open.append(_Bracket(mark == "{", self._role))
        elif not self._open:
            return False
        elif mark == ",":
            self._role = self._open[-1].role
        else:
            self._open.pop()
            return True
        self._element = end
        return True

    def _key(self, start: int, end: int) -> bool:
        if not self._open or not self._open[-1].is_object:
            return False
        inside = self._open[-1]
        name = _decode(self.text[start:end])
        self._fields += 1
        inside.key = name.lower()
        about = field_of(name)
        self._role = names.role_under(name, about.role, inside.role, inside.named)
        if not about.plain:
            self.string(self._part(start - 1, end + 1), name, names.PLAIN)
        return True

    def _string(self, start: int, end: int) -> None:
        value = _decode(self.text[start:end])
        inside = self._open[-1] if self._open else None
        if inside and inside.key in names.NAMING:
            inside.named = names.role_of(value)
        elif inside and inside.key == "type" and value in names.SCHEMA_TYPES:
            inside.role = names.PLAIN
        if not is_plain(value, self._role):
            self.string(self._part(start - 1, end + 1), value, self._role)

    def _part(self, start: int, end: int) -> int:
        """The place in `parts` of what stands between these characters."""
        self._replace(start, end, self.text[start:end])
        return len(self.parts) - 1

    def _replace(self, start: int, end: int, written: str) -> None:
        self._copy(start)
        self.parts.append(written)
        self._copied = end

    def _copy(self, end: int) -> None:
        self.parts.append(self.text[self._copied : end])
        self._copied = end


def may_be_json(text: str) -> bool:
    """Whether the text begins as JSON does that holds something."""
    return text[:1] in _OPENING or text.lstrip(_BLANKS)[:1] in _OPENING


def encode(text: str) -> str:
    """The text as a JSON string that reads well; lone surrogates stay escaped, for no encoding can write them."""
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text, ensure_ascii=False))


def _decode(written: str) -> str:
    if "\\" not in written:
        return written
    try:
        return str(json.loads(f'"{written}"', strict=False))
    except ValueError:
        return written
