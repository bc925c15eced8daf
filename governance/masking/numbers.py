"""Numbers of people in runs of digits and separators: identity, card and telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking import context, names
from governance.masking.cards import card_at
from governance.masking.identities import identity_at
from governance.masking.phones import phone_at, spoken_at
from governance.masking.spans import Span
from governance.masking.words import WORD

# Spaces of four widths, brackets, the marks between groups, hyphens and dashes.
_RUN = re.compile(r"[0-9](?:[ \u00a0\u2009\u202f()./\-\u2010-\u2015]{0,3}[0-9]){6,}+")
_GROUP = re.compile(r"[0-9]+")


def find(text: str, role: str = names.PLAIN) -> Iterator[Span]:
    """Numbers in the text; what is none of them hides nothing behind it.

    Under the role of a measure or of an identifier, a text of digits alone is taken for what its name says.
    """
    if role in (names.MEASURE, names.OPAQUE) and text.isdigit():
        return
    for run in _RUN.finditer(text):
        start, end = run.span()
        if end - start == 10 and text[start + 4] == "-" and text[start + 7] == "-":
            continue  # 2024-11-30
        taken = start
        for group in _GROUP.finditer(text, start, end):
            at = group.start()
            # Inside a word no number begins; most digits of identifiers end here.
            if at < taken or (text[at - 1 : at] in WORD and text[at - 1 : at] != "_"):
                continue
            span = _number_at(text, at, role)
            if span:
                taken = span.end
                yield span


def _number_at(text: str, at: int, role: str) -> Span | None:
    span = identity_at(text, at)
    if span:
        return span
    span = card_at(text, at) or phone_at(text, at)
    if span and context.is_measure(text, span.start, span.end):
        return None
    return span or spoken_at(text, at, role == names.PHONE)


def has_run(text: str) -> bool:
    """Whether there are seven digits with no more than separators between them, as in every account number."""
    return _RUN.search(text) is not None
