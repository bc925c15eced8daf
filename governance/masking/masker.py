"""The one function that every payload passes before it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from governance.masking import names
from governance.masking.cards import is_card
from governance.masking.custom_walk import Custom, CustomWalk
from governance.masking.dialing import readings
from governance.masking.identities import is_identity
from governance.masking.masks import CARD, ID_CN, PHONE, SECRET, TOKEN, Masked, SubjectTag, tag_of
from governance.masking.walk import Walk

_TURNS = 6
_NOT_DIALLED = re.compile(r"[^\s0-9()+./\-\u2010-\u2015]")


@dataclass(frozen=True, slots=True)
class Masker:
    """Masks under one key; `key_id` names the key, so that tags made under an earlier one can be told apart.

    `custom` are rules beside the built-in ones; built-in kinds that are `off` are not looked for.

    Any thread may use it. Time grows with the size of the payload alone; nothing that JSON can hold raises.
    """

    key: bytes = field(repr=False)
    key_id: str
    custom: Custom | None = field(repr=False, default=None)
    off: frozenset[str] = field(repr=False, default=frozenset())

    def mask(self, value: object) -> Masked:
        """Mask whatever JSON can hold; its shape stays, and a number that is masked becomes text.

        Below 100 levels there is `[TOO DEEP]` instead, behind 5,000,000 characters of a text `[TOO LONG]`.
        """
        if self.custom is None:
            return Walk(self.key, self.off).masked(value, names.PLAIN)
        return self._masked_by_both(value, self.custom)

    def mask_each(self, values: Sequence[object]) -> list[Masked]:
        """Mask each by itself, as `mask` does; many at once take less time than one after the other."""
        if self.custom is None:
            return Walk(self.key, self.off).masked_each(values, names.PLAIN)
        return [self._masked_by_both(value, self.custom) for value in values]

    def mask_text(self, text: str) -> Masked:
        """Mask a text; where it is JSON, or holds JSON in its strings, it is read as JSON."""
        return self.mask(text)

    def tag(self, raw_value: str) -> list[SubjectTag]:
        """The tags that a value may have been given wherever it was masked, for an erasure request."""
        value = raw_value.strip()
        tags = set(self.mask_text(value).tags)
        # What is off now may have been on.
        for role in (names.PLAIN, names.PHONE):
            tags |= Walk(self.key).masked(value, role).tags
        tags.update(tag_of(self.key, kind, normal) for kind, normal in _whole(value))
        if self.custom and value:
            tags.update(
                tag_of(self.key, one.rule.kind, value) for one in self.custom.patterns if one.is_whole
            )
            tags.update(self._tags_by_name(value, self.custom))
        return sorted(tags, key=lambda tag: (tag.kind, tag.hash))

    def _masked_by_both(self, value: Any, custom: Custom) -> Masked:
        """By the instance's rules and the built-in ones in turn, until neither finds anything that the other left."""
        tags: set[SubjectTag] = set()
        for turn in range(_TURNS):
            walk = CustomWalk(self.key, custom, self.off)
            value = walk.masked(value)
            if turn and not walk.tags:
                break
            done = Walk(self.key, self.off).masked(value, names.PLAIN)
            value = done.value
            tags |= walk.tags | done.tags
            if not walk.tags and not done.tags:
                break
        return Masked(value, frozenset(tags))

    def _tags_by_name(self, value: str, custom: Custom) -> frozenset[SubjectTag]:
        """The tags by rules that look at some fields only, as if the value stood in each of them."""
        walk = CustomWalk(self.key, custom)
        found = walk.spans(value, (one for one in custom.patterns if not one.is_whole))
        return frozenset(tag_of(self.key, span.kind, span.normal) for span in found)


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
    elif re.fullmatch(r"[0-9]{17}[0-9X]", compact) and is_identity(compact):
        yield ID_CN, compact
    elif 7 <= len(digits) <= 17 and not _NOT_DIALLED.search(value) and not value.startswith("+"):
        yield from ((PHONE, reading) for reading in readings(digits))
