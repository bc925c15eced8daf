"""The forms in which issuers write their keys and tokens.

They are those of the issuers' documentation; lengths are lenient, for issuers lengthen their keys.
"""

from __future__ import annotations

import re
from typing import Final

# What stands before the part that was drawn at random, and that part.
FORMS: Final[dict[str, str]] = {
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
    "sk_": r"[a-f0-9]{48}",  # ElevenLabs
    "rk_prod_ sk_prod_": r"[A-Za-z0-9]{10,255}",  # Stripe
    "amzn.mws.": r"[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
    "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.": r"[A-Za-z0-9_.]{40,64}",  # Doppler
    "pul-": r"[a-f0-9]{40}",  # Pulumi
    "pscale_tkn_ pscale_pw_ pscale_oauth_": r"[A-Za-z0-9_.=-]{32,64}",  # PlanetScale
    "dt0c01. dt0s16. dt0s01.": r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}",  # Dynatrace
    "phc_ phx_ phs_ phr_": r"[A-Za-z0-9]{32,64}",  # PostHog
    "tvly-": r"[A-Za-z0-9-]{20,64}",  # Tavily
    "lsv2_pt_ lsv2_sk_": r"[a-f0-9]{32}_[a-f0-9]{10}",  # LangSmith
    "rubygems_": r"[a-f0-9]{48}",
    "CFPAT-": r"[A-Za-z0-9_-]{43}",  # Contentful
    "nvapi-": r"[A-Za-z0-9_-]{50,80}",  # NVIDIA
    "csk-": r"[a-z0-9]{40,64}",  # Cerebras
    "fw_": r"[A-Za-z0-9]{22,32}",  # Fireworks
    "jina_": r"[A-Za-z0-9_-]{40,80}",
    "pcsk_": r"[A-Za-z0-9_]{50,90}",  # Pinecone
    "rzp_live_ rzp_test_ shippo_live_ shippo_test_ duffel_live_ duffel_test_": r"[A-Za-z0-9_=-]{14,64}",
    "xkeysib- xsmtpsib-": r"[a-f0-9]{64}-[A-Za-z0-9]{16}",  # Brevo
    "nfp_": r"[A-Za-z0-9_]{36,40}",  # Netlify
    "HRKU-": r"[A-Za-z0-9_-]{36,64}",  # Heroku
    "sgp_": r"(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}",  # Sourcegraph
    "sqp_ squ_ sqa_": r"[a-f0-9]{40}",  # SonarQube
    "tfp_": r"[A-Za-z0-9_=.-]{40,64}",  # Typeform
    "pat-na1- pat-eu1-": r"[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",  # HubSpot
    "glc_": r"[A-Za-z0-9+/=]{32,400}",  # Grafana
    "ops_": r"eyJ[A-Za-z0-9+/=_-]{40,2048}",  # 1Password
    "pnu_ pnb_": r"[A-Za-z0-9]{36}",  # Prefect
    "rdme_": r"[a-z0-9]{70}",
    "sb_secret_": r"[A-Za-z0-9_-]{20,64}",  # Supabase
    "aio_": r"[A-Za-z0-9]{28}",  # Adafruit
    "NRJS- NRII- NRRA-": r"[A-Za-z0-9-]{19,42}",  # New Relic
    "bkua_": r"[a-z0-9]{40}",  # Buildkite
    "CCIPAT_ CCIPRJ_": r"[A-Za-z0-9]{16,32}_[a-f0-9]{40}",  # CircleCI
    "ddp_ ddw_": r"[A-Za-z0-9]{36}",  # Deno
    "fo1_": r"[A-Za-z0-9_-]{43}",  # Fly
    "fm1r_ fm1a_ fm2_": r"[A-Za-z0-9+/=,_-]{80,2048}",
    "access-sandbox- access-development- access-production-": r"[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",  # Plaid
    "FLWSECK- FLWSECK_TEST-": r"[A-Za-z0-9-]{12,48}",  # Flutterwave
    "API-": r"[A-Z0-9]{26}",  # Octopus
    "A3-": r"[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5}",  # 1Password
    "sl.": r"(?:u\.)?[A-Za-z0-9_-]{100,2048}",  # Dropbox
    "fio-u-": r"[A-Za-z0-9_=-]{64}",
    "vcp_ vci_ vca_ vcr_ vck_": r"[A-Za-z0-9]{24,64}",  # Vercel
    "y0_": r"[A-Za-z0-9_-]{50,70}",  # Yandex
    "vk1.a.": r"[A-Za-z0-9_-]{60,255}",
    "ALTAK-": r"[A-Za-z0-9]{16,32}(?:/[a-f0-9]{40})?",  # Baidu
    "qm_": r"[A-Za-z0-9_-]{16,255}",  # our own
}
# Those that no mark divides.
UNMARKED: Final = re.compile(
    r"A(?:KIA[A-Z0-9]{16}|SIA[A-Z0-9]{16}|BIA[A-Z0-9]{16}|CCA[A-Z0-9]{16}"  # Amazon
    r"|Iza[A-Za-z0-9_-]{30,40}"  # Google
    r"|KID[A-Za-z0-9]{13,40}"  # Tencent
    r"|KLT[A-Za-z0-9]{16,60}"  # Volcano
    r"|QVN[A-Za-z0-9_-]{35,40}"  # Yandex
    r"|KCp[A-Za-z0-9]{60,80}"  # JFrog
    r"|TATT3[A-Za-z0-9_=-]{40,255})"  # Atlassian
    r"|LTAI[A-Za-z0-9]{12,24}"  # Alibaba
    r"|SK[a-f0-9]{32}(?![A-Za-z0-9])"  # Twilio
    r"|EAA[A-Za-z0-9]{90,400}"  # Meta
)
# Each behind characters that it cannot do without.
GUARDED: Final = (
    (("dapi",), re.compile(r"dapi[a-f0-9]{32}(?:-[0-9])?")),  # Databricks
    (("Q~",), re.compile(r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}")),  # Microsoft Entra
    (("JQQJ9",), re.compile(r"[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}")),  # Azure AI
    (("AZDO",), re.compile(r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}")),  # Azure DevOps
    (("1//0",), re.compile(r"1//0[A-Za-z0-9_-]{40,255}")),  # Google
    (("sha256~",), re.compile(r"sha256~[A-Za-z0-9_-]{43}")),  # OpenShift
    (("oy2",), re.compile(r"oy2[a-z0-9]{43}(?![A-Za-z0-9])")),  # NuGet
    (("cio",), re.compile(r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])")),  # crates.io
    (("-us",), re.compile(r"[a-f0-9]{32}-us[0-9]{1,2}(?![A-Za-z0-9])")),  # Mailchimp
    ((":APA91b",), re.compile(r"[A-Za-z0-9_-]{10,30}:APA91b[A-Za-z0-9_-]{100,200}")),  # Firebase
    ((".atlasv1.",), re.compile(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,80}")),  # Terraform
    (
        ("APIM", "ACDb", "+ABa", "+AMC", "+ASt"),
        re.compile(r"[A-Za-z0-9+/]{76}(?:APIM|ACDb|\+(?:ABa|AMC|ASt))[A-Za-z0-9+/]{5}[AQgw]=="),
    ),  # Azure
    (
        ("AIoT", "+ASb", "+AEh", "+ARm"),
        re.compile(r"[A-Za-z0-9+/]{33}(?:AIoT|\+(?:ASb|AEh|ARm))[A-P][A-Za-z0-9+/]{5}="),
    ),
    (("AzF",), re.compile(r"[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==")),
    (("AzSe",), re.compile(r"[A-Za-z0-9]{42}AzSe[A-D][A-Za-z0-9]{5}")),
    (("+ACR",), re.compile(r"[A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9+/]{5}")),
)
# Parts between full stops: a bot of Discord, a token of Airtable, a key of Zhipu.
DOTTED: Final = re.compile(
    r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"
    r"|[a-f0-9]{32}\.(?=[a-z]{0,15}[A-Z0-9])[A-Za-z0-9]{16}(?![A-Za-z0-9.])"
)
