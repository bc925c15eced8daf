"""The one function that every payload passes before it is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from governance.masking import addresses, credentials, digits, emails, escapes, ibans, names, pairs
from governance.masking.masks import SECRET, TOKEN, Masked, SubjectTag, spell, tag_of
from governance.masking.spans import Span, covers

DEPTH = 100
JSON_DEPTH = 8
TOO_DEEP = "[TOO DEEP]"


@dataclass(frozen=True, slots=True)
class Masker:
    """Masks under one key; `key_id` names the key, so that tags of an earlier key can be told apart."""

    key: bytes
    key_id: str

    def mask(self, value: object) -> Masked:
        """Mask whatever JSON can hold; its shape stays."""
        tags: set[SubjectTag] = set()
        masked = _Walk(self.key, tags).value(value, names.PLAIN, 0)
        return Masked(masked, frozenset(tags))

    def mask_text(self, text: str) -> Masked:
        """Mask a text; JSON in it is read as JSON."""
        tags: set[SubjectTag] = set()
        return Masked(_Walk(self.key, tags).string(text, names.PLAIN, 0), frozenset(tags))

    def tag(self, raw_value: str) -> list[SubjectTag]:
        """The tags that a value may have been given wherever it was masked, for an erasure request."""
        value = raw_value.strip()
        tags = dict.fromkeys(self.mask_text(value).tags)
        for kind in (TOKEN, SECRET):
            tags[tag_of(self.key, kind, value)] = None
        return list(tags)


@dataclass(slots=True)
class _Walk:
    key: bytes
    tags: set[SubjectTag]

    def value(self, value: Any, role: str, depth: int) -> Any:
        if isinstance(value, str):
            return self.string(value, role, 0)
        if value is None or isinstance(value, bool):
            return value
        if depth > DEPTH:
            return TOO_DEEP
        if isinstance(value, dict):
            return self.mapping(value, role, depth)
        if isinstance(value, list | tuple):
            return [self.value(one, role, depth + 1) for one in value]
        if isinstance(value, int):
            return self.number(value, role)
        return value

    def mapping(self, value: dict[Any, Any], role: str, depth: int) -> dict[Any, Any]:
        masked: dict[Any, Any] = {}
        for key, one in value.items():
            name = self.string(key, names.PLAIN, 0) if isinstance(key, str) else key
            own = names.role_of(key) if isinstance(key, str) else names.PLAIN
            masked[name] = self.value(one, role if own == names.PLAIN else own, depth + 1)
        return masked

    def number(self, value: int, role: str) -> int | str:
        if role == names.MEASURE or abs(value) < 1000:
            return value
        masked = self.string(str(value), role, 0)
        return value if masked == str(value) else masked

    def string(self, text: str, role: str, depth: int) -> str:
        if role in (names.SECRET, names.COOKIE):
            return self.replace(text, pairs.value_spans(text, 0, len(text), role))
        if depth < JSON_DEPTH and text[:1] in "{[" and text:
            try:
                inside = json.loads(text)
            except (ValueError, RecursionError):
                pass
            else:
                masked = self.value(inside, role, depth)
                return text if masked == inside else json.dumps(masked, ensure_ascii=False)
        if len(text) < 4:
            return text
        return self.replace(text, _spans(text))

    def replace(self, text: str, spans: Iterator[Span]) -> str:
        parts: list[str] = []
        end = 0
        for cover in covers(spans):
            for span in cover.spans:
                for normal in (span.normal, *span.also):
                    self.tags.add(tag_of(self.key, span.kind, normal))
            parts += text[end : cover.start], spell(tag_of(self.key, cover.named.kind, cover.named.normal))
            end = cover.end
        return "".join(parts) + text[end:] if parts else text


def _spans(text: str) -> Iterator[Span]:
    yield from _found(text)
    view = escapes.read(text)
    if view:
        for span in _found(view.text):
            yield span._replace(start=view.places[span.start], end=view.places[span.end])


def _found(text: str) -> Iterator[Span]:
    if "@" in text:
        yield from emails.find(text)
    yield from digits.find(text)
    yield from ibans.find(text)
    yield from addresses.find(text)
    yield from credentials.find(text)
    yield from pairs.find(text)
