"""Internet addresses, version 4 and 6."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv6Address

from governance.masking.masks import IP
from governance.masking.spans import Span

_V4 = re.compile(r"(?<![A-Za-z0-9_.])[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(?![A-Za-z0-9_]|\.[0-9])")
_V6 = re.compile(r"[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:(?:[0-9A-Fa-f:]+(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f:]*)")
# A version of four parts: `Chrome/120.0.0.0`, `version 1.2.3.4`, `==1.2.3.4`.
_VERSION = re.compile(
    r"(?:[A-Z][A-Za-z]*/|[=<>~^]=?|(?:version|ver|release|section|clause|版本|第|версия|пункт|раздел)[^A-Za-z0-9]{0,3})\Z",
    re.IGNORECASE,
)


def find(text: str) -> Iterator[Span]:
    """Addresses in the text; in normal form short, and those of version 4 inside 6 as version 4."""
    if text.count(".") >= 3:
        for match in _V4.finditer(text):
            parts = [int(part) for part in match.group().split(".")]
            if max(parts) <= 255 and not _VERSION.search(text[max(0, match.start() - 24) : match.start()]):
                yield Span(match.start(), match.end(), IP, ".".join(map(str, parts)))
    if text.count(":") >= 2:
        for match in _V6.finditer(text):
            span = _v6(text, match.start(), match.end())
            if span:
                yield span


def _v6(text: str, start: int, end: int) -> Span | None:
    while (
        start < end
        and text[start - 1 : start].isascii()
        and (text[start - 1 : start].isalnum() or text[start - 1 : start] == "_")
    ):
        start = text.find(":", start, end) + 1 or end
    while end > start and text[end - 1] == ":" and text[end - 2 : end] != "::":
        end -= 1
    follows = text[end : end + 1]
    if follows.isascii() and (follows.isalnum() or follows == "_"):
        return None
    address = text[start:end]
    if not any(char.isdigit() for char in address) or re.fullmatch(
        r"(?:[0-9A-Fa-f]{2}:){7}[0-9A-Fa-f]{2}", address
    ):
        return None
    try:
        number = IPv6Address(address)
    except (AddressValueError, ValueError):
        return None
    return Span(start, end, IP, str(number.ipv4_mapped or number))
