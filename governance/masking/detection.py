"""All detectors over one text, each asked only where a character that it needs is there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from governance.masking import addresses, credentials, emails, escapes, names, numbers, pairs
from governance.masking.spans import Cover, Span, covers
from governance.masking.words import PARTING, WORD

LONGEST = 5_000_000
_SHORTEST = 3
_SHORT_WORD = 11
_SHORT_NAME = 13
_VERSION = re.compile(r"[vV]?[0-9]+(?:\.[0-9]+)*")
# The number of an order or a document.
_FILED = re.compile(r"[0-9]+(?:[-/][0-9]+)*")
# The ids of OpenTelemetry: of a trace, and of a span in it.
_TRACED = re.compile(r"[0-9a-f]{32}(?:-[0-9a-f]{16})?")
# What machines write, whole: a UUID, a digest or another hexadecimal number that has letters, a moment, `call_…`.
_MACHINE = re.compile(
    r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}|(?=[0-9]{0,63}[a-f])[0-9a-f]{16,64}"
    r"|(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9](?:[T ][0-2][0-9]:[0-5][0-9](?::[0-6][0-9](?:[.,][0-9]{1,9})?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?|(?:call|toolu|chatcmpl|msg|req|resp|run|step|thread|span|trace)_[A-Za-z0-9]{8,40}"
)
_MACHINES = frozenset("0123456789abcdefABCDEFmrst")
# What the detectors look for first, in two steps, for a class of characters is found ten times as fast as a choice.
_ASCII_CHARACTERS = re.compile(r"[@:=<\\&%0-9_!#$^*+~.-]")
# Seven digits and what parts them, the day of a date aside.
_NUMBER = (
    r"[0-9](?<![0-9][0-9])(?<![0-9]{4}-[0-9])(?<![0-9]{4}-[0-9]{2}-[0-9])"
    r"(?!(?:(?<=1)9|(?<=2)0)[0-9]{2}-[01][0-9]-[0-3][0-9](?![0-9]))"
)
_OTHER_SIGNS = (
    r"|[@\\]|%[0-9A-Fa-f]{2}|&[#a-z]|\.[0-9]{1,3}\.[0-9]|-[upa](?<![A-Za-z0-9]-[upa])"
    r"|:(?::|[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}:)"
)
_ASCII_SIGNS = re.compile(_NUMBER + r"[0-9 ()./-]{6}" + _OTHER_SIGNS)
_WIDE_SIGNS = re.compile(_NUMBER + "[0-9 ()./\\-\u00a0\u2009\u202f\u2010-\u2015]{6}" + _OTHER_SIGNS)
_OTHER_CHARACTERS = re.compile(
    "[@:=<\\\\&%0-9_.\\-\u2013\u2014\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\uff10-\uff1a\uff1d\uff20-\uff3a\uff41-\uff5a\ufe6b密令钥鑰码碼]"
)
_LETTERS = credentials.SIGNS_OF_LETTERS
_WORDS = (*credentials.SIGNS_OF_LETTERS, *credentials.SIGNS)
# Those that begin with a small letter are looked for one by one; a pattern of the others passes most letters over.
_SMALL_WORDS = tuple(word for word in _WORDS if word[0].islower())
_OTHER_WORDS = re.compile("|".join(re.escape(word) for word in _WORDS if not word[0].islower()))
_TELLING = tuple(filter(str.isascii, pairs.TELLING))
# Short texts that were found plain, such as the names of models and tools; nothing that is masked is kept here.
_KNOWN: set[str] = set()
_MOST_KNOWN, _LONGEST_KNOWN = 20_000, 40
_MOST_FIELDS = 8192
_SHORTEST_CREDENTIAL = 12
_CODES = ("code", "otp", "pin", "код", "пин", "验证码")
_NAME = re.compile(r"[^\W\d][\w .-]{0,79}")
_QUICK = 4000
_NEAR = 80
_LONGEST_NAME = 100
_TOUCHING = WORD | frozenset("-+.@/~%")
# Digits and signs that people type for the ASCII ones, one character for one: full width, Arabic, Persian, Hindi.
_ZEROS = (0x0660, 0x06F0, 0x0966)
_NARROWED = "@+-._/():="
_NARROW = {zero + digit: str(digit) for zero in _ZEROS for digit in range(10)} | {
    ord(char) + 0xFEE0: char for char in map(chr, range(0x21, 0x7F)) if char.isalnum() or char in _NARROWED
}
_NARROW[0xFE6B] = "@"
_WIDE = re.compile("[" + "".join(map(chr, _NARROW)) + "]")


def is_plain(text: str, role: str = names.PLAIN) -> bool:
    """Whether a text is too short or too simple to hold anything: words, `failed_stage`, a version, a trace id."""
    length = len(text)
    if role != names.PLAIN:
        return length == 0 or _is_plain_under(text, role)
    if length < _SHORTEST:
        return True
    if length > LONGEST:
        return False
    if not text.isascii():
        return _is_plain_beyond_ascii(text)
    if length < _SHORT_NAME and " " not in text:
        if text.isidentifier() or (length < _SHORT_WORD and text.isalnum()):
            return True
    elif text[0] in _MACHINES and _MACHINE.fullmatch(text):
        return True
    return text in _KNOWN or _is_plain_ascii(text)


def _is_plain_ascii(text: str) -> bool:
    if not _ASCII_CHARACTERS.search(text):
        return not any(map(text.__contains__, _LETTERS))
    if len(text) >= _QUICK or _ASCII_SIGNS.search(text) or _tells(text):
        return False
    if len(text) <= _LONGEST_KNOWN:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN.add(text)
    return True


def _is_plain_beyond_ascii(text: str) -> bool:
    if escapes.hold_unseen(text):
        return False
    if not _OTHER_CHARACTERS.search(text):
        return not any(map(text.__contains__, _LETTERS))
    if len(text) >= _QUICK or _WIDE.search(text) or _WIDE_SIGNS.search(text):
        return False
    if len(text) >= _SHORTEST_CREDENTIAL and (
        any(map(text.__contains__, _WORDS)) or credentials.may_be_in(text)
    ):
        return False
    return not any(map(text.lower().__contains__, pairs.TELLING))


def _tells(text: str) -> bool:
    """Whether a text has a word that stands before a secret, with a mark that joins them, or the beginning of a key."""
    if len(text) >= _SHORTEST_CREDENTIAL and (
        _OTHER_WORDS.search(text) or any(map(text.__contains__, _SMALL_WORDS)) or credentials.may_be_in(text)
    ):
        return True
    joined = (
        ":" in text
        or "=" in text
        or ">" in text
        or "\n" in text
        or text[0] == "-"
        or " -" in text
        or '"-' in text
        or '[["' in text
    )
    if not joined and " " not in text:
        return False
    lower = text.lower()
    if not any(map(lower.__contains__, _TELLING)):
        return False
    if joined or any(map(lower.__contains__, pairs.SAID_SIGNS)):
        return True
    return any(map(lower.__contains__, _CODES)) and any(map(lower.__contains__, pairs.CODE_SIGNS))


def _is_plain_under(text: str, role: str) -> bool:
    if role in names.HIDDEN or role == names.PHONE:
        return False
    if role == names.VERSION and _VERSION.fullmatch(text):
        return True
    if role == names.OPAQUE and (_TRACED.fullmatch(text) or _FILED.fullmatch(text)):
        return True
    return (role == names.MEASURE and text.isdigit()) or is_plain(text)


class Field(NamedTuple):
    """What the name of a field tells: its role, and whether the name itself holds nothing to mask."""

    role: str
    plain: bool


_FIELDS: dict[str, Field] = {}


def field(name: str) -> Field:
    """What a name tells."""
    # The names of one system are few, so they are remembered.
    known = _FIELDS.get(name)
    if known is not None:
        return known
    if len(name) > _LONGEST_NAME:
        return Field(names.PLAIN, _holds_nothing(name))
    found = Field(names.role_of(name), _holds_nothing(name))
    if len(_FIELDS) >= _MOST_FIELDS:
        _FIELDS.clear()
    _FIELDS[name] = found
    return found


def _holds_nothing(name: str) -> bool:
    return is_plain(name) or next(spans_in(name), None) is None


def told_by(name: object) -> str:
    """The role that `{"name": "Authorization", "value": …}` gives to its value; PLAIN where `name` is no such name."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return names.PLAIN
    about = field(name)
    return about.role if about.plain else names.PLAIN


