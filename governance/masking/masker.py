"""The one function that every payload passes before it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from governance.masking import names
from governance.masking.cards import is_card
from governance.masking.dialing import readings
from governance.masking.identities import is_identity
from governance.masking.masks import CARD, ID_CN, PHONE, SECRET, TOKEN, Masked, SubjectTag, tag_of
from governance.masking.walk import Walk

_NOT_DIALLED = re.compile(r"[^\s0-9()+./\-\u2010-\u2015]")


@dataclass(frozen=True, slots=True)
class Masker:
    """Masks under one key; `key_id` names the key, so that tags made under an earlier one can be told apart.

    Any thread may use it. Time grows with the size of the payload alone; nothing that JSON can hold raises.
    """

    key: bytes = field(repr=False)
    key_id: str

    def mask(self, value: object) -> Masked:
        """Mask whatever JSON can hold; its shape stays, and a number that is masked becomes text.

        Below 100 levels there is `[TOO DEEP]` instead, behind 5,000,000 characters of a text `[TOO LONG]`.
        """
        return Walk(self.key).masked(value, names.PLAIN)

    def mask_text(self, text: str) -> Masked:
        """Mask a text; where it is JSON, or holds JSON in its strings, it is read as JSON."""
        return Walk(self.key).masked(text, names.PLAIN)

    def tag(self, raw_value: str) -> list[SubjectTag]:
        """The tags that a value may have been given wherever it was masked, for an erasure request."""
        value = raw_value.strip()
        tags = set(self.mask_text(value).tags | Walk(self.key).masked(value, names.PHONE).tags)
        tags.update(tag_of(self.key, kind, normal) for kind, normal in _whole(value))
        return sorted(tags, key=lambda tag: (tag.kind, tag.hash))


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
