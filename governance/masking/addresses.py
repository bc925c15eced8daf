"""Internet addresses, version 4 (RFC 791) and 6 (RFC 4291)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv6Address

from governance.masking.masks import IP
from governance.masking.spans import Span
from governance.masking.words import DIGIT, LETTERS, WORD, words

_V4_SIGN = re.compile(r"\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]")
_V4 = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_DIGITS_OF_V4 = "0123456789"
_V6_SIGN = re.compile(r":(?::|[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}:[0-9A-Fa-f]{1,4}:)")
_V6_CHARACTERS = "0123456789ABCDEFabcdef:."
_LONGEST_V6 = 45
_FEWEST_DIGITS = 5
# What stands before a version of four parts: `Chrome/120.0.0.0`, `version 1.2.3.4`, `==1.2.3.4`, `第1.2.3.4节`.
_VERSION = re.compile(
    r"(?:(?<![A-Za-z0-9.])[A-Z][A-Za-z]*/|(?P<equal>[=<>~^!]=[ ]?)|\^|~"
    r"|(?i:version|ver|release|section|clause|chapter|build|版本|第|版|верси[яию]|пункт|раздел|§)[^A-Za-z0-9\x1e]{0,4})\Z"
)
# Farther before one whose parts are all small, as in `from version 2.0.0.12 to 2.1.0.0`.
_VERSIONS = re.compile(
    r"(?i:version|release|section|clause|chapter|chapitre|abschnitt|kapitel|cap[ií]tulo|sección|firmware|driver|upgrad|"
    r"版本|章节|固件|升级|バージョン|верси|пункт|раздел|глав|обновл)|(?<![A-Za-z])v[0-9]|§|第[0-9.]*\Z"
)
_FAR = 64
_PRIVATE = frozenset((10,))
_OCTETS_BY_PAIRS = re.compile(r"(?:[0-9A-Fa-f]{2}:){7}[0-9A-Fa-f]{2}")
_NEAR = 24
_HOSTS = words(
    "ip ips ipv addr address host node server client from to src dst source peer remote worker proxy gateway gw dns vm user "
    "login session blocked banned"
)
# Few parts of versions have come this far.
_OLDEST = 40
_RARE = 100


def find(text: str) -> Iterator[Span]:
    """Addresses in the text; the normal form is the short one, and version 4 where 6 only wraps it."""
    yield from _version_4(text)
    if ":" in text:
        yield from _version_6(text)


def _version_4(text: str) -> Iterator[Span]:
    match = _V4_SIGN.search(text)
    while match:
        start = _back(text, match.start(), _DIGITS_OF_V4)
        address = _V4.match(text, start)
        end = match.start() + 1
        if address and _is_version_4(text, start, address.end()):
            end = address.end()
            yield Span(start, end, IP, ".".join(str(int(part)) for part in address.group().split(".")))
        match = _V4_SIGN.search(text, end)


def _is_version_4(text: str, start: int, end: int) -> bool:
    if any(int(part) > 255 for part in text[start:end].split(".")) or not _is_bounded(text, start, end):
        return False
    before = text[max(0, start - _FAR) : start]
    found = _VERSION.search(before[-_NEAR:])
    parts = [int(part) for part in text[start:end].split(".")]
    if max(parts) < _OLDEST and parts[0] not in _PRIVATE:
        # As likely a version or a chapter as an address.
        return not (found or _VERSIONS.search(before))
    if found and found["equal"]:
        return _last_word(before[: -len(found["equal"])]) in _HOSTS
    return not found or sum(part >= _RARE for part in parts) > 1


def _last_word(text: str) -> str:
    return text[len(text.rstrip(LETTERS)) :].lower()


def _back(text: str, at: int, characters: str) -> int:
    """Where the characters of an address begin that end here."""
    before = text[max(0, at - _LONGEST_V6) : at]
    return at - len(before) + len(before.rstrip(characters))


def _is_bounded(text: str, start: int, end: int) -> bool:
    """Whether neither a word nor a fifth part touches the address."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before in ("_", "-") and not _is_joined(text, start, end):
        return False
    if (before in WORD and before != "_") or (before == "." and text[start - 2 : start - 1] in WORD):
        return False
    if after == "_":
        return before in ("_", "-")
    return after not in WORD and not (after == "." and text[end + 1 : end + 2] in DIGIT)


def _is_joined(text: str, start: int, end: int) -> bool:
    """Whether an address hangs on a word, as in `ip_10.0.0.1`, and no version does, as in `libfoo_1.2.3.4.deb`."""
    before = text[max(0, start - _NEAR) : start - 1]
    if _last_word(before) in _HOSTS or not before[-1:].isalnum():
        return True
    parts = [int(part) for part in text[start:end].split(".")]
    return parts[0] in (10, 127) or parts[:2] == [192, 168] or sum(part > _OLDEST for part in parts) > 1


def _version_6(text: str) -> Iterator[Span]:
    """Addresses around a `::`, which can be anywhere in them, or around three groups between colons."""
    match = _V6_SIGN.search(text)
    while match:
        after = text[match.start() : match.start() + _LONGEST_V6]
        end = match.start() + len(after) - len(after.lstrip(_V6_CHARACTERS))
        span = _address_6(text, _back(text, match.start(), _V6_CHARACTERS), end)
        if span:
            yield span
        match = _V6_SIGN.search(text, max(end, match.start() + 2))


def _address_6(text: str, start: int, end: int) -> Span | None:
    """The address between these places, without the colons and dots of the sentence around it."""
    while start < end and text[start - 1 : start] in WORD:
        start = text.find(":", start, end) + 1 or end
    if text.startswith(":", start) and not text.startswith("::", start):
        start += 1
    address = text[start:end].rstrip(".")
    if address.endswith(":") and not address.endswith("::"):
        address = address[:-1]
    end = start + len(address)
    if text[end : end + 1] in WORD:
        return None
    if not any(char in DIGIT for char in address) or _OCTETS_BY_PAIRS.fullmatch(address):
        return None
    # A slice of a program, [1::2], is no address.
    if len(address) - address.count(":") < _FEWEST_DIGITS and address != "::1":
        return None
    try:
        number = IPv6Address(address)
    except ValueError:
        return None
    return Span(start, end, IP, str(number.ipv4_mapped or number))
