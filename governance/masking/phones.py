"""Telephone numbers: international, and as China, Germany, France, Russia and North America write them."""

from __future__ import annotations

import re

from governance.masking import context
from governance.masking.boundaries import stands_alone
from governance.masking.dialing import calling_code, lengths, readings
from governance.masking.masks import PHONE
from governance.masking.spans import Span

_GAP = "[ \u00a0\u2009\u202f./\\-\u2010-\u2015]"
_SPACE = "[ \u00a0\u2009\u202f.\\-\u2010-\u2015]"
_WIDE = "[ \u00a0\u2009\u202f()./\\-\u2010-\u2015]{0,3}"
_CHINA_MOBILE = (
    rf"(?P<cn>1[3-9][0-9](?:{_GAP}?[0-9]{{4}}{_GAP}?[0-9]{{4}}|{_GAP}[0-9]{{3}}{_GAP}[0-9]{{5}})"
    rf"|1[3-9][0-9]{{2}}{_GAP}[0-9]{{3}}{_GAP}[0-9]{{4}})"
)
_RUSSIA = re.compile(
    rf"(?:[78](?P<gap>{_WIDE}))?(?P<ru>[3489][0-9]{{2}}{_WIDE}[0-9]{{3}}{_GAP}?[0-9]{{2}}{_GAP}?[0-9]{{2}})"
)
_AMERICA = re.compile(
    rf"(?:1{_SPACE}?\(?)?(?P<us>[2-9][0-9]{{2}}(?:\)[ \u00a0]?|{_SPACE})[2-9][0-9]{{2}}(?P<last>{_SPACE})[0-9]{{4}})"
)
_CHINA_LAND = re.compile(
    r"0(?P<cn>(?:10|2[0-9]|[3-9][0-9]{2})(?:\)[ \-]{0,2}|[ \-]{1,2})[2-8][0-9]{2,3}[ \-]?[0-9]{4})(?:-[0-9]{1,5})?"
)
_FRANCE = re.compile(r"0(?P<fr>[1-9](?P<pair>[ .\-])[0-9]{2}(?:(?P=pair)[0-9]{2}){3})")
# Areas begin with 2 to 9; behind 01 are mobiles (15 to 17) and services.
_GERMANY = re.compile(
    r"0(?P<de>1[567][0-9]{8,9}"
    rf"|[ ]?(?:[2-9][0-9]{{1,4}}|1[5-7][0-9]{{1,2}}|1[38]0[0-9]?)[ ]?[)/. \-\u2010-\u2015]{{1,2}}[ ]?[0-9]{{2,8}}(?:{_GAP}[0-9]{{1,5}}){{0,4}}+)"
)
_AMERICA_OR_MOSCOW = ((_RUSSIA, "ru"), (_AMERICA, "us"))
# By the first digit; the group holds the national number.
_SHAPES = {
    "1": ((re.compile(_CHINA_MOBILE), "cn"), (_AMERICA, "us")),
    "8": ((re.compile(rf"86{_WIDE}{_CHINA_MOBILE}"), "cn"), *_AMERICA_OR_MOSCOW),
    "0": ((_CHINA_LAND, "cn"), (_FRANCE, "fr"), (_GERMANY, "de")),
}
_CODES = {"cn": "86", "ru": "7", "us": "1", "fr": "33", "de": "49"}
_ABROAD = re.compile(rf"[1-9](?:{_WIDE}[0-9]){{5,16}}+")
_DATE = re.compile(
    r"(?:[01][0-9]|2[0-4])[0-5][0-9][\-\u2013](?:[01][0-9]|2[0-4])[0-5][0-9](?![0-9])|[0-9]{1,2}([./\-])[0-9]{1,2}\1(?:19|20)?[0-9]{2}(?![0-9]|[./\-][0-9])|(?:19|20)[0-9]{2}([./\-])[0-9]{1,2}\2[0-9]{1,2}(?![0-9])"
)
# `+86.925278`, a degree; a telephone number has more digits or groups.
_DECIMAL = re.compile(r"[0-9]{1,3}\.[0-9]{4,7}(?![0-9]|[./\-][0-9]|[ ][0-9])")
_FEWEST = 7
_GROUP = re.compile(r"[0-9]+")
_NO_DIGITS = re.compile(r"[^0-9]+")
_ANY = re.compile(rf"[0-9](?:{_WIDE}[0-9]){{5,14}}+")


