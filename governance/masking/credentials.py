"""Keys and tokens whose issuers gave them a form of their own, and what follows `Bearer` and `Basic`.

The forms are those of the issuers' documentation; lengths are lenient, for issuers lengthen their keys.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from governance.masking.masks import JWT, KEY, TOKEN
from governance.masking.spans import Span
from governance.masking.words import PARTING

# What stands before the part that was drawn at random, and that part.
_FORMS: dict[str, str] = {
    "ghp_ gho_ ghu_ ghs_ ghr_": r"[A-Za-z0-9]{16,255}",  # GitHub
    "github_pat_": r"[A-Za-z0-9_]{16,255}",
    "sk-": r"[A-Za-z0-9_-]{16,255}",  # OpenAI, Anthropic, OpenRouter, DeepSeek
    "sk_live_ rk_live_ sk_test_ rk_test_": r"[A-Za-z0-9]{10,255}",  # Stripe
    "whsec_": r"[A-Za-z0-9+/=]{16,255}",
    "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-": r"[A-Za-z0-9%-]{10,255}",  # Slack
    "xoxe.": r"xox[bp]-[A-Za-z0-9-]{10,255}",
    "glpat- gloas- gldt- glrt- glrtr- glcbt- glptt- glft- glimt- glagent- glsoat- glffct- glwt-": r"[A-Za-z0-9_.-]{16,255}",
    "GOCSPX-": r"[A-Za-z0-9_-]{20,40}",  # Google
    "ya29.": r"[A-Za-z0-9_-]{16,2048}",
    "hf_ api_org_": r"[A-Za-z0-9]{30,64}",  # Hugging Face
    "gsk_": r"[A-Za-z0-9]{40,64}",  # Groq
    "xai-": r"[A-Za-z0-9]{60,100}",
    "pplx-": r"[A-Za-z0-9]{40,64}",  # Perplexity
    "r8_": r"[A-Za-z0-9]{30,48}",  # Replicate
    "npm_": r"[A-Za-z0-9]{30,64}",
    "pypi-": r"[A-Za-z0-9_-]{40,512}",
    "dckr_pat_ dckr_oat_": r"[A-Za-z0-9_-]{20,64}",  # Docker
    "SG.": r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}",  # SendGrid
    "key-": r"[a-f0-9]{32}",  # Mailgun
    "dop_v1_ doo_v1_ dor_v1_": r"[a-f0-9]{64}",  # DigitalOcean
    "shpat_ shpca_ shppa_ shpss_": r"[A-Fa-f0-9]{32}",  # Shopify
    "sq0atp- sq0csp- sq0idp-": r"[A-Za-z0-9_-]{20,64}",  # Square
    "ntn_ secret_": r"[A-Za-z0-9]{40,64}",  # Notion
    "lin_api_ lin_oauth_": r"[A-Za-z0-9]{32,64}",  # Linear
    "figd_ figr_ figu_": r"[A-Za-z0-9_-]{30,64}",  # Figma
    "PMAK-": r"[a-f0-9]{24}-[a-f0-9]{34}",  # Postman
    "glsa_": r"[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}",  # Grafana
    "sbp_": r"[a-f0-9]{40}",  # Supabase
    "sntrys_ sntryu_": r"[A-Za-z0-9+/=_-]{30,255}",  # Sentry
    "NRAK-": r"[A-Z0-9]{27}",  # New Relic
    "hvs. hvb. hvr.": r"[A-Za-z0-9_-]{20,255}",  # Vault
    "AGE-SECRET-KEY-": r"1[A-Z0-9]{50,64}",
    "qm_": r"[A-Za-z0-9_-]{16,255}",  # our own
}
_STARTS = {start: re.compile(form) for starts, form in _FORMS.items() for start in starts.split()}
_ALL_STARTS = tuple(_STARTS)
_LONGEST_START = max(map(len, _STARTS))
# Each of them ends with one of these, and ten characters at least follow.
_SIGN = re.compile(r"[_\-.](?=[A-Za-z0-9_\-%+/=]{10})")
# Those that no mark divides.
_UNMARKED = re.compile(
    r"A(?:KIA[A-Z0-9]{16}|SIA[A-Z0-9]{16}|BIA[A-Z0-9]{16}|CCA[A-Z0-9]{16}"  # Amazon
    r"|Iza[A-Za-z0-9_-]{30,40}"  # Google
    r"|KID[A-Za-z0-9]{13,40}"  # Tencent
    r"|TATT3[A-Za-z0-9_=-]{40,255})"  # Atlassian
    r"|LTAI[A-Za-z0-9]{12,24}"  # Alibaba
)
_DATABRICKS = re.compile(r"dapi[a-f0-9]{32}(?:-[0-9])?")
_TELEGRAM = re.compile(r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}")
# Words joined by hyphens or underscores: `sk-learn-estimators`, `qm_masking_key_rotation`.
_NAME = re.compile(r"(?:[a-z]{1,20}|v?[0-9]{1,4})(?:[_-](?:[a-z]{1,20}|v?[0-9]{1,4}))+")
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
SIGNS = ("ABIA", "ACCA", "LTAI", "dapi", "hvb.", "ya29.")
_SCHEME_SIGNS = ("earer", "EARER", "asic", "ASIC")


def find(text: str) -> Iterator[Span]:
    """Keys, JSON Web Tokens, private keys, webhooks, and credentials behind a scheme; the normal form is the value."""
    yield from _marked(text)
    yield from _keys(text, _UNMARKED)
    if "dapi" in text:
        yield from _keys(text, _DATABRICKS)
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


def _marked(text: str) -> Iterator[Span]:
    """Keys found by the mark that ends their beginning, as the hyphen of `sk-`."""
    taken = 0
    for sign in _SIGN.finditer(text):
        at = sign.end()
        if not text.endswith(_ALL_STARTS, taken, at):
            continue
        for begin in range(max(taken, at - _LONGEST_START), at - 1):
            form = _STARTS.get(text[begin:at]) if text[begin - 1 : begin] not in _GLUE else None
            match = form.match(text, at) if form else None
            if match:
                taken = match.end()
                if not _NAME.fullmatch(text, begin, taken):
                    yield Span(begin, taken, KEY, text[begin:taken])
                break


def _keys(text: str, shape: re.Pattern[str]) -> Iterator[Span]:
    match = shape.search(text)
    while match:
        start, end = match.span()
        if text[start - 1 : start] not in _GLUE and not _NAME.fullmatch(match.group()):
            yield Span(start, end, KEY, match.group())
        else:
            end = start + 1
        match = shape.search(text, end)


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
