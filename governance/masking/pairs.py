"""Values that their names give away in running text: `password: …`, `api_key=…`, `"token": "…"`, 密码:…"""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking import names, values
from governance.masking.spans import Span
from governance.masking.words import WORD, words

_PAIR = re.compile(
    r"(?<![A-Za-z0-9_.\-$\u0400-\u04ff])(?P<name>[A-Za-z_\u0400-\u04ff][A-Za-z0-9_.\-\u0400-\u04ff]{1,63}+)"
    r"\\*+[\"'`]?\]?[ \t\u00a0]{0,8}(?P<sign>=>|:=|={1,3}|::?|:|[—–-][ ])[ \t\u00a0]{0,8}"
)
_BEFORE = re.compile(r"(?:[A-Za-z\u0400-\u04ff]{1,20}[ _-]){1,2}\Z")
# Names that tell something only with the word before them: `API key`, «код подтверждения».
_SPACED = words("key keys ключ ключи code код pin доступа подтверждения api phrase")
# One of these is in every name that tells of a secret.
_NAME_SIGNS = (
    "pass", "pwd", "kennwort", "secret", "credential", "creds", "authorization", "key", "token", "jwt", "cookie", "sig",
    "cvv", "cvc", "otp", "pin", "mfa", "mnemonic", "sess", "bearer", "code", "auth", "парол", "секрет", "токен", "ключ",
    "код", "пин",
)  # fmt: skip
_OPTION = re.compile(r"-(?P<name>[A-Za-z][A-Za-z0-9-]{1,40})[ ]+(?=[^\s-])")
_SAID = re.compile(
    r"(?<![A-Za-z\u0400-\u04ff])(?P<name>password|passwd|passcode|pin|пароль)"
    r"(?:(?:[ ](?:for|of|to|от|для|к)(?:[ ][^\s:=]{1,40}){1,3}?)?(?P<sign>[ ](?:is|was|это):?[ ]|[ ]?[:=][ ]?)|[ ])(?=[^\s])",
    re.IGNORECASE,
)
_SAID_SIGNS = ("passw", "passcode", "pin ", "парол")
_CHINESE = re.compile(
    r"(?P<name>密码|密碼|口令|密钥|密鑰|秘钥|令牌|私钥|验证码|驗證碼|授权码)"
    r"(?P<sign>[^\x00-\x7f::是为為]{0,6}?(?:[ \t]?[::=][ \t]?|是[::]?|为[::]?|為[::]?)|[ ]?)(?=[\"'“‘「『]?[!-~])"
)
_CHINESE_SIGNS = ("密", "令", "钥", "验证码", "驗證碼", "授权码")
_USERINFO = re.compile(r"://(?P<user>[^\s/?#@:\"'<>]{0,128}):(?P<value>[^\s/?#\"'<>]{1,256})@")
_CURL_USER = re.compile(r"-u(?:ser)?[ =][\"']?[^\s:\"']{1,128}:(?P<value>[^\s\"']{1,256})")
_ELEMENT = re.compile(
    r"<(?P<name>[A-Za-z][A-Za-z0-9_.:-]{1,63})(?:[ ][^<>\x1e]{0,200})?>(?P<value>[^<>\x1e]{1,8192})</"
)
_FORM = re.compile(
    r"name=\"(?P<name>[^\"\r\n]{1,64})\"(?:\r?\n[^\r\n\x1e]+){0,3}\r?\n\r?\n(?P<value>[^\r\n\x1e]{1,8192})"
)


def find(text: str) -> Iterator[Span]:
    """Values that stand behind a tell-tale name; the normal form is the value itself."""
    lower = text.lower()
    if any(sign in lower for sign in _NAME_SIGNS):
        yield from _named(text)
        yield from _options(text)
    if "://" in text and "@" in text:
        for match in _USERINFO.finditer(text):
            yield from values.hidden(text, *match.span("value"), names.SECRET)
    if "-u" in text:
        for match in _CURL_USER.finditer(text):
            yield from values.hidden(text, *match.span("value"), names.SECRET)
    if "</" in text:
        yield from _in_fields(text, _ELEMENT)
    if 'name="' in text:
        yield from _in_fields(text, _FORM)
    if not text.isascii() and any(sign in text for sign in _CHINESE_SIGNS):
        yield from _chinese(text)
    if any(sign in lower for sign in _SAID_SIGNS):
        yield from _said(text)


def _named(text: str) -> Iterator[Span]:
    for match in _PAIR.finditer(text):
        name = match["name"].rstrip(".-")
        role = names.role_of(name)
        if role == names.PLAIN and name.lower() in _SPACED:
            before = _BEFORE.search(text[max(0, match.start() - 42) : match.start()])
            role = names.role_of(f"{before.group()}{name}") if before else role
        if role not in names.HIDDEN:
            continue
        place = values.value_at(text, match.end(), name)
        if not place:
            continue
        # A colon stands in sentences too: “Unexpected token: identifier”.
        value = text[slice(*place)]
        if role == names.WEAK and match["sign"] in (":", ":") and not values.looks_drawn(value):
            continue
        yield from values.hidden(text, *place, role)


def _in_fields(text: str, shape: re.Pattern[str]) -> Iterator[Span]:
    for match in shape.finditer(text):
        role = names.role_of(match["name"])
        if role in names.HIDDEN:
            yield from values.hidden(text, *match.span("value"), role)


def _options(text: str) -> Iterator[Span]:
    """`--password …`"""
    for match in _OPTION.finditer(text):
        if text[match.start() - 1 : match.start()] in WORD:
            continue
        role = names.role_of(match["name"])
        place = values.value_at(text, match.end(), match["name"]) if role in names.HIDDEN else None
        if place:
            yield from values.hidden(text, *place, role)


def _chinese(text: str) -> Iterator[Span]:
    """Chinese joins name and value by 是, 为, a colon or nothing; without a sign the value must not read as a word."""
    for match in _CHINESE.finditer(text):
        place = values.value_at(text, match.end(), match["name"])
        if not place:
            continue
        value = text[slice(*place)]
        if match["sign"].strip() or (len(value) >= 4 and values.looks_drawn(value)):
            role = names.WEAK if match["name"] == "令牌" else names.SECRET
            yield from values.hidden(text, *place, role)


def _said(text: str) -> Iterator[Span]:
    """`the password for the archive is …`: only what does not read as a word."""
    for match in _SAID.finditer(text):
        place = values.value_at(text, match.end(), match["name"])
        if not place:
            continue
        value = text[slice(*place)]
        letters = any(char.isalpha() for char in value)
        if values.looks_drawn(value) and (letters or match["sign"]):
            yield from values.hidden(text, *place, names.SECRET)
