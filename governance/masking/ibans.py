"""International bank account numbers: ISO 13616, length by country, check digits by ISO 7064 MOD 97-10."""

from __future__ import annotations

import re

from governance.masking.masks import IBAN
from governance.masking.spans import Span
from governance.masking.words import WORD

_HEAD = re.compile(r"[A-Za-z]{2}[0-9]{2}")
_FARTHEST = 16
_GLUE = WORD - {"_"}
_SEPARATORS = frozenset(" \u00a0.-")
# SWIFT's registry of IBANs, by their length.
_COUNTRIES = {
    15: "NO", 16: "BE", 18: "DK FK FO FI GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU MN XK", 21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ OM SO TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST", 26: "IS TR", 27: "BI DJ FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA", 30: "JO KW MU YE", 31: "MT SC", 32: "LC", 33: "RU",
}  # fmt: skip
_LENGTHS = {country: length for length, countries in _COUNTRIES.items() for country in countries.split()}


def iban_around(text: str, at: int) -> Span | None:
    """The account number around a run of seven digits that begins here, as each has one.

    Its head, two letters and two digits, stands in the sixteen characters before. The normal form has no separators
    and capital letters.
    """
    last = text[at - 1 : at]
    if last not in WORD and (last not in _SEPARATORS or text[at - 2 : at - 1] not in WORD):
        return None
    for match in _HEAD.finditer(text, max(0, at - _FARTHEST), at + 2):
        start = match.start()
        length = _LENGTHS.get(match.group()[:2].upper(), 0)
        end = _end(text, start, length) if length and text[start - 1 : start] not in _GLUE else 0
        number = "".join(filter(str.isalnum, text[start:end])).upper()
        if end and _checks(number):
            return Span(start, end, IBAN, number)
    return None


def _end(text: str, start: int, length: int) -> int:
    """Where the number ends that has so many letters and digits, single separators aside; 0 if none."""
    at = start
    while at < len(text) and length:
        if text[at] in WORD and text[at] != "_":
            length -= 1
        elif text[at] not in _SEPARATORS or text[at - 1] in _SEPARATORS:
            return 0
        at += 1
    return 0 if length or text[at : at + 1] in _GLUE else at


def _checks(number: str) -> bool:
    return int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1
