"""What the name of a field, a header or a parameter tells of its value."""

from __future__ import annotations

import re
from functools import lru_cache

PLAIN, SECRET, COOKIE, PHONE, MEASURE, VERSION = "plain", "secret", "cookie", "phone", "measure", "version"

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT = re.compile(r"[^0-9a-zA-Z\u0080-\uffff]+")
_SECRET_WORDS = frozenset(
    [
        "password",
        "passwd",
        "passwort",
        "passphrase",
        "passcode",
        "pwd",
        "pass",
        "secret",
        "secrets",
        "credential",
        "credentials",
        "creds",
        "authorization",
        "apikey",
        "apikeys",
        "secretkey",
        "privatekey",
        "accesskey",
        "authkey",
        "token",
        "accesstoken",
        "refreshtoken",
        "authtoken",
        "idtoken",
        "sessiontoken",
        "jwt",
        "bearer",
        "otp",
        "totp",
        "pin",
        "cvv",
        "cvc",
        "cvv2",
        "cvc2",
        "signature",
        "sig",
        "mnemonic",
        "密码",
        "口令",
        "密钥",
        "秘钥",
        "令牌",
        "私钥",
        "验证码",
        "授权码",
        "登录密码",
        "支付密码",
        "访问令牌",
        "api密钥",
        "пароль",
        "пароли",
        "секрет",
        "токен",
        "пин",
        "пинкод",
    ]
)
_KEY_OWNERS = frozenset(
    [
        "api",
        "secret",
        "private",
        "access",
        "auth",
        "signing",
        "encryption",
        "master",
        "account",
        "service",
        "shared",
        "storage",
        "subscription",
        "секретный",
        "закрытый",
        "приватный",
    ]
)
_COUNTING = frozenset(
    [
        "count",
        "counts",
        "limit",
        "max",
        "min",
        "total",
        "used",
        "usage",
        "budget",
        "num",
        "number",
        "length",
        "len",
        "size",
        "type",
        "expires",
        "expiry",
        "expiration",
        "ttl",
        "name",
        "id",
        "ids",
        "policy",
        "rate",
        "input",
        "output",
        "prompt",
        "completion",
        "cached",
        "reasoning",
        "per",
        "cost",
        "price",
        "hint",
        "required",
        "enabled",
        "reset",
        "changed",
        "url",
        "uri",
        "endpoint",
        "lifetime",
        "version",
        "strength",
        "rotation",
        "field",
        "label",
    ]
)
_PHONE_WORDS = frozenset(
    [
        "phone",
        "phones",
        "telephone",
        "tel",
        "mobile",
        "cell",
        "cellphone",
        "msisdn",
        "whatsapp",
        "fax",
        "telefon",
        "handy",
        "rufnummer",
        "phonenumber",
        "mobilephone",
        "手机",
        "手机号",
        "手机号码",
        "电话",
        "电话号码",
        "联系电话",
        "联系方式",
        "телефон",
        "тел",
        "мобильный",
        "факс",
    ]
)
_MEASURE_WORDS = frozenset(
    [
        "ms",
        "ns",
        "us",
        "sec",
        "secs",
        "seconds",
        "millis",
        "nanos",
        "micros",
        "time",
        "timestamp",
        "ts",
        "duration",
        "latency",
        "elapsed",
        "bytes",
        "size",
        "length",
        "count",
        "total",
        "tokens",
        "offset",
        "cost",
        "price",
        "amount",
        "sum",
        "revision",
        "seq",
        "sequence",
        "number",
        "at",
    ]
)
_CJK_SECRET = ("密码", "口令", "密钥", "秘钥", "令牌", "私钥")


@lru_cache(maxsize=8192)
def role_of(name: str) -> str:
    """PLAIN, or what kind of value stands under this name; names longer than 100 characters tell nothing."""
    if len(name) > 100:
        return PLAIN
    words = [word.lower() for part in _SPLIT.split(name) for word in _CAMEL.split(part) if word]
    known = set(words)
    if not words:
        return PLAIN
    if "cookie" in known or "cookies" in known:
        return PLAIN if known & _COUNTING else COOKIE
    if _is_secret(words, known):
        return SECRET
    if known & _PHONE_WORDS:
        return PHONE
    if "version" in known or "版本" in known or "версия" in known:
        return VERSION
    if words[-1] in _MEASURE_WORDS:
        return MEASURE
    return PLAIN


def _is_secret(words: list[str], known: set[str]) -> bool:
    if known & _COUNTING or "tokens" in known:
        return False
    if known & _SECRET_WORDS or any(part in word for word in words for part in _CJK_SECRET):
        return True
    key = {"key", "keys", "ключ", "ключи"} & known
    return bool(key and known & _KEY_OWNERS)
