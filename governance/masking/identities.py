"""Chinese resident identity numbers: GB 11643-1999, check digit by ISO 7064 MOD 11-2."""

from __future__ import annotations

import re
from datetime import date

from governance.masking.masks import ID_CN
from governance.masking.spans import Span
from governance.masking.words import DIGIT, WORD

_SHAPE = re.compile(
    r"([1-8][0-9]{5})[ \-]?((?:18|19|20)[0-9]{2})[ \-]?([01][0-9])[ \-]?([0-3][0-9])[ \-]?([0-9]{3})[ \-]?([0-9Xx])"
)
_GLUE = WORD - {"_"}
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECKS = "10X98765432"
# GB/T 2260: the first two digits name the province.
_PROVINCES = frozenset(
    (
        *range(11, 16),
        21,
        22,
        23,
        *range(31, 38),
        *range(41, 47),
        *range(50, 55),
        *range(61, 66),
        71,
        81,
        82,
        83,
    )
)


def identity_at(text: str, start: int) -> Span | None:
    """The identity number that begins here; the normal form has no separators and a capital X."""
    match = _SHAPE.match(text, start)
    if not match or text[match.end() : match.end() + 1] in _GLUE:
        return None
    if text[start - 1 : start] == "." and text[start - 2 : start - 1] in DIGIT:
        return None
    number = "".join(match.groups()).upper()
    return Span(start, match.end(), ID_CN, number) if is_identity(number) else None


def is_identity(number: str) -> bool:
    """Whether province, date of birth and check digit are possible; `number` is 17 digits and a digit or X."""
    if int(number[:2]) not in _PROVINCES:
        return False
    try:
        date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    total = sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, number, strict=False))
    return _CHECKS[total % 11] == number[17]
