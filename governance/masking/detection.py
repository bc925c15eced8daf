"""All detectors over one text, each asked only where a character that it needs is there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking import addresses, credentials, emails, escapes, ibans, names, numbers, pairs
from governance.masking.spans import Span

_SHORTEST = 3
_SHORT_WORD = 11
_SHORT_NAME = 16
_VERSION = re.compile(r"[vV]?[0-9]+(?:\.[0-9]+)*\Z")
# Digits and signs of other alphabets that people type for the ASCII ones; one character for one.
_WIDE = re.compile("[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\uff01-\uff5e\ufe6b]")
_NARROW = {
    **{
        ord(wide): chr(ord("0") + digit)
        for zero in "\u0660\u06f0\u0966"
        for digit, wide in enumerate(chr(ord(zero) + n) for n in range(10))
    },
    **{
        code: chr(code - 0xFEE0)
        for code in range(0xFF01, 0xFF5F)
        if chr(code - 0xFEE0).isalnum() or chr(code - 0xFEE0) in "@+-._"
    },
    0xFE6B: "@",
}


def is_plain(text: str) -> bool:
    """Whether a text is too short or too simple to hold anything: a word, a name such as `failed_stage`."""
    length = len(text)
    if length < _SHORTEST:
        return True
    if length < _SHORT_NAME and text.isascii():
        return text.isalpha() or text.isidentifier() or (length < _SHORT_WORD and text.isalnum())
    return False


def spans_in(text: str, role: str) -> Iterator[Span]:
    """All that must be masked in a text, as it is written and with its escapes undone."""
    yield from _found(text, role)
    view = escapes.read(text)
    if view:
        for span in _found(view.text, role):
            start, end = view.place(span.start), view.place(span.end)
            if start < end:
                yield span._replace(start=start, end=end, unescaped=True)


def numbers_in(written: str, role: str) -> Iterator[Span]:
    """What a number of a payload may be: an identity, card or telephone number."""
    return numbers.find(written, role)


def credentials_in(text: str) -> Iterator[Span]:
    """Keys and tokens in a value that is masked anyway, for they have kinds of their own."""
    return credentials.find(text)


def _found(text: str, role: str) -> Iterator[Span]:
    if not text.isascii() and _WIDE.search(text):
        text = text.translate(_NARROW)
    if "@" in text:
        yield from emails.find(text)
    if role == names.VERSION and _VERSION.match(text):
        return
    digits = list(numbers.find(text, role))
    yield from digits
    if numbers.has_run(text):
        yield from ibans.find(text)
    if "." in text or ":" in text:
        yield from addresses.find(text)
    yield from credentials.find(text)
    yield from pairs.find(text)
