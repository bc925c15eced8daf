"""E-mail addresses, found around their `@`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking.masks import EMAIL
from governance.masking.spans import Span

# RFC 5321: 64 characters before the @, 255 after it.
_LOCAL = 64
_ASCII_TAIL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+\Z")
_PLAIN_TAIL = re.compile(r"[A-Za-z0-9._%+'~-]+\Z")
_OTHER_TAIL = re.compile(r"[^\W\d_][\w.+-]*\Z")
_DOMAIN = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})(?:\.[A-Za-z0-9-]{1,63}){0,8}\.(?:xn--[A-Za-z0-9-]{2,59}|[A-Za-z]{2,24})(?![A-Za-z0-9_])"
    r"|[^\W_](?:[\w-]{0,62})(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,24}"
)


def find(text: str) -> Iterator[Span]:
    """Addresses in the text; in normal form they are lower case."""
    at = text.find("@")
    while at >= 0:
        domain = _DOMAIN.match(text, at + 1)
        if domain:
            before = text[max(0, at - _LOCAL) : at]
            local = _PLAIN_TAIL.search(before) or _OTHER_TAIL.search(before)
            if local:
                name = local.group().lstrip(".'%-")
                if name:
                    start = at - len(name)
                    yield Span(start, domain.end(), EMAIL, text[start : domain.end()].lower())
        at = text.find("@", at + 1)
