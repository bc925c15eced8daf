"""Values behind a tell-tale name in running text: `password: …`, `api_key=…`, `"token": "…"`, 密码:…"""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking import names
from governance.masking.masks import MASK, SECRET, TOKEN
from governance.masking.spans import Span

_WORDS = "pass|pwd|secret|token|api|key|auth|cookie|cred|pin|otp|cvv|cvc|jwt|sig|密码|口令|密钥|秘钥|令牌|私钥|验证码|授权码|парол|секрет|токен|ключ|пин"
_TRIGGER = re.compile(_WORDS, re.IGNORECASE)
_PAIR = re.compile(
    r"""(?P<name>[A-Za-z0-9_.\-\u0400-\u04ff\u4e00-\u9fff]{2,64})(?P<quote>\\{0,3}["'`]?)[ \t]{0,3}(?:[:=:]|=>|:=|是|为)[ \t]{0,3}"""
    r"""(?:\\{0,3}"(?P<double>[^"\\]{1,4096}+)|\\{0,3}'(?P<single>[^'\\]{1,4096}+)|(?P<bare>[^\s"'`,;&<>()\[\]{}|\\,。;、!?\u4e00-\u9fff]{1,4096}))"""
)
_SCHEME = re.compile(r"(?:bearer|basic|digest|token|apikey|negotiate)[ \t]{1,4}", re.IGNORECASE)
_NOTHING = frozenset(
    [
        "null",
        "none",
        "nil",
        "true",
        "false",
        "undefined",
        "string",
        "str",
        "bytes",
        "required",
        "optional",
        "missing",
        "invalid",
        "is",
        "must",
        "the",
        "a",
        "an",
    ]
)


def find(text: str) -> Iterator[Span]:
    """Values that their name gives away; the normal form is the value itself."""
    if not _TRIGGER.search(text):
        return
    for match in _PAIR.finditer(text):
        role = names.role_of(match["name"].strip("-."))
        if role not in (names.SECRET, names.COOKIE):
            continue
        group = "double" if match["double"] else "single" if match["single"] else "bare"
        yield from value_spans(
            text, match.start(group), match.end(group), role, "token" in match["name"].lower()
        )


def value_spans(text: str, start: int, end: int, role: str, weak: bool = False) -> Iterator[Span]:
    """What of a value under a tell-tale name is masked: all but its scheme."""
    value = text[start:end]
    scheme = _SCHEME.match(text, start)
    if scheme and value.lower() in ("bearer", "basic", "digest", "token", "negotiate", "apikey"):
        return
    if scheme and scheme.end() < end:
        start, value = scheme.end(), text[scheme.end() : end]
    if not any(char.isalnum() for char in value) or value.lower() in _NOTHING or MASK.fullmatch(value):
        return
    if weak and value.isdigit() and len(value) < 7:
        return
    yield Span(start, end, TOKEN if scheme else SECRET, value)
