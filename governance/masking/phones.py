"""Telephone numbers: international, and as China, Germany, Russia and North America write them."""

from __future__ import annotations

import re

from governance.masking.boundaries import stands_alone
from governance.masking.masks import PHONE
from governance.masking.spans import Span

_SEP = r"[ \u00a0./\-\u2010-\u2015]?"
_SEPS = r"[ \u00a0()./\-\u2010-\u2015]{0,3}"
_CHINA_MOBILE = re.compile(rf"(?:(?:00)?86{_SEPS})?(1[3-9][0-9]){_SEP}([0-9]{{4}}){_SEP}([0-9]{{4}})")
_RUSSIA = re.compile(rf"[78]{_SEPS}([3489][0-9]{{2}}){_SEPS}([0-9]{{3}}){_SEP}([0-9]{{2}}){_SEP}([0-9]{{2}})")
_AMERICA = re.compile(r"(?:1[ .\-])?([2-9][0-9]{2})(?:\) ?|[.\- ])([2-9][0-9]{2})[.\- ]([0-9]{4})")
_CHINA_LAND = re.compile(r"(0(?:10|2[0-9]|[3-9][0-9]{2}))[)\- ]{1,2}([2-8][0-9]{2,3}[ \-]?[0-9]{4})")
_GERMANY = re.compile(r"0([1-9][0-9]{1,4})[)/. \-]{1,3}([0-9]{3,8}(?:[ .\-][0-9]{1,5}){0,3}+)")
_ABROAD = re.compile(rf"([1-9][0-9]{{0,3}}(?:{_SEPS}[0-9]){{6,14}}+)")
_CODES = re.compile(
    r"1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|2[1-69][0-9]|3[578][0-9]|42[0-9]|50[0-9]|59[0-9]"
    r"|6[789][0-9]|8[05678][0-9]|9[679][0-9]"
)


def phone_at(text: str, start: int) -> Span | None:
    """The telephone number that begins here; its normal form is E.164, `+8613812345678`."""
    if text[start - 1 : start] == "+" or text.startswith("00", start):
        span = _abroad(text, start)
        if span:
            return span
    for shape, code in (
        (_CHINA_MOBILE, "86"),
        (_RUSSIA, "7"),
        (_AMERICA, "1"),
        (_CHINA_LAND, "86"),
        (_GERMANY, "49"),
    ):
        match = shape.match(text, start)
        if not match:
            continue
        begin = start - 1 if text[start - 1 : start] == "(" else start
        if not stands_alone(text, begin, match.end()):
            continue
        national = re.sub(r"[^0-9]", "", "".join(match.groups()))
        if code == "86":
            national = national.lstrip("0")
        if (
            shape is _RUSSIA
            and match.group()[0] == "7"
            and text[start - 1 : start] != "+"
            and match.group().isdigit()
        ):
            continue
        return Span(begin, match.end(), PHONE, f"+{code}{national}")
    return None


def _abroad(text: str, start: int) -> Span | None:
    plus = text[start - 1 : start] == "+"
    digits = start if plus else start + 2
    match = _ABROAD.match(text, digits)
    if not match:
        return None
    begin = start - 1 if plus else start
    if not stands_alone(text, begin, match.end()):
        return None
    number = re.sub(r"[^0-9]", "", match.group().replace("(0)", ""))
    if not _CODES.match(number) or not 8 <= len(number) <= 15 or (not plus and len(number) < 10):
        return None
    return Span(begin, match.end(), PHONE, f"+{number}")
