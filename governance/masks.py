"""The one masker of this instance, under its key."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from django.conf import settings

from governance.masking import Masker, SubjectTag
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


def subject_tags(value: str) -> list[tuple[str, SubjectTag]]:
    """The id of each key that this instance knows, the present one first, with the tags of a value under it.

    What was masked before a rotation of keys is found by these.
    """
    maskers = [_masker(key) for key in (settings.MASKING_KEY, *settings.MASKING_KEYS_BEFORE)]
    return [(one.key_id, tag) for one in maskers for tag in one.tag(value)]


def known_keys() -> list[str]:
    """The ids of the keys that this instance knows, the present one first."""
    return [_masker(key).key_id for key in (settings.MASKING_KEY, *settings.MASKING_KEYS_BEFORE)]


@lru_cache(maxsize=16)
def _masker(key: str) -> Masker:
    return Masker(key.encode(), sha256(b"key id" + key.encode()).hexdigest()[:8])
