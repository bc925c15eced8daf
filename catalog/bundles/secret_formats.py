"""The formats of credentials, as their issuers publish them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from catalog.bundles.rules import Rule

_LEFT = r"(?<![A-Za-z0-9_])"
_RIGHT = r"(?![A-Za-z0-9_])"


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

JWT = _format(
    "a JSON Web Token",
    "eyJ",
    r"(?<![\w.-])eyJ[\w-]{10,1000}\.(?P<payload>eyJ[\w-]{10,8000})\.(?P<secret>[\w-]{20,1000})",
    certain=False,
    bounded=False,
)
PRIVATE_KEY = _format(
    "a private key",
    "-----BEGIN",
    r"-----BEGIN (?:[A-Z]{2,9} )?PRIVATE KEY(?: BLOCK)?-----(?P<secret>[\sA-Za-z0-9+/=,:.\\-]{1,200})",
    bounded=False,
)
