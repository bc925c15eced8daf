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
from governance.masking.detection import is_plain, told_by

# Groups: a string without its quotes, the colon that makes it a key, a bracket, a number, another word, no JSON.
# A short number or a word behind a key is taken with it, for it hides nothing.
_TOKEN = re.compile(
    r"[ \t\r\n,]*+(?:\"([^\"\\]*+(?:\\.[^\"\\]*+)*+)\"([ \t\r\n]*+:(?:[ ]?(?:[0-9]{1,2}|null|true|false)(?=[,}\]\s]))?)?|([{}\[\]])"
    r"|(-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?=[\s,\]}]|\Z))|(true|false|null|NaN|-?Infinity)(?![A-Za-z])|([^ \t\r\n]))",
    re.DOTALL,
)
_STRING, _KEY, _BRACKET, _NUMBER, _WORD, _NO_JSON = range(1, 7)
_SHORTEST_NUMBER = 3
_BLANKS = " \t\r\n"
_OPENING = frozenset('{["')
OPTION = re.compile(r"--?[A-Za-z][A-Za-z0-9_-]{0,40}")
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

    `name` answers the name of a field masked. `string` is told the place in `parts` of each string that is not plain,
    its text and its role, and puts it there anew if it must; `number` answers the mask of a number, or nothing.
    """

    text: str
    parts: list[str]
    name: Callable[[str], str]
    string: Callable[[int, str, str], None]
    number: Callable[[str, str], str]
    _copied: int = 0
    _fields: int = 0
    _pending: int = -1
    _role: str = names.PLAIN
    _telling: bool = False
    _option: str = ""
    _first: bool = False
    _beside: str = ""
    _open: list[_Bracket] = field(default_factory=list)

    def edit(self, role: str) -> int | None:
        """Where the text stops to be JSON; None where it is no document at all."""
        self._role = role
        at = 0
        for match in _TOKEN.finditer(self.text):
            kind = match.lastindex
            if kind == _STRING:
                value = match[1]
                if (
                    self._telling
                    or self._option
                    or self._first
                    or self._beside
                    or "\\" in value
                    or value[:1] == "-"
                    or not is_plain(value, self._role)
                ):
                    self._string(match)
                self._pending = -1
            elif (
                kind == _NO_JSON
                or (kind == _KEY and not self._key(match))
                or (kind == _BRACKET and not self._bracket(match[3]))
            ):
                break
            elif kind == _NUMBER:
                self._number(match)
            if kind != _STRING:
                self._option = self._beside = ""
                self._first = kind == _BRACKET and match[3] == "[" and self._is_in_list(1)
            at = match.end()
        whole = not self._open and not self.text[at:].strip(_BLANKS)
        if not whole and not self._fields:
            return None
        # A value that was cut off is read again with the name that stands before it.
        stop = self._pending if self._open and self._pending >= self._copied else at
        self._copy(stop)
        return stop

    def _bracket(self, bracket: str) -> bool:
        if bracket == "{" or bracket == "[":
            self._open.append(_Bracket(bracket == "{", self._role))
            self._telling = False
        elif not self._open:
            return False
        else:
            self._open.pop()
            self._role = self._open[-1].role if self._open else names.PLAIN
        self._pending = -1
        return True

    def _key(self, match: re.Match[str]) -> bool:
        inside = self._open[-1] if self._open else None
        if inside is None or not inside.is_object:
            return False
        name = match[1] if "\\" not in match[1] else decode(match[1])
        self._fields += 1
        self._pending = match.start(1) - 1
        inside.key = name
        self._telling = name in names.TELLING
        about = field_of(name)
        if not about.plain:
            name = self.name(name)
            about = field_of(name)
            self._replace(match.start(1) - 1, match.end(1) + 1, encode(name))
        self._role = about.role
        if inside.role != names.PLAIN or inside.named != names.PLAIN:
            self._role = names.role_under(name, about.role, inside.role, inside.named)
        return True

    def _string(self, match: re.Match[str]) -> None:
        value = match[1] if "\\" not in match[1] else decode(match[1])
        if self._telling:
            self._telling = False
            inside = self._open[-1]
            if inside.key != "type":
                inside.named = told_by(value) if inside.named == names.PLAIN else inside.named
            elif value in names.SCHEMA_TYPES:
                inside.role = names.PLAIN
        role = self._role
        # Arguments of a program: ["--password", "…"]
        if self._option and value[:1] != "-":
            asked = names.role_of(self._option)
            role = asked if asked in names.HIDDEN else role
        # Headers as servers hold them: [["x-api-key", "…"]]
        if self._beside:
            role = names.role_beside(self._beside, value, role)
        self._beside, self._first = value if self._first else "", False
        self._option = value if self._is_in_list(0) and OPTION.fullmatch(value) else ""
        if not is_plain(value, role):
            self.string(self._part(match), value, role)

    def _is_in_list(self, further: int) -> bool:
        """Whether what is read now, or what is so many brackets further out, is in a list."""
        return len(self._open) > further and not self._open[-1 - further].is_object

    def _number(self, match: re.Match[str]) -> None:
        self._pending = -1
        start, end = match.span(4)
        if end - start >= _SHORTEST_NUMBER:
            masked = self.number(match[4], self._role)
            if masked:
                self._replace(start, end, f'"{masked}"')

    def _part(self, match: re.Match[str]) -> int:
        """The place in `parts` of a string with its quotes."""
        start, end = match.start(1) - 1, match.end(1) + 1
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


def decode(written: str) -> str:
    """What a JSON string says, given without its quotes; as it is written where it is none."""
    if "\\" not in written:
        return written
    try:
        return str(json.loads(f'"{written}"', strict=False))
    except ValueError:
        return written
