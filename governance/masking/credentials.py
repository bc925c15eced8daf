"""Keys and tokens that an issuer gave a form of their own, and values behind `Bearer` and `Basic`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking.masks import JWT, KEY, TOKEN
from governance.masking.spans import Span

_KEYS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|gh[pousr]_[A-Za-z0-9]{20,255}"
    r"|github_pat_[A-Za-z0-9_]{20,255}"
    r"|sk-[A-Za-z0-9_-]{20,255}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10,255}"
    r"|xox[a-z]-[A-Za-z0-9-]{10,255}"
    r"|xapp-[A-Za-z0-9-]{10,255}"
    r"|gl[a-z]{2,8}-[A-Za-z0-9_-]{20,255}"
    r"|AIza[A-Za-z0-9_-]{35}"
    r"|ya29\.[A-Za-z0-9_-]{20,1000}"
    r"|hf_[A-Za-z0-9]{30,40}"
    r"|npm_[A-Za-z0-9]{36}"
    r"|pypi-[A-Za-z0-9_-]{50,255}"
    r"|SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"
    r"|dop_v1_[a-f0-9]{64}"
    r"|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"
    r"|LTAI[A-Za-z0-9]{12,20}"
    r"|AKID[A-Za-z0-9]{13,40}"
    r"|hvs\.[A-Za-z0-9_-]{20,255}"
    r"|qm_[A-Za-z0-9_-]{20,255}"
    r")"
)
_PEM = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_JWT = re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+){0,3}")
_SCHEME = re.compile(r"\b(?:bearer|basic)[ \t]{1,4}([A-Za-z0-9._~+/-]{8,}+=*+)", re.IGNORECASE | re.ASCII)


def find(text: str) -> Iterator[Span]:
    """Keys, JSON Web Tokens and credentials behind a scheme; the normal form is the value itself."""
    for match in _KEYS.finditer(text):
        yield Span(match.start(), match.end(), KEY, match.group())
    if "-----BEGIN" in text:
        yield from _private_keys(text)
    if "eyJ" in text:
        for match in _JWT.finditer(text):
            yield Span(match.start(), match.end(), JWT, match.group())
    for match in _SCHEME.finditer(text):
        yield Span(match.start(1), match.end(1), TOKEN, match[1])


def _private_keys(text: str) -> Iterator[Span]:
    """From BEGIN to END, or to the end of the text where a key was cut off."""
    match = _PEM.search(text)
    while match:
        closing = _PEM_END.search(text, match.end())
        end = closing.end() if closing else len(text)
        yield Span(match.start(), end, KEY, "".join(text[match.start() : end].split()))
        match = _PEM.search(text, end)
