"""Texts that people and programs send for others to read: personal data and secrets in them are masked.

Forms read such a text by `portal.forms.plain.PlainField`, REST by `portal.api.fields.Fields.prose`; both end here,
so that nothing unmasked reaches the record (spec 6.2).
"""

from __future__ import annotations

from governance.masks import masker


def masked(text: str, *, longest: int | None = None) -> str:
    """The text as it is written, cut to so many characters: a mask may be longer than what it stands for."""
    told: str = masker().mask_text(text).value
    return told if longest is None else told[:longest]


def kinds_in(text: str) -> tuple[str, ...]:
    """The kinds of personal data and secrets in a text that is kept as it was sent, and so must hold none."""
    found = masker().mask_text(text)
    return tuple(sorted({tag.kind for tag in found.tags})) if found.value != text else ()
