"""Chinese resident identity numbers: GB 11643-1999, check digit by ISO 7064 MOD 11-2."""

from __future__ import annotations

import re
from datetime import date

from governance.masking.boundaries import stands_alone
from governance.masking.masks import ID_CN
from governance.masking.spans import Span

_SHAPE = re.compile(
    r"([1-8][0-9]{5})[ -]?((?:18|19|20)[0-9]{2})([01][0-9])([0-3][0-9])[ -]?([0-9]{3}[0-9Xx])"
)
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECKS = "10X98765432"
# GB/T 2260: the first two digits name the province.
_PROVINCES = frozenset(
    [
        "11",
        "12",
        "13",
        "14",
        "15",
        "21",
        "22",
        "23",
        "31",
        "32",
        "33",
        "34",
        "35",
        "36",
        "37",
        "41",
        "42",
        "43",
        "44",
        "45",
        "46",
        "50",
        "51",
        "52",
        "53",
        "54",
        "61",
        "62",
        "63",
        "64",
        "65",
        "71",
        "81",
        "82",
        "83",
    ]
)


def identity_at(text: str, start: int) -> Span | None:
    """The identity number that begins here; its normal form has no separators and a capital X."""
    match = _SHAPE.match(text, start)
    if not match or not stands_alone(text, start, match.end()):
        return None
    number = "".join(match.groups()).upper()
    if number[:2] not in _PROVINCES or not _is_date(number[6:14]) or not _checks(number):
        return None
    return Span(start, match.end(), ID_CN, number)


def _is_date(digits: str) -> bool:
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return True


def _checks(number: str) -> bool:
    total = sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, number, strict=False))
    return _CHECKS[total % 11] == number[17]
