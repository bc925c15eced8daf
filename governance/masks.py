"""The one masker of this instance, under its key."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from django.conf import settings

from governance.masking import Masker
from governance.storable import storable

# The lengths of the columns.
LONGEST, LONGEST_OF = 200, {"version_text": 255}


def masker() -> Masker:
    """The masker under MASKING_KEY."""
    return _masker(settings.MASKING_KEY)


def stored_id(field: str, text: str) -> str:
    """What a reported text became in this column of a call or a task (`trace_id`, `skill_text` …), to look it up by.

    The name of a field tells the masker what stands in it: bare digits are an id under `trace_id`
    and may be a phone number elsewhere.
    """
    stored: str = storable(masker().mask({"row": {field: text}}).value)["row"][field]
    return stored[: LONGEST_OF.get(field, LONGEST)]


@lru_cache(maxsize=4)
def _masker(key: str) -> Masker:
    return Masker(key.encode(), sha256(b"key id" + key.encode()).hexdigest()[:8])
