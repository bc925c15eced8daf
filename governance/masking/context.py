"""What stands around a number and tells what it is: a name, a unit, a currency."""

from __future__ import annotations

import re

from governance.masking import names
from governance.masking.words import DIGIT, words

_NEAR = 48
_NAME = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_.-]{0,40}|[\u0400-\u04ff]{2,20}|[\u4e00-\u9fff]{1,8})\Z")
_QUOTES = " \t\"'`\\"
_UNIT = re.compile(
    r"[ \u00a0]?(?:[kmgt]?i?b(?:ytes?)?|bytes?|[nmuµ]?s(?:ec(?:onds?)?)?|ms|tokens?|rows?|requests?|items?|usd|eur|rmb|cny|rub|hz|"
    r"字节|毫秒|纳秒|微秒|秒|元|个|次|条|行|байт|мс|нс|мкс|сек|руб|строк|шт)(?![A-Za-z\u0400-\u04ff])",
    re.IGNORECASE,
)
# Content-Range (RFC 9110): `bytes 0-499/1234`
_OF_BYTES = re.compile(r"bytes[ =][0-9]{1,20}-(?:[0-9]{1,20}/)?\Z")
_CURRENCY = frozenset("$€£¥\uffe5₽₹#№")

_WORDLIKE = "abcdefghijklmnopqrstuvwxyzабвгдеёжзийклмнопрстуфхцчшщъыьэюя"
_PHONE_WORDS = words(
    "tel phone telephone mobile mob cell cellphone fax whatsapp msisdn telefon handy rufnummer fon тел телефон телефону моб "
    "факс вотсап ватсап"
)
_CALLING_WORDS = words("call text ring dial reach звоните позвоните звонить")
_BETWEEN_WORDS = words("no nr num number nummer is at me us on номер по")
_PHONE_CHINESE = (
    "手机",
    "电话",
    "联系方式",
    "致电",
    "拨打",
    "传真",
    "手機",
    "電話",
    "固话",
    "座机",
    "热线",
    "回电",
    "来电",
    "短信",
    "微信",
)
_CHINESE_BETWEEN = re.compile(r"(?:号码?)?[是为]?\Z")
_MARKS = " \t\u00a0:.,=+()#-\u2013\u2014/\"'`\\"


def is_called_phone(text: str, start: int) -> bool:
    """Whether the words before a number call it a telephone: `phone no. …`, `call me at …`, 手机号是…, «тел.: …»."""
    before = text[max(0, start - _NEAR) : start].rstrip(_MARKS)
    if before[-1:].isalpha() and not before.isascii():
        before = _CHINESE_BETWEEN.sub("", before)
        if before.endswith(_PHONE_CHINESE):
            return True
    for between in range(3):
        word = before[before.rfind(" ") + 1 :].lower()
        word = word[len(word.rstrip(_WORDLIKE)) :]
        if word in _PHONE_WORDS or (between and word in _CALLING_WORDS):
            return True
        if word not in _BETWEEN_WORDS:
            return False
        before = before[: -len(word)].rstrip(_MARKS)
    return False


def is_measure(text: str, start: int, end: int) -> bool:
    """Whether a number without separators is an amount or an identifier: `bytes=…`, `… ns`, `€…`, `trace_id: …`."""
    if not text[start:end].isdigit():
        return text[start] in DIGIT and _role_before(text, start) == names.OPAQUE
    if text[start - 1 : start] in _CURRENCY and start:
        return True
    if _UNIT.match(text, end):
        return True
    before = text[max(0, start - _NEAR) : start].rstrip(_QUOTES)
    if before[-1:] in ("-", "/") and _OF_BYTES.search(before):
        return True
    return _role_before(text, start) in (names.MEASURE, names.OPAQUE)


def _role_before(text: str, start: int) -> str:
    """The role that a name with a colon or `=` gives to what stands here."""
    before = text[max(0, start - _NEAR) : start].rstrip(_QUOTES)
    if before[-1:] not in ("=", ":"):
        return names.PLAIN
    name = _NAME.search(before[:-1].rstrip(_QUOTES))
    return names.role_of(name.group()) if name else names.PLAIN
