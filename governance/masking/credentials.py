"""Keys and tokens whose issuers gave them a form of their own, and what follows `Bearer` and `Basic`.

What they look like is in `issuers.py`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from governance.masking.issuers import DOTTED, FORMS, GUARDED, UNMARKED
from governance.masking.masks import JWT, KEY, TOKEN
from governance.masking.spans import Span
from governance.masking.words import PARTING

_STARTS = {start: re.compile(form) for starts, form in FORMS.items() for start in starts.split()}
_ALL_STARTS = tuple(_STARTS)
_LONGEST_START = max(map(len, _STARTS))
# Their last characters, by which most marks are passed over.
_ENDS = frozenset(start[-3:] for start in _ALL_STARTS)
_EMPTY = frozenset("xX*.0-_")
# Each of them ends with one of these, and ten characters at least follow.
_SIGN = re.compile(r"[_\-.](?=[A-Za-z0-9_\-%+/=]{10})")
_GUARDS = tuple(sign for signs, _ in GUARDED for sign in signs)
_LAST_PART = re.compile(r"\.[A-Za-z0-9_-]{16}")
# How far before their last full stop they begin.
_HEADS = (17, 31, 32, 33)
_TELEGRAM = re.compile(r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}")
# Words joined by hyphens or underscores: `sk-learn-estimators`, `qm_masking_key_rotation`.
_NAME = re.compile(r"(?:[a-z]{1,20}|v?[0-9]{1,4})(?:[_-](?:[a-z]{1,20}|v?[0-9]{1,4}))+")
_NAMES = re.compile(r"[a-z]{1,20}(?:[_.-][a-z]{1,20})*")
_SHORTEST_HEAD = 10
_GLUE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")

_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_JWT_PART = re.compile(r"[A-Za-z0-9_-]*+")
_JWT_REST = re.compile(r"\.(?:[A-Za-z0-9_-]{4,}+|(?=\.))(?:\.?[A-Za-z0-9_-]{2,}+){0,3}(?<=[A-Za-z0-9_-])")
_WEBHOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,128})"
    r"|discord(?:app)?\.com/api/webhooks/([0-9]{10,24}/[A-Za-z0-9_-]{20,128})"
)
_SCHEME = re.compile(r"(?<![A-Za-z0-9_])(bearer|basic)[ \t]{1,4}([A-Za-z0-9._~+/-]{6,}+=*+)", re.IGNORECASE)
# What a text has that holds a credential, if no mark tells it: those that letters alone can follow, and the others.
SIGNS_OF_LETTERS = ("earer", "EARER", "asic", "ASIC", "eyJ", "AKI", "ASIA", "AIza", "SG.", "hvs.")
SIGNS = (
    "ABIA", "ACCA", "LTAI", "hvb.", "ya29.", "AKLT", "AQVN", "AKCp", "EAA", "SK", ":AA", "-----", "hook", *_GUARDS
)  # fmt: skip
_SCHEME_SIGNS = ("earer", "EARER", "asic", "ASIC")


def find(text: str) -> Iterator[Span]:
    """Keys, JSON Web Tokens, private keys, webhooks, and credentials behind a scheme; the normal form is the value."""
    yield from _marked(text)
    yield from _keys(text, UNMARKED)
    if any(map(text.__contains__, _GUARDS)):
        for signs, shape in GUARDED:
            if any(map(text.__contains__, signs)):
                yield from _keys(text, shape)
    if "." in text:
        yield from _dotted(text)
    if ":AA" in text:
        yield from _keys(text, _TELEGRAM)
    if "-----BEGIN" in text:
        yield from _private_keys(text)
    if "eyJ" in text:
        yield from _tokens(text)
    if "hook" in text:
        for match in _WEBHOOK.finditer(text):
            yield Span(match.start(), match.end(), KEY, match[1] or match[2])
    if any(map(text.__contains__, _SCHEME_SIGNS)):
        yield from _behind_schemes(text)


def may_be_in(text: str) -> bool:
    """Whether the text has what a key with a mark or of parts begins with."""
    for sign in _SIGN.finditer(text):
        at = sign.end()
        if text[at - 3 : at] in _ENDS:
            return True
    return "." in text and _LAST_PART.search(text) is not None


def _marked(text: str) -> Iterator[Span]:
    """Keys found by the mark that ends their beginning, as the hyphen of `sk-`."""
    taken = 0
    for sign in _SIGN.finditer(text):
        at = sign.end()
        if text[at - 3 : at] not in _ENDS:
            continue
        for begin in range(max(taken, at - _LONGEST_START), at - 1):
            form = _STARTS.get(text[begin:at]) if text[begin - 1 : begin] not in _GLUE else None
            match = form.match(text, at) if form else None
            if match:
                taken = match.end()
                if not _NAME.fullmatch(text, begin, taken) and not _EMPTY.issuperset(text[at:taken]):
                    yield Span(begin, taken, KEY, text[begin:taken])
                break


def _keys(text: str, shape: re.Pattern[str]) -> Iterator[Span]:
    match = shape.search(text)
    while match:
        start, end = match.span()
        # The Bot API of Telegram has `/bot` and the token in its addresses.
        if (text[start - 1 : start] not in _GLUE or text.endswith("/bot", 0, start)) and not _NAME.fullmatch(
            match.group()
        ):
            yield Span(start, end, KEY, match.group())
        else:
            end = start + 1
        match = shape.search(text, end)


def _dotted(text: str) -> Iterator[Span]:
    """Keys of parts that full stops join; their last part is long."""
    taken = 0
    for last in _LAST_PART.finditer(text):
        at = last.start()
        for behind in _HEADS:
            begin = at - behind
            if begin < taken or text[begin - 1 : begin] in _GLUE:
                continue
            match = DOTTED.match(text, begin)
            if match and match.end() > at:
                taken = match.end()
                yield Span(begin, taken, KEY, match.group())
                break


def _private_keys(text: str) -> Iterator[Span]:
    """From BEGIN to END, or to the end of the text where a key was cut off."""
    match = _PEM.search(text)
    while match:
        limit = text.find(PARTING, match.end())
        closing = _PEM_END.search(text, match.end(), limit if limit >= 0 else len(text))
        end = closing.end() if closing else limit if limit >= 0 else len(text)
        body = re.sub(r"\\[nr]|\s", "", text[match.end() : closing.start() if closing else end])
        yield Span(match.start(), end, KEY, body)
        match = _PEM.search(text, end)


def _tokens(text: str) -> Iterator[Span]:
    """`eyJ…` is how JSON begins in base64; the parts of a token are parted by full stops (RFC 7519, RFC 7516)."""
    start = text.find("eyJ")
    while start >= 0:
        end = _JWT_PART.match(text, start).end()  # type: ignore[union-attr]
        rest = _JWT_REST.match(text, end)
        if rest and end - start > _SHORTEST_HEAD and text[start - 1 : start] not in _GLUE:
            end = rest.end()
            yield Span(start, end, JWT, text[start:end])
        start = text.find("eyJ", end)


def _behind_schemes(text: str) -> Iterator[Span]:
    for match in _SCHEME.finditer(text):
        value = match[2].rstrip(".")
        # The name of what comes next: `token_type=bearer expires_in=3600`.
        if _NAMES.fullmatch(value.rstrip("=")) and (
            value[-1] == "=" or text[match.end() : match.end() + 1] == ":"
        ):
            continue
        if _is_credential(match[1].lower(), value):
            yield Span(match.start(2), match.start(2) + len(value), TOKEN, value)


def _is_credential(scheme: str, value: str) -> bool:
    """Whether this is no prose, such as *basic authentication* or *bearer of news*."""
    if scheme == "basic":
        try:
            return b":" in base64.b64decode(value + "=" * (-len(value) % 4))
        except (binascii.Error, ValueError):
            return False
    letters = value.strip("-/._")
    return (
        len(letters) >= 24
        or not letters.isalpha()
        or not (letters.islower() or letters.istitle() or letters.isupper())
    )
