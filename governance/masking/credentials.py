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

# How a key begins, and the rest of it.
_FORMS: tuple[tuple[str, str], ...] = (
    ("gh", r"gh[pousr]_[A-Za-z0-9]{16,255}"),  # GitHub
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{16,255}"),
    ("sk-", r"sk-[A-Za-z0-9_-]{16,255}"),  # OpenAI, Anthropic, OpenRouter, DeepSeek
    ("k_live_", r"[sr]k_live_[A-Za-z0-9]{10,255}"),  # Stripe
    ("k_test_", r"[sr]k_test_[A-Za-z0-9]{10,255}"),
    ("whsec_", r"whsec_[A-Za-z0-9+/=]{16,255}"),
    ("xox", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,255}"),  # Slack
    ("xapp-", r"xapp-[A-Za-z0-9-]{10,255}"),
    ("gl", r"gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[A-Za-z0-9_.-]{16,255}"),  # GitLab
    ("AIza", r"AIza[A-Za-z0-9_-]{30,40}"),  # Google
    ("GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,40}"),
    ("ya29.", r"ya29\.[A-Za-z0-9_-]{16,2048}"),
    ("AKIA", r"AKIA[A-Z0-9]{16}"),  # Amazon
    ("ASIA", r"ASIA[A-Z0-9]{16}"),
    ("ABIA", r"ABIA[A-Z0-9]{16}"),
    ("ACCA", r"ACCA[A-Z0-9]{16}"),
    ("AKID", r"AKID[A-Za-z0-9]{13,40}"),  # Tencent
    ("LTAI", r"LTAI[A-Za-z0-9]{12,24}"),  # Alibaba
    ("hf_", r"hf_[A-Za-z0-9]{30,64}"),  # Hugging Face
    ("gsk_", r"gsk_[A-Za-z0-9]{40,64}"),  # Groq
    ("xai-", r"xai-[A-Za-z0-9]{60,100}"),
    ("pplx-", r"pplx-[A-Za-z0-9]{40,64}"),
    ("r8_", r"r8_[A-Za-z0-9]{30,48}"),  # Replicate
    ("npm_", r"npm_[A-Za-z0-9]{30,64}"),
    ("pypi-", r"pypi-[A-Za-z0-9_-]{40,512}"),
    ("dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,64}"),  # Docker
    ("SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),  # SendGrid
    ("key-", r"key-[a-f0-9]{32}"),  # Mailgun
    ("-us", r"[a-f0-9]{32}-us[0-9]{1,2}"),  # Mailchimp
    ("_v1_", r"do[opr]_v1_[a-f0-9]{64}"),  # DigitalOcean
    ("shp", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),  # Shopify
    ("sq0", r"sq0[a-z]{3}-[A-Za-z0-9_-]{20,64}"),  # Square
    ("ntn_", r"ntn_[A-Za-z0-9]{40,64}"),  # Notion
    ("secret_", r"secret_[A-Za-z0-9]{40,64}"),
    ("lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),  # Linear
    ("fig", r"fig[dru]_[A-Za-z0-9_-]{30,64}"),  # Figma
    ("PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),  # Postman
    ("glsa_", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),  # Grafana
    ("sbp_", r"sbp_[a-f0-9]{40}"),  # Supabase
    ("ATATT3", r"ATATT3[A-Za-z0-9_=-]{40,255}"),  # Atlassian
    ("sntry", r"sntry[su]_[A-Za-z0-9+/=_-]{30,255}"),  # Sentry
    ("NRAK-", r"NRAK-[A-Z0-9]{27}"),  # New Relic
    ("dapi", r"dapi[a-f0-9]{32}(?:-[0-9])?"),  # Databricks
    ("hvs.", r"hvs\.[A-Za-z0-9_-]{20,255}"),  # Vault
    ("hvb.", r"hvb\.[A-Za-z0-9_-]{20,255}"),
    (":AA", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}"),  # Telegram
    ("AGE-SEC", r"AGE-SECRET-KEY-1[A-Z0-9]{50,64}"),
    ("qm_", r"qm_[A-Za-z0-9_-]{16,255}"),  # our own
)
_KEYS = tuple((start, re.compile(form)) for start, form in _FORMS)
# Words joined by hyphens or underscores: `sk-learn-estimators`, `qm_masking_key_rotation`.
_NAME = re.compile(r"(?:[a-z]{1,20}|v?[0-9]{1,4})(?:[_-](?:[a-z]{1,20}|v?[0-9]{1,4}))+")
_GLUE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")

_PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_JWT = re.compile(
    r"eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+\.?(?:[A-Za-z0-9_-]{2,}+\.?){0,3}(?<=[A-Za-z0-9_-])"
)
_WEBHOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,128})"
    r"|discord(?:app)?\.com/api/webhooks/([0-9]{10,24}/[A-Za-z0-9_-]{20,128})"
)
_SCHEME = re.compile(r"(?<![A-Za-z0-9_])(bearer|basic)[ \t]{1,4}([A-Za-z0-9._~+/-]{6,}+=*+)", re.IGNORECASE)
_SCHEME_SIGNS = ("earer ", "EARER ", "asic ", "ASIC ", "earer\t", "asic\t")


def find(text: str) -> Iterator[Span]:
    """Keys, JSON Web Tokens, private keys, webhooks, and credentials behind a scheme; the normal form is the value."""
    if len(text) < 16:
        return
    for start, shape in _KEYS:
        if start in text:
            yield from _keys(text, shape)
    if "-----BEGIN" in text:
        yield from _private_keys(text)
    if "eyJ" in text:
        yield from _tokens(text)
    if "hook" in text:
        for match in _WEBHOOK.finditer(text):
            yield Span(match.start(), match.end(), KEY, match[1] or match[2])
    if any(sign in text for sign in _SCHEME_SIGNS):
        yield from _behind_schemes(text)


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
    match = _JWT.search(text)
    while match:
        start, end = match.span()
        if text[start - 1 : start] not in _GLUE and "." in match.group():
            yield Span(start, end, JWT, match.group())
        match = _JWT.search(text, end)


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
