"""E-mail addresses, found around their `@` (RFC 5321 for lengths, RFC 6531 for other alphabets)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking.masks import EMAIL
from governance.masking.spans import Span
from governance.masking.words import DIGITS, LETTERS

_LONGEST_LOCAL = 64
# RFC 5322 allows more, but these are the ones that do not delimit: a=b@c is a parameter, a/b@c a path.
_LOCAL = LETTERS + DIGITS + "._+'~-"
_OTHER_LOCAL = re.compile(r"[^\W_][\w.+-]{0,63}\Z")
_DOMAIN = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62})(?:\.[A-Za-z0-9-]{1,63}){0,8}\.(?:xn--[A-Za-z0-9-]{2,59}|[A-Za-z]{2,24})"
    r"|[^\W_][\w-]{0,62}(?:\.[\w-]{1,63}){0,8}\.(?:中国|中國|公司|网络|рф|рус|укр|бел|қаз|한국|[^\W\d_]{2,24})"
)
# `package@1.2.3-beta.next`, `icon@2x.png`
_VERSION = re.compile(r"v?[0-9]+(?:\.[0-9]|x\.)", re.IGNORECASE)

_BEFORE_ADDRESSES = frozenset(("", " ", "\n", "/", "<", ">", '"', "'", ",", ";", "=", "(", "["))
_REMOTES = frozenset(("git", "hg", "svn"))
_LONGEST_LOGIN = 400
_LOGIN = re.compile(r"://[^\s/?#\"'<>:]{0,128}:[^\s/?#\"'<>]{0,256}\Z")


def find(text: str) -> Iterator[Span]:
    """Addresses in the text; the normal form is lower case, its domain in ASCII."""
    at = text.find("@")
    while at >= 0:
        domain = _DOMAIN.match(text, at + 1)
        start = _start(text, at) if domain and not _VERSION.match(text, at + 1) else at
        if domain and start < at and not _is_password(text, start):
            # A remote of Git: `git@host.example:group/project`
            if text[start:at] in _REMOTES:
                at = text.find("@", at + 1)
                continue
            normal = f"{text[start:at].lower()}@{_ascii(domain.group().lower())}"
            yield Span(start, domain.end(), EMAIL, normal)
        at = text.find("@", at + 1)


def _start(text: str, at: int) -> int:
    """Where the part before the `@` begins; at the `@` where there is none."""
    before = text[max(0, at - _LONGEST_LOCAL) : at]
    if before.endswith('"'):
        quoted = before.rfind('"', 0, -1)
        return at if quoted < 0 or "\n" in before[quoted:] else at - len(before) + quoted
    local = before[len(before.rstrip(_LOCAL)) :].lstrip(".'-~+")
    if not local and before and not before.isascii():
        other = _OTHER_LOCAL.search(before)
        local = other.group() if other else ""
    return at - len(local)


def _is_password(text: str, start: int) -> bool:
    """Whether this is the end of a password in an address of the net: `https://user:password@host.example`."""
    if text[start - 1 : start] in _BEFORE_ADDRESSES:
        return False
    before = text[max(0, start - _LONGEST_LOGIN) : start]
    return "://" in before and _LOGIN.search(before) is not None


def _ascii(domain: str) -> str:
    if domain.isascii():
        return domain
    try:
        return domain.encode("idna").decode()
    except UnicodeError:
        return domain
