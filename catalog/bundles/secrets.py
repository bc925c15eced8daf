"""Credentials in the files of a bundle; what was found is never repeated.

The formats are those that their issuers publish. A format alone is not enough: documentation is
full of placeholders, so a match counts only where it does not look made up (`is_placeholder`).
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from catalog.bundles.findings import Finding, error, warning
from catalog.bundles.rules import Rule
from catalog.bundles.secret_formats import FORMATS, JWT, PRIVATE_KEY
from catalog.bundles.texts import Text

REDACTED = "[secret]"
MAX_PER_FILE = 100
MAX_JUDGED = 10_000
"""Credentials of one file that are looked at closely, so that no file can hold a scan up."""

_DETECTED_HINT = "Revoke it with its issuer, take it out of the bundle and read it from the environment."
_SUSPECTED_HINT = (
    "Where it is real, revoke it and read it from the environment; where not, use a placeholder."
)

# What placeholders are made of. Three letters would meet random keys too often.
_MADE_UP = re.compile(
    r"example|sample|placeholder|dummy|your|change.?me|replace|redact|insert|todo|xxxx|\*{3}|\.{3}"
    r"|fake|mysecret|mytoken|mypass|notreal|test_?key|(?-i:abcdef|ABCDEF)|12345678|deadbeef|[<>]|\$\{"
    r"|here$|secret_?key$|^password|^token",
    re.IGNORECASE,
)


LEAST_RUN = 20
"""Every format but that of a private key is a run of at least so many of these characters."""
# What a format may hold becomes "x", all else a space.
_IN_RUNS = bytes(
    ord("x" if (chr(code).isalnum() and code < 128) or chr(code) in "_./+=:-" else " ") for code in range(256)
)
# With the space behind it, at which a search can skip.
_RUN = b"x" * LEAST_RUN + b" "

_ANY_ANCHOR = re.compile("|".join(re.escape(anchor) for form in FORMATS for anchor in form.rule.anchors))
_CERTAIN_FIRST = tuple(sorted(FORMATS, key=lambda form: not form.certain))
_ENCRYPTED_KEY = re.compile(r"BEGIN ENCRYPTED|Proc-Type: ?4,ENCRYPTED")

_ASSIGNED = Rule(
    "secret-suspected",
    "warning",
    ("password", "passwd", "secret", "token", "api_key", "apikey", "api-key", "access_key", "bearer "),
    re.compile(
        r"""[A-Za-z_-]{6,40}+["']?(?:[ \t]{0,4}(?::=|=>|[:=])[ \t]{0,4}|[ ])["'`]?"""
        r"""(?P<secret>[A-Za-z0-9+/_.!@#^*~-]{16,200}={0,2})(?![\w(\[{&=])""",
    ),
    "",
    "",
)
_URL_LOGIN = Rule(
    "secret-suspected",
    "warning",
    ("://",),
    re.compile(r"://[\w.%-]{1,64}:(?P<secret>[^\s:/@\"'`<>{}$]{6,128})@[\w-]{1,63}\.[\w.-]{2,190}"),
    "",
    "",
)
_LOCAL = re.compile(r"[.](?:local|internal|test|example|invalid)\b|\bexample[.]|localhost")


WORDS = _ASSIGNED.words | _URL_LOGIN.words | PRIVATE_KEY.rule.words
"""What a text is searched for before a rule is tried."""


def scan(text: Text) -> Iterator[Finding]:
    """Findings about credentials in one file, one for a line; none holds what was found."""
    seen: set[int] = set()
    told = range(0)
    for kind, at, certain in _found(text):
        if at in told:
            continue
        told = range(at, text.line_end(at))
        line = text.line(at)
        if line in seen:
            continue
        seen.add(line)
        yield _finding(text, line, kind, certain)
        if len(seen) == MAX_PER_FILE:
            return


def redact(message: str) -> str:
    """The message with everything that is, or may be, a credential replaced by `[secret]`."""
    text = Text("", message)
    spans = sorted(
        match.span("secret")
        for form in (*FORMATS, JWT, PRIVATE_KEY)
        for match in form.rule.matches(text)
        if not is_placeholder(match["secret"])
    )
    for start, end in reversed(spans):
        message = message[:start] + REDACTED + message[end:]
    return message


