"""Characters that a name must not hold, and names made safe to show.

The sets follow Unicode: general category Cc and the line separators (control), UAX #9
(bidirectional controls), Default_Ignorable_Code_Point (invisible).
"""

from __future__ import annotations

import re
from unicodedata import category

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
SURROGATE = re.compile("[\ud800-\udfff]")
INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_UNSHOWN = re.compile("|".join(p.pattern for p in (CONTROL, BIDI, SURROGATE, INVISIBLE)))
# Scripts whose spelling needs joiners: Arabic and Syriac, the Indic scripts, Sinhala, Myanmar, Khmer.
_JOINING = re.compile("[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\ua8e0-\ua8ff]")


# What a text of several lines has no use for: control characters, and what turns the order of others.
_DECEPTIVE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def first_deceptive(text: str) -> str | None:
    """The first character by which a text reads, in a browser or a terminal, as what it is not; or None."""
    match = _DECEPTIVE.search(text)
    return match[0] if match else None


def first_invisible(text: str) -> str | None:
    """The first invisible character that nothing around it calls for, or None.

    Joiners inside emoji and between letters of joining scripts are spelling, not hiding.
    """
    for match in INVISIBLE.finditer(text):
        at = match.start()
        if not _belongs(match[0], text[at - 1 : at], text[at + 1 : at + 2]):
            return match[0]
    return None


def _belongs(char: str, before: str, after: str) -> bool:
    if not before:
        return False
    if char in "\ufe0e\ufe0f":
        return category(before)[0] == "S" or before in "#*0123456789\u203c\u2049\u3030"
    if char == "\u200d" and after:
        joined = category(before)[0] == "S" or before == "\ufe0f"
        return (joined and category(after)[0] == "S") or bool(
            _JOINING.match(before) and _JOINING.match(after)
        )
    if char == "\u200c" and after:
        return bool(_JOINING.match(before) and _JOINING.match(after))
    return False


def code_point(char: str) -> str:
    """The character as Unicode writes it: U+200B."""
    return f"U+{ord(char):04X}"


def shown(text: str, limit: int = 120) -> str:
    """The text on one line, hidden characters written as `\\u{200b}`, its middle cut beyond `limit`."""
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}\u2026{text[-half:]}"
    return _UNSHOWN.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    char, at = match[0], match.start()
    if INVISIBLE.match(char) and _belongs(char, match.string[at - 1 : at], match.string[at + 1 : at + 2]):
        return char
    return f"\\u{{{ord(char):x}}}"
