"""International bank account numbers: ISO 13616, length by country, check digits by ISO 7064 MOD 97-10."""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking.masks import IBAN
from governance.masking.spans import Span

_START = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z]{2}[0-9]{2}[ -]?[A-Za-z0-9]{4}")
# The IBAN registry of SWIFT.
_LENGTHS = {
    code: int(length)
    for code, length in (
        entry.split(":")
        for entry in [
            "AD:24",
            "AE:23",
            "AL:28",
            "AT:20",
            "AZ:28",
            "BA:20",
            "BE:16",
            "BG:22",
            "BH:22",
            "BI:27",
            "BR:29",
            "BY:28",
            "CH:21",
            "CR:22",
            "CY:28",
            "CZ:24",
            "DE:22",
            "DJ:27",
            "DK:18",
            "DO:28",
            "EE:20",
            "EG:29",
            "ES:24",
            "FI:18",
            "FK:18",
            "FO:18",
            "FR:27",
            "GB:22",
            "GE:22",
            "GI:23",
            "GL:18",
            "GR:27",
            "GT:28",
            "HN:28",
            "HR:21",
            "HU:28",
            "IE:22",
            "IL:23",
            "IQ:23",
            "IS:26",
            "IT:27",
            "JO:30",
            "KW:30",
            "KZ:20",
            "LB:28",
            "LC:32",
            "LI:21",
            "LT:20",
            "LU:20",
            "LV:21",
            "LY:25",
            "MC:27",
            "MD:24",
            "ME:22",
            "MK:19",
            "MN:20",
            "MR:27",
            "MT:31",
            "MU:30",
            "NI:28",
            "NL:18",
            "NO:15",
            "OM:23",
            "PK:24",
            "PL:28",
            "PS:29",
            "PT:25",
            "QA:29",
            "RO:24",
            "RS:22",
            "RU:33",
            "SA:24",
            "SC:31",
            "SD:18",
            "SE:24",
            "SI:19",
            "SK:24",
            "SM:27",
            "SO:23",
            "ST:25",
            "SV:28",
            "TL:23",
            "TN:24",
            "TR:26",
            "UA:29",
            "VA:22",
            "VG:24",
            "XK:20",
            "YE:30",
        ]
    )
}


def find(text: str) -> Iterator[Span]:
    """Account numbers in the text; in normal form they have no separators and capital letters."""
    for match in _START.finditer(text):
        length = _LENGTHS.get(match.group()[:2].upper())
        if length is None:
            continue
        end = _end(text, match.start(), length)
        number = re.sub(r"[ -]", "", text[match.start() : end]).upper()
        if end and _checks(number):
            yield Span(match.start(), end, IBAN, number)


def _end(text: str, start: int, length: int) -> int:
    """Where the number ends that has so many letters and digits from here, single separators aside; 0 if none."""
    at = start
    while at < len(text) and length:
        if text[at].isascii() and text[at].isalnum():
            length -= 1
        elif text[at] not in " -" or text[at - 1] in " -":
            return 0
        at += 1
    follows = text[at : at + 1]
    return 0 if length or (follows.isascii() and (follows.isalnum() or follows == "_")) else at


def _checks(number: str) -> bool:
    return int("".join(str(int(char, 36)) for char in number[4:] + number[:4])) % 97 == 1
