"""Values of attributes: what both encodings have in common, and the bounds of what is kept."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from governance.storable import storable
from governance.times import LONGEST_MS

# Lists in lists, deeper than any instrumentation writes them.
DEPTH = 16
# What is parsed from a text of fewer brackets cannot lie deeper.
TOLERATED_DEPTH = 100
MOST_ATTRIBUTES = 128
MOST_EVENTS = 32
MOST_LINKS = 32
LONGEST_TEXT = 65_536
_MARKS, _NUMBERS = " \t\n?&;,/|", " 0123456789+-.()"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A clock that was never set counts from 1970: such a time says nothing.
EARLIEST_NS = 366 * 24 * 60 * 60 * 10**9


def bytes_as_text(value: bytes) -> str:
    """Text where the bytes are UTF-8, so that it is masked as text; else base64."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return b64encode(value).decode()


def base64_as_text(text: str) -> str:
    """The same of base64 in either alphabet, with or without padding; what is none stays as it is."""
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return bytes_as_text(b64decode(plain + "=" * (-len(plain) % 4), validate=True))
    except (Error, ValueError):
        return text


def parsed(value: Any) -> Any:
    """JSON inside a text as what it says; all else as it is."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            data = orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
        odd = "\\u0000" in value or value.count("[") + value.count("{") > TOLERATED_DEPTH
        return storable(data) if odd else data
    return value


def bounded(value: Any) -> Any:
    """The value without texts of over LONGEST_TEXT characters.

    They are not cut: half of a secret would not be known for one by the masker.
    """
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else f"[TOO LONG: {len(value)} characters]"
    if isinstance(value, dict):
        return {key: bounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [bounded(item) for item in value]
    return value


def shortened(text: str, longest: int) -> str:
    """The text up to the last mark that parts values before the limit, and without a number there.

    It is masked later: half of an address or of a card's number would not be known for one.
    """
    if len(text) <= longest:
        return text
    cut = text[:longest]
    at = max(map(cut.rfind, _MARKS))
    return cut[:at].rstrip(_NUMBERS) if at > 0 else cut


def first_of(attributes: Mapping[str, Any], *names: str) -> Any:
    """The first of these attributes that is there and not empty; None where none is."""
    for name in names:
        value = attributes.get(name)
        if value is not None and value != "":
            return value
    return None


def text_of(value: Any) -> str:
    """A text or number as text; "" for all else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def place_in_time(start: int, end: int, now: datetime) -> tuple[datetime, int]:
    """When it began and how many milliseconds it took, of nanoseconds since 1970.

    A time that is missing is the other one, or now. An end before the start is the start: clocks are
    set while programs run.
    """
    start = start if start >= EARLIEST_NS else end
    if start < EARLIEST_NS:
        return now, 0
    took = round((end - start) / 1_000_000) if end > start else 0
    return EPOCH + timedelta(microseconds=start // 1000), min(took, LONGEST_MS)