def _narrowed(match: re.Match[str]) -> str:
    return _NARROW[ord(match.group())]


def spans_in(text: str, role: str = names.PLAIN) -> Iterator[Span]:
    """All that must be masked in a text, as it is written and with its escapes undone."""
    yield from _found(text.replace(PARTING[1], " "), role)
    view = escapes.read(text)
    if view:
        for span in _found(view.text.replace(PARTING[1], " "), role):
            start, end = view.place(span.start), view.place(span.end)
            if start < end:
                yield span._replace(start=start, end=end, unescaped=True)


def covers_in_each(
    texts: Sequence[str], off: frozenset[str] = frozenset()
) -> Iterator[tuple[int, list[Cover]]]:
    """Of several texts searched at once, those where something was found; none may hold escapes or PARTING."""
    joined = PARTING.join(texts)
    number = begin = 0
    end = len(texts[0])
    batch: list[Cover] = []
    for cover in covers(_found(joined, names.PLAIN), off):
        while cover.start >= end + len(PARTING):
            if batch:
                yield number, batch
                batch = []
            number, begin = number + 1, end + len(PARTING)
            end = begin + len(texts[number])
        batch.append(cover._replace(start=cover.start - begin, end=cover.end - begin))
    if batch:
        yield number, batch


def may_change(text: str, found: Sequence[Cover]) -> bool:
    """Whether what stands around the covers may read otherwise once masks are there, so that it is searched again."""
    for cover in found:
        before, after = text[max(0, cover.start - _NEAR) : cover.start], text[cover.end : cover.end + _NEAR]
        if before[-1:] in _TOUCHING or (after[:1] in _TOUCHING and after[:2].strip() not in (".", "")):
            return True
        if not is_plain(before.strip()) or not is_plain(after.strip()):
            return True
    return False


def numbers_in(written: str, role: str) -> Iterator[Span]:
    """What a number of a payload may be: an identity, card or telephone number."""
    return numbers.find(written, role)


def _found(text: str, role: str) -> Iterator[Span]:
    if not text.isascii() and _WIDE.search(text):
        text = _WIDE.sub(_narrowed, text)
    if "@" in text:
        yield from emails.find(text)
    yield from numbers.find(text, role)
    yield from addresses.find(text)
    yield from credentials.find(text)
    yield from pairs.find(text)
