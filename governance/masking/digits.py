"""Runs of digits with separators between them, cut at the separators."""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking import phones
from governance.masking.cards import card_at
from governance.masking.identities import identity_at
from governance.masking.spans import Span

_RUN = re.compile(r"[0-9](?:[ \u00a0()./\-\u2010-\u2015]{0,3}[0-9]){6,}+")
_GROUP = re.compile(r"[0-9]+")


def find(text: str) -> Iterator[Span]:
    """Identity numbers, cards and telephone numbers; what is none of them hides nothing behind it."""
    for run in _RUN.finditer(text):
        end = run.start()
        for group in _GROUP.finditer(text, run.start(), run.end()):
            start = group.start()
            if start < end:
                continue
            span = identity_at(text, start) or card_at(text, start) or phones.phone_at(text, start)
            if span:
                end = span.end
                yield span