def phone_at(text: str, start: int) -> Span | None:
    """The telephone number whose first digit is here; the normal form is E.164, `+8613812345678`."""
    if text[start - 1 : start] == "+" or text.startswith("+(", max(0, start - 2)):
        return _abroad(text, start, text.rfind("+", 0, start))
    if text.startswith("00", start):
        return _abroad(text, start + 2 + (text[start + 2 : start + 3] == " "), start)
    if text.startswith("011 ", start):
        return _abroad(text, start + 4, start)
    for shape, country in _SHAPES.get(text[start], _AMERICA_OR_MOSCOW):
        match = shape.match(text, start)
        span = _national(text, start, match, country) if match else None
        if span:
            return span
    return None


def _national(text: str, start: int, match: re.Match[str], country: str) -> Span | None:
    begin, end = _opened(text, start, match.end()), match.end()
    if not stands_alone(text, begin, end) or _DATE.match(text, start):
        return None
    number, written = _digits(match[country]), text[begin:end]
    if written.count("(") != written.count(")") or (country == "ru" and not _is_russian(match)):
        return None
    # Three groups with nothing but spaces between them are as likely a table.
    if country == "us" and begin == start and match["us"][3].isspace() and match["last"].isspace():
        return None
    if country == "de" and not _is_german(number, written):
        return None
    also = tuple(readings(f"0{number}"))[:-1] if text[start] == "0" else ()
    return Span(begin, end, PHONE, f"+{_CODES[country]}{number}", also)


def _is_russian(match: re.Match[str]) -> bool:
    """Whether it is written as Russians write: with groups, or as a mobile of eleven digits."""
    written = match.group()
    if match["gap"] is None:
        return len(written) >= 13 and written[-3] == "-" and written[-6] == "-"
    if written.isdigit():
        return written[1] == "9" or written.startswith("8800")
    return True


def _is_german(number: str, written: str) -> bool:
    """Whether the length is one that German numbers have; where only spaces part them, not the shortest."""
    marked = any(mark in written for mark in "()/-")
    return (7 if marked else 8) <= len(number) <= 12 and not set(number) <= {"0", "1"}


def _abroad(text: str, start: int, begin: int) -> Span | None:
    """A number behind `+` or `00`; it ends with the group that completes it."""
    if _DECIMAL.match(text, start):
        return None
    match = _ABROAD.match(text, start)
    code = calling_code(_digits(text[start : start + 5])) if match else ""
    if not match or not code:
        return None
    least, most = lengths(code)
    begin = _opened(text, begin, match.end())
    best: Span | None = None
    number = ""
    for group in _GROUP.finditer(text, start, match.end()):
        if group.group() != "0" or text[group.start() - 1 : group.end() + 1] != "(0)":
            number += group.group()
        national = number[len(code) :]
        if code != "39":
            national = national.removeprefix("0")
        if len(national) > most:
            break
        if len(national) >= least and stands_alone(text, begin, group.end()):
            best = Span(begin, group.end(), PHONE, f"+{code}{national}")
            if len(national) == most or (code == "86" and len(national) == 11 and national[0] == "1"):
                break
    return best


def _opened(text: str, start: int, end: int) -> int:
    """Where the number begins with the bracket around its area code."""
    if text[start - 1 : start] == "(" and ")" in text[start:end]:
        return start - 1
    return start


def spoken_at(text: str, start: int, named: bool) -> Span | None:
    """A number of any country behind a word such as *phone* or 电话, or in a field of that name."""
    if not named and not context.is_called_phone(text, start):
        return None
    match = _ANY.match(text, start)
    if not match or _DATE.match(text, start):
        return None
    begin = _opened(text, start, match.end())
    for end in reversed([group.end() for group in _GROUP.finditer(text, start, match.end())]):
        digits = _digits(text[start:end])
        if len(digits) >= _FEWEST and stands_alone(text, begin, end):
            first, *others = readings(digits)
            return Span(begin, end, PHONE, first, tuple(others))
    return None


def _digits(text: str) -> str:
    return _NO_DIGITS.sub("", text)
