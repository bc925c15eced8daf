"""Bank card numbers: the issuer's prefix and length, and the Luhn digit (ISO/IEC 7812-1)."""

from __future__ import annotations

import re

from governance.masking.boundaries import stands_alone
from governance.masking.masks import CARD
from governance.masking.spans import Span

_SHAPES = re.compile(
    r"[0-9]{13,19}"
    r"|[0-9]{4}(?P<four>[ \u00a0\u202f./\-\u2010-\u2015])[0-9]{4}(?P=four)[0-9]{4}(?P=four)[0-9]{1,4}(?:(?P=four)[0-9]{1,3})?"
    r"|[0-9]{4}(?P<six>[ \u00a0\u202f.\-\u2010-\u2015])[0-9]{6}(?P=six)[0-9]{4,5}"
    r"|[0-9]{6}[ \-][0-9]{9,13}"
)
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
_SIXTEEN_UP = frozenset((16, 17, 18, 19))
_MAESTRO = frozenset((13, 14, 15, 16, 17, 18, 19))
# The first six digits, from and to, and the lengths issued under them.
_ISSUERS: tuple[tuple[int, int, frozenset[int]], ...] = (
    (400000, 499999, frozenset((13, 16, 19))),  # Visa
    (510000, 559999, frozenset((16,))),  # Mastercard
    (222100, 272099, frozenset((16,))),  # Mastercard
    (340000, 349999, frozenset((15,))),  # American Express
    (370000, 379999, frozenset((15,))),  # American Express
    (620000, 629999, _SIXTEEN_UP),  # UnionPay
    (810000, 829999, _SIXTEEN_UP),  # UnionPay, RuPay
    (601100, 601199, _SIXTEEN_UP),  # Discover
    (640000, 659999, _SIXTEEN_UP),  # Discover
    (352800, 358999, _SIXTEEN_UP),  # JCB
    (220000, 220499, _SIXTEEN_UP),  # Mir
    (300000, 305999, frozenset((14, 16))),  # Diners Club
    (360000, 369999, frozenset((14, 16))),  # Diners Club
    (380000, 399999, frozenset((14, 16))),  # Diners Club
    (501800, 503999, _MAESTRO),
    (589300, 589399, _MAESTRO),
    (630400, 639099, _MAESTRO),
    (675900, 676399, _MAESTRO),
    (600000, 609999, frozenset((16, 19))),  # RuPay, banks of China before UnionPay
    (500000, 509999, _SIXTEEN_UP),  # Maestro, Elo, Verve, Meeza
    (560000, 589999, _SIXTEEN_UP),  # Maestro
    (610000, 639999, _SIXTEEN_UP),  # Maestro, InstaPayment
    (660000, 699999, _SIXTEEN_UP),  # Maestro
    (220500, 220599, frozenset((16,))),  # Borica
    (860000, 860099, frozenset((16,))),  # Uzcard
    (986000, 986099, frozenset((16,))),  # Humo
    (979200, 979299, frozenset((16,))),  # Troy
    (970400, 970499, frozenset((16, 19))),  # NAPAS
    (911200, 911299, frozenset((16,))),  # Belkart
    (955800, 955899, frozenset((16, 19))),  # ICBC before UnionPay
)


def card_at(text: str, start: int) -> Span | None:
    """The card number that begins here; the normal form is the digits alone."""
    match = _SHAPES.match(text, start)
    if not match or not stands_alone(text, start, match.end()):
        return None
    number = re.sub(r"[^0-9]+", "", match.group())
    return Span(start, match.end(), CARD, number) if is_card(number) else None


def is_card(number: str) -> bool:
    """Whether the digits have a prefix, a length and a check digit that a card has."""
    if not 13 <= len(number) <= 19:
        return False
    prefix = int(number[:6])
    if not any(low <= prefix <= high and len(number) in lengths for low, high, lengths in _ISSUERS):
        return False
    values = [int(digit) for digit in reversed(number)]
    return (sum(values[::2]) + sum(_DOUBLED[value] for value in values[1::2])) % 10 == 0
