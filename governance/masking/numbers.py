"""Numbers of people in runs of digits and separators: identity, card, account and telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking import context, names
from governance.masking.cards import card_at
from governance.masking.ibans import iban_around
from governance.masking.identities import identity_at
from governance.masking.phones import phone_at, spoken_at
from governance.masking.spans import Span
from governance.masking.words import WORD

# Seven digits at least; spaces of four widths, brackets, the marks between groups, hyphens and dashes.
_RUN = re.compile(r"[0-9](?:[ \u00a0\u2009\u202f()./\-\u2010-\u2015]{0,3}[0-9]){6,}+")
_GROUP = re.compile(r"[0-9]+")
_ISO_DATE = re.compile(r"(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9](?![0-9])")
_FEWEST = 6


def find(text: str, role: str = names.PLAIN) -> Iterator[Span]:
    """Numbers in the text; what is none of them hides nothing behind it.

    Under the role of a measure or of an identifier, a text of digits alone is taken for what its name says.
    """
    if role in (names.MEASURE, names.OPAQUE) and text.isdigit():
        return
    end = 0
    for run in _RUN.finditer(text):
        account = iban_around(text, run.start())
        if account and account.start >= end:
            yield account
            end = account.end
        for span in _in_run(text, max(run.start(), end), run.end(), role):
            yield span
            end = span.end


def _in_run(text: str, start: int, end: int, role: str) -> Iterator[Span]:
    date = _ISO_DATE.match(text, start)
    taken = date.end() if date else start
    groups = [match.span() for match in _GROUP.finditer(text, taken, end)]
    left = sum(last - first for first, last in groups)
    for first, last in groups:
        if left < _FEWEST:
            return
        before = text[first - 1 : first]
        # Inside a word no number begins; most digits of identifiers end here.
        if first >= taken and (before not in WORD or before == "_"):
            span = _number_at(text, first, left, role)
            if span:
                taken = span.end
                yield span
        left -= last - first


def _number_at(text: str, at: int, left: int, role: str) -> Span | None:
    """The number that begins with this group; `left` digits are left in its run."""
    span = identity_at(text, at) if left >= 17 else None
    if span:
        return span
    span = (card_at(text, at) if left >= 13 else None) or phone_at(text, at)
    if span and context.is_measure(text, span.start, span.end):
        return None
    return span or spoken_at(text, at, role == names.PHONE)
