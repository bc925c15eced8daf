"""Numbers of people in runs of digits and separators: identity, card, account and telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking import context, names
from governance.masking.boundaries import hangs_on_word, is_free_before
from governance.masking.cards import card_at
from governance.masking.ibans import iban_around
from governance.masking.identities import identity_at
from governance.masking.phones import phone_at, spoken_at
from governance.masking.spans import Span

# Digits, spaces, brackets, the marks between groups and hyphens; in other texts also their kin of other widths.
_RUN = re.compile(r"[0-9][0-9 ()./\-]{6,}+")
_WIDE_RUN = re.compile(r"[0-9][0-9 ()./\-\u00a0\u2009\u202f\u2010-\u2015]{6,}+")
_GROUP = re.compile(r"[0-9]+")
_DATE = re.compile(r"(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9](?![0-9])")
_FEWEST = 7
_IDENTITY = 17


def find(text: str, role: str = names.PLAIN) -> Iterator[Span]:
    """Numbers in the text; what is none of them hides nothing behind it."""
    end = 0
    for run in (_RUN if text.isascii() else _WIDE_RUN).finditer(text):
        start, stop = run.span()
        account = iban_around(text, start)
        if account and account.start >= end:
            yield account
            start = end = account.end
        date = _DATE.match(text, start)
        if date and stop - date.end() < _FEWEST:
            continue
        groups = [match.span() for match in _GROUP.finditer(text, date.end() if date else start, stop)]
        left = sum(last - first for first, last in groups)
        for first, last in groups:
            if left < _FEWEST:
                break
            # Most digits of identifiers end here.
            if first >= end and (
                is_free_before(text, first) or (left >= _IDENTITY and hangs_on_word(text, first))
            ):
                span = _number_at(text, first, left, role)
                if span:
                    end = span.end
                    yield span
            left -= last - first


def _number_at(text: str, at: int, left: int, role: str) -> Span | None:
    """The number that begins with this group; `left` digits are left in its run."""
    span = identity_at(text, at) if left >= _IDENTITY else None
    if span or not is_free_before(text, at):
        return span
    span = (card_at(text, at) if left >= 13 else None) or phone_at(text, at)
    if span and context.is_measure(text, span.start, span.end):
        return None
    return span or spoken_at(text, at, role == names.PHONE)
