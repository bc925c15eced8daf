"""Internet addresses, version 4 (RFC 791) and 6 (RFC 4291)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv6Address

from governance.masking.masks import IP
from governance.masking.spans import Span
from governance.masking.words import DIGIT, WORD

_V4 = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_FULL_V6 = re.compile(r"[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){5,7}+(?:(?:\.[0-9]{1,3}){3})?")
_V6_CHARACTERS = "0123456789ABCDEFabcdef:."
_LONGEST_V6 = 45
# What stands before a version of four parts: `Chrome/120.0.0.0`, `version 1.2.3.4`, `==1.2.3.4`, `第1.2.3.4节`.
_VERSION = re.compile(
    r"(?:(?<![A-Za-z0-9.])[A-Z][A-Za-z]*/|[=<>~^!]=[ ]?|\^|~"
    r"|(?i:version|ver|release|section|clause|chapter|build|版本|第|版|верси[яию]|пункт|раздел|§)[^A-Za-z0-9]{0,4})\Z"
)
_OCTETS_BY_PAIRS = re.compile(r"(?:[0-9A-Fa-f]{2}:){7}[0-9A-Fa-f]{2}")
_NEAR = 24


def find(text: str) -> Iterator[Span]:
    """Addresses in the text; the normal form is the short one, and version 4 where 6 only wraps it."""
    if text.count(".") > 2:
        yield from _version_4(text)
    if "::" in text:
        yield from _short_version_6(text)
    if text.count(":") > 5:
        for match in _FULL_V6.finditer(text):
            span = _version_6(text, match.start(), match.end())
            if span:
                yield span


def _version_4(text: str) -> Iterator[Span]:
    match = _V4.search(text)
    while match:
        start, end = match.span()
        parts = [int(part) for part in match.group().split(".")]
        if (
            max(parts) <= 255
            and _is_bounded(text, start, end)
            and not _VERSION.search(text[max(0, start - _NEAR) : start])
        ):
            yield Span(start, end, IP, ".".join(map(str, parts)))
        else:
            end = text.index(".", start)
        match = _V4.search(text, end)


def _is_bounded(text: str, start: int, end: int) -> bool:
    """Whether neither a word nor a fifth part touches the address."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if before in WORD or (before == "." and text[start - 2 : start - 1] in WORD):
        return False
    return after not in WORD and not (after == "." and text[end + 1 : end + 2] in DIGIT)


def _short_version_6(text: str) -> Iterator[Span]:
    """Addresses around a `::`, which can be anywhere in them."""
    at = text.find("::")
    while at >= 0:
        before = text[max(0, at - _LONGEST_V6) : at]
        after = text[at : at + _LONGEST_V6]
        start = at - len(before) + len(before.rstrip(_V6_CHARACTERS))
        end = at + len(after) - len(after.lstrip(_V6_CHARACTERS))
        span = _version_6(text, start, end)
        if span:
            yield span
        at = text.find("::", max(end, at + 2))


def _version_6(text: str, start: int, end: int) -> Span | None:
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
    try:
        number = IPv6Address(address)
    except ValueError:
        return None
    return Span(start, end, IP, str(number.ipv4_mapped or number))
