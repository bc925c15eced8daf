"""How countries number their telephones: calling codes (ITU-T E.164) and the lengths of what follows them.

The lengths are those that the numbering plans allow, as libphonenumber's metadata lists them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

_LENGTHS: dict[str, tuple[int, int]] = {
    "1": (10, 10), "7": (10, 10), "20": (8, 10), "27": (9, 9), "30": (10, 10), "31": (9, 9), "32": (8, 9),
    "33": (9, 9), "34": (9, 9), "36": (8, 9), "39": (6, 11), "40": (9, 9), "41": (9, 9), "43": (5, 13),
    "44": (9, 10), "45": (8, 8), "46": (7, 10), "47": (8, 8), "48": (9, 9), "49": (6, 13), "51": (8, 9),
    "52": (10, 11), "53": (8, 8), "54": (10, 11), "55": (10, 11), "56": (9, 9), "57": (8, 10), "58": (10, 10),
    "60": (8, 10), "61": (9, 9), "62": (8, 12), "63": (8, 10), "64": (8, 10), "65": (8, 8), "66": (8, 9),
    "81": (9, 10), "82": (8, 10), "84": (9, 10), "86": (9, 12), "90": (10, 10), "91": (10, 10), "92": (9, 10),
    "93": (9, 9), "94": (9, 9), "95": (7, 10), "98": (10, 10),
    "351": (9, 9), "352": (6, 11), "353": (7, 9), "354": (7, 9), "358": (5, 12), "359": (7, 9), "370": (8, 8),
    "371": (8, 8), "372": (7, 8), "373": (8, 8), "374": (8, 8), "375": (9, 9), "380": (9, 9), "381": (8, 9),
    "385": (8, 9), "386": (8, 8), "420": (9, 9), "421": (9, 9), "852": (8, 8), "853": (8, 8), "886": (8, 9),
    "966": (9, 9), "971": (8, 9), "972": (8, 9), "992": (9, 9), "994": (9, 9), "995": (9, 9), "996": (9, 9),
    "998": (9, 9),
}  # fmt: skip
_OTHERS = (6, 11)
_BEGINNINGS = frozenset(
    "".join(pair)
    for pair in (
        *product("2", "12345689"), *product("3", "578"), *product("4", "2"), *product("5", "09"),
        *product("6", "789"), *product("8", "05678"), *product("9", "679"),
    )
)  # fmt: skip


def calling_code(digits: str) -> str:
    """The calling code that the digits begin with; empty where no country has it."""
    for length in (1, 2, 3):
        if digits[:length] in _LENGTHS:
            return digits[:length]
    return digits[:3] if digits[:2] in _BEGINNINGS else ""


def lengths(code: str) -> tuple[int, int]:
    """How many digits may follow a calling code, least and most."""
    return _LENGTHS.get(code, _OTHERS)


def readings(digits: str) -> Iterator[str]:
    """The numbers that digits without a plus can mean, as E.164 and the likeliest first."""
    if digits.startswith("00"):
        yield f"+{digits[2:]}"
        return
    if len(digits) == 11 and digits[0] == "1" and digits[1] in "3456789":
        yield f"+86{digits}"
    if len(digits) == 13 and digits.startswith("861"):
        yield f"+{digits}"
    if len(digits) == 11 and digits[0] in "78":
        yield f"+7{digits[1:]}"
    if len(digits) == 11 and digits[0] == "1":
        yield f"+{digits}"
    if len(digits) == 10 and digits[0] in "23456789":
        yield f"+1{digits}"
        yield f"+7{digits}"
    if digits[0] == "0":
        yield from (f"+{code}{digits[1:]}" for code in ("49", "86", "44", "33"))
    elif len(digits) >= 11 and calling_code(digits):
        yield f"+{digits}"
    yield digits
