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
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

from catalog.bundles.findings import Finding, error, warning
from catalog.bundles.texts import Rule, Text

REDACTED = "[secret]"
MAX_PER_FILE = 100
MAX_JUDGED = 10_000
"""Credentials of one file that are looked at closely, so that no file can hold a scan up."""

_DETECTED_HINT = "Revoke it with its issuer, take it out of the bundle and read it from the environment."
_SUSPECTED_HINT = (
    "Where it is real, revoke it and read it from the environment; where not, use a placeholder."
)

_LEFT = r"(?<![A-Za-z0-9_])"
_RIGHT = r"(?![A-Za-z0-9_])"

# What placeholders are made of. Three letters would meet random keys too often.
_MADE_UP = re.compile(
    r"example|sample|placeholder|dummy|your|change.?me|replace|redact|insert|todo|xxxx|\*{3}|\.{3}"
    r"|fake|mysecret|mytoken|mypass|notreal|test_?key|(?-i:abcdef|ABCDEF)|12345678|deadbeef|[<>]|\$\{"
    r"|here$|secret_?key$|^password|^token",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Format:
    """How an issuer's credential looks; the group `secret` is the part that was drawn at random."""

    kind: str
    rule: Rule
    certain: bool = True


def _format(kind: str, anchors: str, pattern: str, *, certain: bool = True, bounded: bool = True) -> Format:
    if bounded:
        pattern = f"{_LEFT}{pattern}{_RIGHT}"
    rule = Rule(
        "secret-detected" if certain else "secret-suspected",
        "error",
        tuple(anchors.split()),
        re.compile(pattern, re.ASCII),
        "",
        "",
        fold=False,
    )
    return Format(kind, rule, certain)


LEAST_RUN = 20
"""Every format but that of a private key is a run of at least so many of these characters."""
# What a format may hold becomes "x", all else a space.
_IN_RUNS = bytes(
    ord("x" if (chr(code).isalnum() and code < 128) or chr(code) in "_./+=:-" else " ") for code in range(256)
)
_RUN = b"x" * LEAST_RUN

FORMATS = (
    _format("an AWS access key", "AKIA ASIA", r"A(?:KI|SI)A(?P<secret>[A-Z2-7]{16})"),
    _format("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_(?P<secret>[A-Za-z0-9]{36,251})"),
    _format("a GitHub token", "github_pat_", r"github_pat_(?P<secret>[A-Za-z0-9]{22}_[A-Za-z0-9]{59})"),
    _format("a GitLab token", "glpat-", r"glpat-(?P<secret>[\w-]{20,64})"),
    _format(
        "a Slack token",
        "xox",
        r"xox[abeprs]-(?:\d{1,2}-)?(?:\d{9,15}-){1,3}(?P<secret>[A-Za-z0-9]{16,146})",
    ),
    _format("a Slack app token", "xapp-", r"xapp-\d-[A-Z0-9]{9,13}-\d{9,15}-(?P<secret>[a-f0-9]{64})"),
    _format(
        "a Slack webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows)/T\w{7,12}/[AB]\w{7,12}/(?P<secret>[A-Za-z0-9]{20,26})",
    ),
    _format("an Anthropic key", "sk-ant-", r"sk-ant-[a-z]{3,8}\d\d-(?P<secret>[\w-]{80,120})"),
    _format(
        "an OpenAI key", "sk-", r"sk-(?:proj-|svcacct-|admin-)?(?P<secret>[\w-]{20,150}T3BlbkFJ[\w-]{20,150})"
    ),
    _format("an OpenRouter key", "sk-or-v1-", r"sk-or-v1-(?P<secret>[a-f0-9]{64})"),
    _format("a service key", "sk-", r"sk-(?P<secret>[a-f0-9]{32}|[A-Za-z0-9]{48})", certain=False),
    _format("a Groq key", "gsk_", r"gsk_(?P<secret>[A-Za-z0-9]{52})"),
    _format("an xAI key", "xai-", r"xai-(?P<secret>[A-Za-z0-9]{80})"),
    _format("a Perplexity key", "pplx-", r"pplx-(?P<secret>[A-Za-z0-9]{48})"),
    _format("a Replicate token", "r8_", r"r8_(?P<secret>[A-Za-z0-9]{37})"),
    _format("a Hugging Face token", "hf_", r"hf_(?P<secret>[A-Za-z]{34})"),
    _format("a Google key", "AIza", r"AIza(?P<secret>[\w-]{35})"),
    _format("a Google client secret", "GOCSPX-", r"GOCSPX-(?P<secret>[\w-]{28})"),
    _format("a Google access token", "ya29.", r"ya29\.(?P<secret>[\w-]{60,250})"),
    _format("a Stripe live key", "sk_live_ rk_live_", r"[sr]k_live_(?P<secret>[A-Za-z0-9]{16,247})"),
    _format(
        "a Stripe test key", "sk_test_ rk_test_", r"[sr]k_test_(?P<secret>[A-Za-z0-9]{16,247})", certain=False
    ),
    _format("a SendGrid key", "SG.", r"SG\.[\w-]{22}\.(?P<secret>[\w-]{43})"),
    _format("an npm token", "npm_", r"npm_(?P<secret>[A-Za-z0-9]{36})"),
    _format("a PyPI token", "pypi-AgEIcHlwaS5vcmc", r"pypi-AgEIcHlwaS5vcmc(?P<secret>[\w-]{50,250})"),
    _format("a Telegram bot token", ":AA", r"(?<=\d{8}):AA(?P<secret>[\w-]{33})(?![\w-])", bounded=False),
    _format(
        "a DigitalOcean token",
        "_v1_",
        rf"(?<=\bdo[opr])_v1_(?P<secret>[a-f0-9]{{64}}){_RIGHT}",
        bounded=False,
    ),
    _format("a Databricks token", "dapi", r"dapi(?P<secret>[a-f0-9]{32}(?:-\d)?)"),
    _format("a Shopify token", "shp", r"shp(?:at|ca|pa|ss)_(?P<secret>[a-fA-F0-9]{32})"),
    _format("a Notion token", "ntn_", r"ntn_(?P<secret>[A-Za-z0-9]{46})"),
    _format("a Linear key", "lin_api_", r"lin_api_(?P<secret>[A-Za-z0-9]{40})"),
    _format("an Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.(?P<secret>[a-f0-9]{64})"),
    _format("a Figma token", "figd_", r"figd_(?P<secret>[\w-]{40,50})"),
    _format("a Postman key", "PMAK-", r"PMAK-(?P<secret>[a-f0-9]{24}-[a-f0-9]{34})"),
    _format("a Grafana token", "glsa_", r"glsa_(?P<secret>[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})"),
    _format("a Supabase token", "sbp_", r"sbp_(?P<secret>[a-f0-9]{40})"),
    _format("a Vault token", "hvs.", r"hvs\.(?P<secret>[\w-]{90,120})"),
    _format("an Atlassian token", "ATATT3", r"ATATT3(?P<secret>[\w=-]{180,200})"),
    _format("an age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1(?P<secret>[A-Z0-9]{58})"),
    _format(
        "an Azure storage key", "AccountKey=", r"AccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)", bounded=False
    ),
    _format("a Tencent Cloud key", "AKID", r"AKID(?P<secret>[A-Za-z0-9]{32})", certain=False),
    _format("an Alibaba Cloud key", "LTAI", r"LTAI(?P<secret>[A-Za-z0-9]{17,21})", certain=False),
)

_CERTAIN_FIRST = tuple(sorted(FORMATS, key=lambda form: not form.certain))
_JWT = _format(
    "a JSON Web Token",
    "eyJ",
    r"(?<![\w.-])eyJ[\w-]{10,1000}\.(?P<payload>eyJ[\w-]{10,8000})\.(?P<secret>[\w-]{20,1000})",
    certain=False,
    bounded=False,
)
_PRIVATE_KEY = _format(
    "a private key",
    "-----BEGIN",
    r"-----BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY(?: BLOCK)?-----(?P<secret>[\sA-Za-z0-9+/=,:.\\-]{1,200})",
    bounded=False,
)
_ENCRYPTED_KEY = re.compile(r"BEGIN ENCRYPTED|Proc-Type: ?4,ENCRYPTED")

_ASSIGNED = Rule(
    "secret-suspected",
    "warning",
    ("password", "passwd", "secret", "token", "api_key", "apikey", "api-key", "access_key", "bearer "),
    re.compile(
        r"""[A-Za-z_-]{6,40}["']?(?:[ \t]{0,4}(?::=|=>|[:=])[ \t]{0,4}|[ ])["'`]?"""
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


WORDS = _ASSIGNED.words | _URL_LOGIN.words | _PRIVATE_KEY.rule.words
"""What `scan` has to be told of a text."""


def scan(text: Text, held: Collection[str]) -> Iterator[Finding]:
    """Findings about credentials in one file, one for a line; none holds what was found.

    `held` are the `WORDS` that the text may hold.
    """
    seen: set[int] = set()
    told = range(0)
    for kind, at, certain in _found(text, held):
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
        for form in (*FORMATS, _JWT, _PRIVATE_KEY)
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


def _found(text: Text, held: Collection[str]) -> Iterator[tuple[str, int, bool]]:
    """What kind of credential, where it starts, and whether that is certain; certain ones first."""
    if _PRIVATE_KEY.rule.may_apply(held):
        for match in _judged(_PRIVATE_KEY.rule, text):
            if _is_key_body(match["secret"]):
                yield _PRIVATE_KEY.kind, match.start(), not _ENCRYPTED_KEY.search(match.group())
    runs = _runs(text.text)
    for form in _CERTAIN_FIRST if runs else ():
        if any(anchor in runs for anchor in form.rule.anchors):
            for match in _judged(form.rule, text):
                if not is_placeholder(match["secret"]):
                    yield form.kind, match.start("secret"), form.certain
    if not text.binary:
        yield from _suspected(text, runs, held)


def _judged(rule: Rule, text: Text) -> Iterator[re.Match[str]]:
    """The matches of a rule, as long as the file has not been looked at for too long."""
    for match in rule.matches(text):
        if text.judged[rule.code] == MAX_JUDGED:
            text.given_up.add(rule.code)
            return
        text.judged[rule.code] += 1
        yield match


def _runs(text: str) -> str:
    """The runs of characters that are long enough for a format, each in a line."""
    # What is not ASCII becomes several spaces, so that the places are those of the bytes.
    data = text.encode("utf-8", "surrogatepass")
    marked = data.translate(_IN_RUNS)
    runs: list[bytes] = []
    start = marked.find(_RUN)
    while start >= 0:
        end = marked.find(b" ", start)
        end = len(marked) if end < 0 else end
        runs.append(data[start:end])
        start = marked.find(_RUN, end)
    return b"\n".join(runs).decode("ascii")


def _suspected(text: Text, runs: str, held: Collection[str]) -> Iterator[tuple[str, int, bool]]:
    if "eyJ" in runs:
        for match in _judged(_JWT.rule, text):
            if not _is_sample_token(match["payload"]):
                yield _JWT.kind, match.start(), False
    if "@" in text.text and _URL_LOGIN.may_apply(held):
        for match in _judged(_URL_LOGIN, text):
            if _is_password(match["secret"]) and not _LOCAL.search(match.group()):
                yield "a password in an address", match.start("secret"), False
    if _ASSIGNED.may_apply(held):
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
