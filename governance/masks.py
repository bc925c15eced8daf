"""The one masker of this instance, under its key."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from django.conf import settings

from governance.masking import Masker


def masker() -> Masker:
    """The masker under MASKING_KEY."""
    return _masker(settings.MASKING_KEY)


@lru_cache(maxsize=4)
def _masker(key: str) -> Masker:
    return Masker(key.encode(), sha256(b"key id" + key.encode()).hexdigest()[:8])