def is_placeholder(secret: str) -> bool:
    """Whether a credential was made up for documentation: telling words, few characters, a sequence."""
    if _MADE_UP.search(secret) or len(set(secret)) <= min(6, len(secret) // 3):
        return True
    steps = sum(0 <= ord(b) - ord(a) <= 1 for a, b in pairwise(secret))
    return steps * 2 > len(secret)


def _found(text: Text) -> Iterator[tuple[str, int, bool]]:
    """What kind of credential, where it starts, and whether that is certain; certain ones first."""
    if PRIVATE_KEY.rule.may_apply(text):
        for match in _judged(PRIVATE_KEY.rule, text):
            if _is_key_body(match["secret"]):
                yield PRIVATE_KEY.kind, match.start(), not _ENCRYPTED_KEY.search(match.group())
    runs = _runs(text.encoded)
    for form in _CERTAIN_FIRST if _ANY_ANCHOR.search(runs) else ():
        if any(anchor in runs for anchor in form.rule.anchors):
            for match in _judged(form.rule, text):
                if not is_placeholder(match["secret"]):
                    yield form.kind, match.start("secret"), form.certain
    if not text.binary:
        yield from _suspected(text, runs)


def _judged(rule: Rule, text: Text) -> Iterator[re.Match[str]]:
    """The matches of a rule, as long as the file has not been looked at for too long."""
    for match in rule.matches(text):
        if text.judged[rule.code] == MAX_JUDGED:
            text.given_up.add(rule.code)
            return
        text.judged[rule.code] += 1
        yield match


def _runs(encoded: bytes) -> str:
    """The runs of characters that are long enough for a format, each in a line."""
    marked = encoded.translate(_IN_RUNS) + b" "
    runs: list[bytes] = []
    end = marked.find(_RUN)
    while end >= 0:
        end += LEAST_RUN
        runs.append(encoded[marked.rfind(b" ", 0, end) + 1 : end])
        end = marked.find(_RUN, end)
    return b"\n".join(runs).decode("ascii")


def _suspected(text: Text, runs: str) -> Iterator[tuple[str, int, bool]]:
    if "eyJ" in runs:
        for match in _judged(JWT.rule, text):
            if not _is_sample_token(match["payload"]):
                yield JWT.kind, match.start(), False
    if text.holds("@") and _URL_LOGIN.may_apply(text):
        for match in _judged(_URL_LOGIN, text):
            if _is_password(match["secret"]) and not _LOCAL.search(match.group()):
                yield "a password in an address", match.start("secret"), False
    if _ASSIGNED.may_apply(text):
        for match in _judged(_ASSIGNED, text):
            if _is_random(match["secret"]):
                yield "a credential", match.start("secret"), False


def _finding(text: Text, line: int, kind: str, certain: bool) -> Finding:
    if certain:
        message = f"{text.path}, line {line}: this is {kind}."
        return error("secret-detected", message, _DETECTED_HINT, path=text.path, line=line)
    message = f"{text.path}, line {line}: this looks like {kind}."
    return warning("secret-suspected", message, _SUSPECTED_HINT, path=text.path, line=line)


def _is_key_body(body: str) -> bool:
    """Whether base64 follows, long enough for a key; documentation stops at dots."""
    letters = re.sub(r"\s|\\n", "", body)
    return len(letters) >= 60 and "..." not in letters and not is_placeholder(letters[:120])


def _is_sample_token(payload: str) -> bool:
    """Whether a JSON Web Token is one of those that every tutorial shows."""
    try:
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return True
    return not isinstance(claims, dict) or claims.get("sub") in ("1234567890", "user123", "123")


def _is_password(secret: str) -> bool:
    """Whether a password in an address is more than `user:password`."""
    kinds = sum(bool(re.search(kind, secret)) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[^a-zA-Z0-9]"))
    return kinds >= 3 and len(secret) >= 10 and not is_placeholder(secret)


def _is_random(value: str) -> bool:
    """Whether an assigned value looks drawn at random rather than named or computed."""
    if is_placeholder(value) or not re.search(r"[0-9]", value) or not re.search(r"[A-Za-z]", value):
        return False
    # Dotted names, paths, sentences-in-kebab-case and dates are what code assigns most often.
    if re.search(
        r"[a-z]{3}[-_./=][a-z]{3}|[A-Z]{3}[-_][A-Z]{3}|[a-z]{2}[.][A-Za-z]{3}|^\d{4}-|^0x[0-9a-fA-F]+$", value
    ):
        return False
    entropy = -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
    return entropy >= (3.0 if re.fullmatch(r"[0-9a-f]+", value) else 3.7)
