"""The one function that every payload passes before it is written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from governance.masking import detection, names, values
from governance.masking.cards import is_card
from governance.masking.dialing import readings
from governance.masking.identities import is_identity
from governance.masking.json_text import Editor
from governance.masking.masks import CARD, ID_CN, PHONE, SECRET, TOKEN, Masked, SubjectTag, spell, tag_of
from governance.masking.spans import Span, covers

DEEPEST = 100
DEEPEST_TEXT = 8
LONGEST = 5_000_000
TOO_DEEP = "[TOO DEEP]"
TOO_LONG = "[TOO LONG]"
_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Masker:
    """Masks under one key; `key_id` names the key, so that tags made under an earlier one can be told apart.

    Any thread may use it. Time grows with the size of the payload alone; nothing that JSON can hold raises.
    """

    key: bytes
    key_id: str

    def mask(self, value: object) -> Masked:
        """Mask whatever JSON can hold; its shape stays, and a number that is masked becomes text.

        Below 100 levels there is `[TOO DEEP]` instead, behind 5,000,000 characters of a text `[TOO LONG]`.
        """
        walk = _Walk(self.key, set())
        return Masked(walk.value(value, names.PLAIN, 0), frozenset(walk.tags))

    def mask_text(self, text: str) -> Masked:
        """Mask a text; where it is JSON, or holds JSON in its strings, it is read as JSON."""
        walk = _Walk(self.key, set())
        return Masked(walk.text(text, names.PLAIN, 0), frozenset(walk.tags))

    def tag(self, raw_value: str) -> list[SubjectTag]:
        """The tags that a value may have been given wherever it was masked, for an erasure request."""
        value = raw_value.strip()
        walk = _Walk(self.key, set())
        walk.text(value, names.PLAIN, 0)
        walk.text(value, names.PHONE, 0)
        for kind, normal in _whole(value):
            walk.tags.add(tag_of(self.key, kind, normal))
        return sorted(walk.tags, key=lambda tag: (tag.kind, tag.hash))


def _whole(value: str) -> Iterator[tuple[str, str]]:
    """What a value can be as a whole, in normal form."""
    if not value:
        return
    yield SECRET, value
    yield TOKEN, value
    digits = re.sub(r"[^0-9]", "", value)
    compact = re.sub(r"[^0-9Xx]", "", value).upper()
    if is_card(digits):
        yield CARD, digits
    if re.fullmatch(r"[0-9]{17}[0-9X]", compact) and is_identity(compact):
        yield ID_CN, compact
    if 7 <= len(digits) <= 17 and not re.search(r"[^\s0-9()+./\-\u2010-\u2015]", value):
        yield from ((PHONE, reading) for reading in readings(digits))


@dataclass(slots=True)
class _Walk:
    """One pass over one payload; `tags` gathers what is masked on the way."""

    key: bytes
    tags: set[SubjectTag]

    def value(self, value: Any, role: str, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value, role, 0)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return self.number(value, role)
        if isinstance(value, float):
            whole = math.isfinite(value) and value.is_integer()
            return self.number(value, role) if whole else value
        if depth >= DEEPEST:
            return TOO_DEEP
        if isinstance(value, dict):
            return self.mapping(value, role, depth + 1)
        if isinstance(value, list | tuple | set | frozenset):
            return self.listing(list(value), role, depth + 1)
        if isinstance(value, bytes | bytearray):
            return self.text(value.decode("utf-8", "replace"), role, 0)
        return self.text(str(value), role, 0)

    def mapping(self, value: dict[Any, Any], role: str, depth: int) -> dict[Any, Any]:
        named = _named(value)
        if isinstance(value.get("type"), str) and value["type"] in names.SCHEMA_TYPES:
            role = names.PLAIN
        masked: dict[Any, Any] = {}
        for key, one in value.items():
            if isinstance(key, str):
                own = names.role_under(key, role, named)
                name = key if detection.is_plain(key) else _free(self.text(key, names.PLAIN, 0), masked)
            else:
                own = role
                name = (
                    key
                    if key is None or isinstance(key, bool)
                    else _free(self.value(key, names.PLAIN, depth), masked)
                )
            masked[name] = self.value(one, own, depth)
        return masked

    def listing(self, value: list[Any], role: str, depth: int) -> list[Any]:
        masked = []
        for position, one in enumerate(value):
            own = role
            before = value[position - 1] if position else None
            # Arguments of a program: ["--password", "…"]
            if (
                isinstance(one, str)
                and isinstance(before, str)
                and before.startswith("-")
                and "=" not in before
            ):
                named = names.role_of(before)
                own = named if named in names.HIDDEN and not one.startswith("-") else role
            masked.append(self.value(one, own, depth))
        return masked

    def number(self, value: float, role: str) -> Any:
        if -1000 < value < 1000 or (
            isinstance(value, float) and not (math.isfinite(value) and value.is_integer())
        ):
            return value
        written = str(int(value))
        masked = self.written_number(written, role)
        return value if masked == written else masked

    def written_number(self, written: str, role: str) -> str:
        """A number as it is written; masked only where it is all digits and not said to be an amount."""
        if (
            not 4 <= len(written) <= 20
            or not written.isdigit()
            or role in (names.MEASURE, names.OPAQUE, names.ABOUT)
        ):
            return written
        if role in names.HIDDEN:
            return self.replace(written, values.hidden(written, 0, len(written), role))
        return self.replace(written, detection.numbers_in(written, role)) if len(written) > 6 else written

    def text(self, text: str, role: str, depth: int) -> str:
        if len(text) > LONGEST:
            return self.text(_cut(text), role, depth) + TOO_LONG
        if role in names.HIDDEN:
            return self.replace(
                text, (*detection.credentials_in(text), *values.hidden(text, 0, len(text), role))
            )
        if detection.is_plain(text):
            return text
        if depth < DEEPEST_TEXT and text.lstrip(" \t\r\n")[:1] in ("{", "[", '"'):
            edited = self.document(text, role, depth)
            if edited:
                masked, stop = edited
                return masked + self.running(text[stop:], role)
        return self.running(text, role)

    def document(self, text: str, role: str, depth: int) -> tuple[str, int] | None:
        def string(inner: str, own: str) -> str:
            return self.text(inner, own, depth + 1)

        def number(written: str, own: str) -> str:
            masked = self.written_number(written, own)
            return written if masked == written else f'"{masked}"'

        return Editor(text, string, number, _role=role).edit()

    def running(self, text: str, role: str) -> str:
        """Text that is no JSON; again until nothing is found, since a mask may part what was one before."""
        for _ in range(_ROUNDS):
            masked = self.replace(text, detection.spans_in(text, role))
            if masked == text:
                break
            text = masked
        return text

    def replace(self, text: str, spans: Iterable[Span]) -> str:
        parts: list[str] = []
        end = 0
        for cover in covers(spans):
            for span in cover.spans:
                self.tags.update(tag_of(self.key, span.kind, normal) for normal in (span.normal, *span.also))
            parts += text[end : cover.start], spell(tag_of(self.key, cover.named.kind, cover.named.normal))
            end = cover.end
        return "".join(parts) + text[end:] if parts else text


def _named(value: dict[Any, Any]) -> str:
    """The role that `{"name": "Authorization", "value": …}` gives to its value."""
    for key in ("name", "key", "field", "header"):
        name = value.get(key)
        if isinstance(name, str):
            return names.role_of(name)
    return names.PLAIN


def _free(name: Any, taken: dict[Any, Any]) -> Any:
    """The name, numbered where two keys have come to read the same."""
    number, free = 2, name
    while free in taken:
        free, number = f"{name} ({number})", number + 1
    return free


def _cut(text: str) -> str:
    """The text up to its last space before the limit, so that no half of a value stays."""
    cut = text[:LONGEST]
    for space in (" ", "\n", ","):
        at = cut.rfind(space, LONGEST - 10_000)
        if at >= 0:
            return cut[:at]
    return cut[: LONGEST - 10_000]
