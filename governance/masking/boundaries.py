"""Where a number begins and ends: whether it stands alone or is part of an identifier or a longer number."""

from __future__ import annotations

import re

from governance.masking.words import DIGIT, LETTERS, WORD, WORD_CHARACTERS, words

_LETTERS = frozenset(LETTERS)
_NEAR = 40
_SHORT = 7
# Words that stand before a number of a person, so that `tel-…` and `user_…` are no identifiers of their own.
_OWNERS = words(
    "tel phone telephone mobile mob cell fax sms user usr customer cust client member contact account acct owner "
    "card cc pan visa mastercard amex unionpay whatsapp wechat wx wa qq otp msisdn iphone android id idcard sfz buyer "
    "seller guest driver patient employee emp uid payer payee holder subscriber caller callee lead person profile "
    "viber telegram tg signal sim imo recipient sender to from login"
)
# Of these, the ones that a number follows without a mark: `tel13812345678`.
_GLUED = words("tel phone telephone mobile mob cell fax sms card cc pan whatsapp wx msisdn sfz idcard")
_ENDING = re.compile(r"\.0+(?![0-9.])")


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the characters from start to end are no part of a longer identifier or number.

    `ORD-2024-00017` and the digits of a UUID do not stand alone; a hyphen between two long numbers parts them.
    """
    return is_free_before(text, start) and _free_after(text, end)


def is_free_before(text: str, start: int) -> bool:
    """Whether no identifier and no longer number ends just before `start`."""
    last = text[start - 1 : start]
    if last == ".":
        return text[start - 2 : start - 1] not in DIGIT
    if last not in WORD and last != "-":
        return True
    if last not in ("_", "-"):
        return _last_word(text[max(0, start - _NEAR) : start]) in _GLUED
    before = text[max(0, start - 1 - _NEAR) : start - 1]
    *others, segment = before[len(before.rstrip(WORD_CHARACTERS + "-")) :].split("-")
    if segment.isdigit():
        return last == "-" and len(segment) >= _SHORT and all(map(_is_free, others))
    return _is_free(segment) and (last == "-" or segment != "")


def _is_free(segment: str) -> bool:
    """Whether a part before a hyphen is a long number or ends with a word that stands before numbers."""
    if segment.isdigit():
        return len(segment) >= _SHORT
    return not segment or _last_word(segment) in _OWNERS


def hangs_on_word(text: str, start: int) -> bool:
    """Whether letters and an underscore or a hyphen stand before, as in `scan_11010519491231002X`.

    Enough for numbers whose form tells more than that of others.
    """
    return text[start - 1 : start] in ("_", "-") and text[start - 2 : start - 1] in _LETTERS


def _last_word(text: str) -> str:
    return text[len(text.rstrip(LETTERS)) :].lower()


def _free_after(text: str, end: int) -> bool:
    first = text[end : end + 1]
    if first == ".":
        return text[end + 1 : end + 2] not in DIGIT or bool(_ENDING.match(text, end))
    if first == "_":
        return text[end + 1 : end + 2] not in DIGIT
    if first != "-":
        return first not in WORD
    after = text[end + 1 : end + 1 + _NEAR]
    segment = after[: len(after) - len(after.lstrip(WORD_CHARACTERS))]
    if segment.isdigit():
        return len(segment) >= _SHORT
    return not any(char in DIGIT for char in segment)
