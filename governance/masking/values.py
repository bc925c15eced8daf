"""The value behind a tell-tale name: where it ends, and what of it is masked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from governance.masking import names
from governance.masking.masks import MASK, SECRET, TOKEN
from governance.masking.spans import Span
from governance.masking.words import words

# Punctuation of Chinese and Japanese, and of full width; none of it is typed into a password.
_WIDE_MARKS = "\u3000-\u30ff\uac00-\ud7a3\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\u4e00-\u9fff\u201c\u201d\u2018\u2019\u00ab\u00bb"
_ESCAPED = re.compile(r"\\+[\"'](?P<value>(?:[^\"'\\\r\n]|\\+[^\"'\\\r\n]){1,8192}+)")
_DOUBLE = re.compile(r"\"(?P<value>(?:[^\"\\\x1e]|\\[^\x1e]){1,8192}+)")
_SINGLE = re.compile(r"'(?P<value>(?:[^'\\\r\n]|\\[^\r\n]){1,8192}+)")
_TICKED = re.compile(
    "[`\u201c\u2018\u300c\u300e\u00ab](?P<value>[^`\u201d\u2019\u300d\u300f\u00bb\r\n]{1,8192}+)"
)
_BARE = re.compile(rf"(?P<value>[^\s\"'`,;&<>()\[\]{{}}|\\{_WIDE_MARKS}]{{1,8192}}+)")
_PHRASE = re.compile(r"(?P<value>[^\r\n\"]{1,8192}+)")
_LINE = re.compile(r"(?P<value>[^\r\n]{1,8192}+)")
_SHAPES = {"\\": _ESCAPED, '"': _DOUBLE, "'": _SINGLE} | dict.fromkeys(
    "`\u201c\u2018\u300c\u300e\u00ab", _TICKED
)

_SCHEME = re.compile(r"(?:bearer|basic|token|apikey|negotiate)[ \t]{1,4}(?=[^\s])", re.IGNORECASE)
_LONG_SCHEME = re.compile(r"(?:digest|oauth|hawk|aws4-hmac-sha256)[ \t]{1,4}", re.IGNORECASE)
_COOKIES = re.compile(
    r"(?P<value>[^\s=;,\"']{1,128}=[^\s;\"']*+(?:;[ ]?[^\s=;,\"']{1,128}(?:=[^;\"'\r\n]*+)?)*+)"
)
_COOKIE = re.compile(r"(?P<name>[^\s=;,]{1,128})=(?P<value>[^;\r\n]{1,8192})")
_ABOUT_COOKIES = words("path domain expires max-age samesite version secure httponly priority")

_NOTHING = words(
    "null none nil true false undefined nan string required optional redacted hidden masked removed bearer basic"
)
# What stands behind *password:* in a sentence or a signature.
_PROSE = words(
    "yes no str text bytes int integer number float bool boolean object array any missing invalid incorrect expired wrong "
    "empty unknown unset is are was must should cannot can not the a an your my to for from in on of and or if with default "
    "raise return throw pass await print lambda set provided given needed changed denied rejected refused ok failed has have does enter type reset verify digest token "
    "нет да не неверный неверен обязателен пуст истёк истек введите"
)
_CODE = re.compile(
    r"(?:self|this|os|process|config|settings|env|ctx|request|args|options|secrets|vault|var|local)\.[A-Za-z_.]+"
)
_PLACEHOLDER = re.compile(
    r"\$\{[^{}]*\}|\$[A-Z_][A-Z0-9_]*|\{\{[^{}]*\}\}|\{[A-Za-z_][A-Za-z0-9_.()]*\}|<[A-Za-z _-]+>|%\([A-Za-z_]+\)s|%s|\.{2,}|…+|[xX]{3,}"
    r"|(?i:(?:your|insert|replace|put|enter)[-_ ](?:[a-z]{1,12}[-_ ]){0,4}(?:password|secret|token|key|here|value|it|me))",
    re.ASCII,
)
_NAMEABLE = re.compile(r"[A-Za-z_][A-Za-z_.]*")
_FEW_DIGITS = 6
_MARK = re.compile(r"[bBrRfF]{1,2}(?=[\"'])|[|>][+-]?\r?\n[ \t]{1,16}(?=[^\s])")


def value_at(text: str, at: int, name: str) -> tuple[int, int] | None:
    """Where the value begins and ends that stands here, quoted or bare; None where there is none."""
    # The mark of a string of bytes, and a block of YAML.
    mark = _MARK.match(text, at)
    at = mark.end() if mark else at
    shape = _SHAPES.get(text[at : at + 1])
    if shape:
        match = shape.match(text, at)
        return match.span("value") if match else None
    if MASK.match(text, at):
        return None
    lower = name.lower()
    if lower.endswith("cookie"):
        match = _COOKIES.match(text, at)
    elif lower.endswith(("mnemonic", "phrase")):
        match = _PHRASE.match(text, at)
    elif _LONG_SCHEME.match(text, at):
        match = _LINE.match(text, at)
    else:
        scheme = _SCHEME.match(text, at)
        if scheme:
            match = _BARE.match(text, scheme.end())
            return (at, _trimmed(text, match)) if match else None
        match = _BARE.match(text, at)
        if match and _is_prose(text, name, match.start(), _trimmed(text, match)):
            return None
    return (match.start("value"), _trimmed(text, match)) if match else None


def _is_prose(text: str, name: str, start: int, end: int) -> bool:
    """Whether a bare value is a word of a sentence, or code that fetches it: `get_token(…)`, `frozen.token`."""
    value = text[start:end]
    if value.lower() in _PROSE or name.endswith(value):
        return True
    if not _NAMEABLE.fullmatch(value):
        return False
    return text[end : end + 1] in ("(", "[") or ("." in value and names.role_of(value) in names.HIDDEN)


def _trimmed(text: str, match: re.Match[str]) -> int:
    """The end of a bare value without the full stop or colon of the sentence around it."""
    end = match.end("value")
    while end > match.start("value") + 1 and text[end - 1] in ".:":
        end -= 1
    return end


def hidden(text: str, start: int, end: int, role: str) -> Iterator[Span]:
    """What is masked of a value from start to end: all of it but its scheme, and of cookies each value."""
    value = text[start:end]
    if role == names.COOKIE and _COOKIE.search(value):
        for match in _COOKIE.finditer(text, start, end):
            if match["name"].lower() not in _ABOUT_COOKIES and not MASK.fullmatch(match["value"].strip()):
                yield Span(match.start("value"), match.end("value"), SECRET, match["value"].strip())
        return
    kind = SECRET
    scheme = _SCHEME.match(value) or _LONG_SCHEME.match(value)
    if scheme:
        kind, start, value = TOKEN, start + scheme.end(), value[scheme.end() :]
    if not is_nothing(value, role):
        yield Span(start, end, kind, value.strip())


def is_nothing(value: str, role: str) -> bool:
    """Whether a value hides nothing: empty, a mask already, a word about secrets, a placeholder, a small count."""
    stripped = value.strip()
    if not any(char.isalnum() for char in stripped) or _is_masked(stripped):
        return True
    if (
        stripped.lower().strip("[]<>()*") in _NOTHING
        or _PLACEHOLDER.fullmatch(stripped)
        or _CODE.fullmatch(stripped)
    ):
        return True
    if role == names.COOKIE and MASK.search(stripped):
        return True
    return role == names.WEAK and stripped.isdigit() and len(stripped) <= _FEW_DIGITS


def _is_masked(value: str) -> bool:
    return value.startswith("[") and value.endswith("]") and not MASK.sub("", value).strip(" ,;.")


def looks_drawn(value: str) -> bool:
    """Whether a value looks like drawn at random rather than like a word of a sentence."""
    if any(char.isdigit() or char in "!@#$%^&*+~" for char in value):
        return True
    inner = value[1:]
    return (len(value) >= 16 and "-" not in value) or (
        len(value) >= 8 and inner != inner.lower() and inner != inner.upper()
    )
