"""What stands around a number and tells what it is: a name, a unit, a currency."""

from __future__ import annotations

import re

from governance.masking import names

_NEAR = 48
_NAME = re.compile(
    r"([A-Za-z_][A-Za-z0-9_.-]{0,40}|[\u0400-\u04ff]{2,20}|[\u4e00-\u9fff]{1,8})[\"'`\\]{0,4}[ \t]{0,2}[=::][ \t]{0,2}[\"'`\\]{0,4}\Z"
)
_UNIT = re.compile(
    r"[ \u00a0]?(?:[kmgt]?i?b(?:ytes?)?|bytes?|[nmuµ]?s(?:ec(?:onds?)?)?|ms|tokens?|rows?|requests?|items?|usd|eur|rmb|cny|rub|hz|"
    r"字节|毫秒|纳秒|微秒|秒|元|个|次|条|行|байт|мс|нс|мкс|сек|руб|строк|шт)(?![A-Za-z\u0400-\u04ff])",
    re.IGNORECASE,
)
_CURRENCY = frozenset("$€£¥¥₽₹#№")


def is_measure(text: str, start: int, end: int) -> bool:
    """Whether a number without separators is an amount or an identifier: `bytes=…`, `… ns`, `€…`, `trace_id: …`."""
    if not text[start:end].isdigit():
        return False
    if text[start - 1 : start] in _CURRENCY and start:
        return True
    if _UNIT.match(text, end):
        return True
    name = _NAME.search(text[max(0, start - _NEAR) : start])
    return name is not None and names.role_of(name[1]) in (names.MEASURE, names.OPAQUE)
