"""The one function that every payload passes before it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from governance.masking import names
from governance.masking.cards import is_card
from governance.masking.custom_rules import Custom
from governance.masking.custom_walk import CustomWalk
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
        return self._by_both([value], self.custom)[0]

    def mask_each(self, values: Sequence[object]) -> list[Masked]:
        """Mask each by itself, as `mask` does; many at once take less time than one after the other."""
        if self.custom is None:
            return Walk(self.key, self.off).masked_each(values, names.PLAIN)
        return self._by_both(values, self.custom)

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

    def _by_both(self, values: Sequence[object], custom: Custom, turns: int = _TURNS) -> list[Masked]:
        """By the instance's rules and the built-in ones in turn, until neither finds what the other left."""
        own = [self._by_custom(value, custom) for value in values]
        done = Walk(self.key, self.off).masked_each([one.value for one in own], names.PLAIN)
        found = []
        for first, second in zip(own, done, strict=True):
            tags = first.tags | second.tags
            left = self._by_custom(second.value, custom) if tags and turns > 1 else None
            if left and left.tags:
                again = self._by_both([left.value], custom, turns - 1)[0]
                found.append(Masked(again.value, tags | left.tags | again.tags))
            else:
                found.append(Masked(second.value, tags))
        return found

    def _by_custom(self, value: object, custom: Custom) -> Masked:
        walk = CustomWalk(self.key, custom, self.off)
        masked = walk.masked(value)
        return Masked(masked, frozenset(walk.tags))

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
