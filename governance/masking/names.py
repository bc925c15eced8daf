"""What the name of a field, a header or a parameter tells of its value."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from governance.masking.words import words

PLAIN: Final = "plain"
SECRET: Final = "secret"  # noqa: S105 - the name of a role
WEAK: Final = "weak"  # as SECRET, though a small number under it is a count: `token`
CODE: Final = "code"  # as SECRET: a few digits that are sent or typed
COOKIE: Final = "cookie"
PHONE: Final = "phone"
MEASURE: Final = "measure"  # a number under it is an amount
OPAQUE: Final = "opaque"  # an identifier that a machine gave
VERSION: Final = "version"
ABOUT: Final = "about"  # what is said about a secret: `password_length`, `token_url`

HIDDEN: Final = frozenset((SECRET, WEAK, CODE, COOKIE))
_INHERITED: Final = HIDDEN | {PHONE}

# A list of headers or attributes names its values so: `{"name": "Authorization", "value": "…"}`.
NAMING: Final = ("name", "key", "field", "header")
NAMED: Final = frozenset(("value", "val", "values", "data"))
TELLING: Final = frozenset((*NAMING, "type"))
# JSON Schema describes a field called `password`; it holds none.
SCHEMA_TYPES: Final = frozenset(("string", "number", "integer", "boolean", "object", "array", "null"))

# One of these is in every name of a secret that ASCII or Cyrillic letters write.
STEMS: Final = (
    "pass", "pw", "ennwort", "secret", "cred", "auth", "key", "token", "jwt", "cookie", "sig", "cvv", "cvc", "otp", "pin",
    "contrase", "senha", "woord", "parol", "hasł", "hasl", "ifre", "mfa", "hmac", "assertion", "mnemonic", "sess", "bearer", "code", "phrase", "парол", "секрет", "токен", "ключ", "код", "пин",
)  # fmt: skip
_LONGEST = 100
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SPLIT = re.compile(r"[^0-9a-zA-Z\u0080-\uffff]+")
_SECRETS = words(
    "password passwords passwd passwort kennwort passphrase passcode pwd passwds userpass dbpass secret secrets credential "
    "credentials creds authorization apikey apikeys secretkey privatekey accesskey authkey accountkey sharedaccesskey "
    "accesstoken refreshtoken authtoken idtoken sessiontoken bearertoken apitoken clientsecret jwt xapikey xauthtoken "
    "csrftoken xsrftoken pgpassword apisecret clientassertion passw userpw dbpw pw hmac cvv cvc mnemonic sig jsessionid phpsessid sessid пароль пароли секрет пинкод "
    # In other languages of Europe.
    "motdepasse contraseña contrasena senha wachtwoord hasło haslo şifre sifre parola"
)
_WEAK = words("token pass bearer токен")
_PINS = words("pin otp totp mfa passcodes пин")
_KEYS = words("key keys ключ ключи")
_KEY_OWNERS = words(
    "api secret private access auth signing encryption decryption master account service shared storage subscription ssh "
    "rsa aes gpg pgp session license licence app client consumer deploy host webhook секретный закрытый приватный доступа"
)
_CODES = words("code код")
_CODE_OWNERS = words(
    "verification security confirmation auth authorization otp sms mfa pin recovery backup подтверждения безопасности смс пин доступа"
)
# A name that ends with one of these speaks about a secret: `password_policy`, `token_url`, `expires_in`.
_ABOUT = words(
    "count counts limit limits max min maximum minimum total used usage budget num len length size type types kind expires "
    "expiry expiration expired expire ttl name names id ids policy policies rate cost price hint required enabled disabled "
    "reset changed change url uri endpoint lifetime version strength rotation field label labels path file filename manager "
    "provider valid verified status error errors message attempts age in at bucket arn ref window position index format "
    "prefix algorithm alg consent method minute day изменён изменен py js ts tsx jsx html css md json yml yaml txt go rs java rb php po"
)
# A token beside one of these is one of those that are counted.
_COUNTED = words(
    "max min total num count limit input output prompt completion cached reasoning used per budget usage"
)
# A pass through data, a token of a language model, a token that names a page.
_NO_SECRETS = words(
    "first second by test forward backward render page next continuation cursor sync stop eos bos pad sep cls unk special"
)
# A name that begins with one of these asks or tells about a secret.
_ASKING = words("has is needs need forgot show hide cambio длина срок сложность политика")
_PHONES = words(
    "phone phones telephone tel mobile mobiles cell cellphone msisdn whatsapp fax telefon handy rufnummer phonenumber "
    "mobilephone mobilenumber phoneno telno телефон тел мобильный факс"
)
_PHONE_ENDS = words("number no nr num e164 home work office main primary secondary contact value")
_MEASURES = words(
    "ms ns us sec secs seconds millis milliseconds nanos nanoseconds micros microseconds minutes time timestamp ts duration "
    "latency elapsed bytes size length count counts total tokens offset cost price amount sum revision seq sequence at rows "
    "limit max min budget epoch balance quota"
)
_OPAQUE = words(
    "trace span call request correlation parent event message run task job order batch build commit version"
)
_ID_ENDS = ("id", "ids")
# What is numbered by those who trade, ship and file.
_NUMBERED = words(
    "order invoice ticket case document doc po reference ref part serial tracking shipment article item contract file batch "
    "lot bill receipt quote claim policy заказа счёта счета договора накладной"
)
_NUMBER_ENDS = words("no nr num number numbers code id номер заказа счёта счета договора накладной")
_OPAQUE_CHINESE = (
    "编号",
    "单号",
    "流水号",
    "序列号",
    "批号",
    "批次号",
    "合同号",
    "发票号",
    "货号",
    "型号",
    "订单",
)
_VERSIONS = frozenset(
    ("version", "ver", "versions", "release", "latest", "section", "chapter", "版本", "版本号", "версия")
)
_SECRETS_INSIDE = (
    "パスワード", "暗証番号", "秘密鍵", "비밀번호", "암호", "密码", "密碼", "口令", "密钥", "密鑰", "金鑰", "秘钥", "令牌", "私钥", "私鑰", "验证码", "驗證碼", "授权码", "助记词"
)  # fmt: skip
_ABOUT_CHINESE = (
    "数",
    "數",
    "长度",
    "强度",
    "次数",
    "数量",
    "策略",
    "类型",
    "规则",
    "提示",
    "时间",
    "状态",
    "错误",
    "名称",
)
_PHONES_INSIDE = ("手机", "手機", "电话", "電話", "联系方式")


@lru_cache(maxsize=8192)
def role_of(name: str) -> str:
    """The role of a name however its words are joined; names of more than 100 characters tell nothing."""
    if len(name) > _LONGEST:
        return PLAIN
    parts = [_word(word) for part in _SPLIT.split(name) for word in _CAMEL.split(part) if word]
    if not parts:
        return PLAIN
    known, last = set(parts), parts[-1]
    secret = _secret_role(parts, known)
    if secret != PLAIN:
        about = (
            last in _ABOUT
            or parts[0] in _ASKING
            or last.endswith(_ABOUT_CHINESE)
            or (secret == WEAK and known & _COUNTED)
        )
        return ABOUT if about and "".join(parts) not in _SECRETS else secret
    if known & _PHONES and (last in _PHONES or last in _PHONE_ENDS):
        return PHONE
    if any(word in name for word in _PHONES_INSIDE):
        return PHONE
    if last in _VERSIONS:
        return VERSION
    if (last in _ID_ENDS and known & _OPAQUE) or (last in _NUMBER_ENDS and known & _NUMBERED):
        return OPAQUE
    if last.endswith(_OPAQUE_CHINESE):
        return OPAQUE
    return MEASURE if last in _MEASURES else PLAIN


def _word(word: str) -> str:
    """A word of a name, without the number of `password2`."""
    return word.lower().rstrip("0123456789") or word


def role_under(name: str, own: str, inherited: str, named: str = PLAIN) -> str:
    """The role of a value under a name with a role of its own, inside something whose role or name tells more."""
    if named != PLAIN and name.lower() in NAMED:
        return named
    return inherited if own == PLAIN and inherited in _INHERITED else own


def role_beside(name: str, value: str, otherwise: str) -> str:
    """The role of a text behind another one in a list within a list: of a secret where that names one.

    A word is no secret there: `["password", "email"]` are names of fields.
    """
    named = role_of(name)
    return named if named in (SECRET, COOKIE) and not value.isalpha() else otherwise


def _secret_role(parts: list[str], known: set[str]) -> str:
    if known & {"cookie", "cookies"}:
        return COOKIE
    if "tokens" in known:
        return SECRET if known & {"access", "auth", "refresh", "api", "bearer", "session"} else PLAIN
    joined = "".join(parts)
    if known & _SECRETS or joined in _SECRETS or any(word in joined for word in _SECRETS_INSIDE):
        return SECRET
    if any(word.startswith(("парол", "секрет")) for word in parts):
        return SECRET
    if known & _KEYS and known & _KEY_OWNERS:
        return SECRET
    if known & _PINS or (known & _CODES and known & _CODE_OWNERS):
        return CODE
    if "phrase" in known and known & {"seed", "recovery", "secret", "pass"}:
        return SECRET
    if "signature" in known and known & {"x", "hmac", "amz", "hub"}:
        return SECRET
    if "auth" in known and len(parts) > 1 and known & {"basic", "proxy", "http", "x"}:
        return SECRET
    if known & _NO_SECRETS:
        return PLAIN
    return WEAK if known & _WEAK else PLAIN
