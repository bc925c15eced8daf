"""One rate limit per token: so many requests a minute, then 429 with Retry-After."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from catalog.tokens import Bearer

if TYPE_CHECKING:
    from rest_framework.views import APIView

MINUTE = 60


class TokenThrottle(BaseThrottle):
    """Counts the requests of a token in each minute; RATE_LIMIT=0 counts none."""

    def __init__(self) -> None:
        self.seconds_left = 0.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Whether this request is within the limit."""
        bearer, limit = request.auth, settings.RATE_LIMIT
        if not limit or not isinstance(bearer, Bearer):
            return True
        minute, passed = divmod(time.time(), MINUTE)
        self.seconds_left = MINUTE - passed
        key = f"rate:{bearer.token_id}:{minute:.0f}"
        cache.add(key, 0, timeout=2 * MINUTE)
        try:
            return cache.incr(key) <= limit
        except ValueError:
            # The entry was pushed out between the two calls; count from here again.
            cache.set(key, 1, timeout=2 * MINUTE)
            return True

    def wait(self) -> float:
        """Seconds until the next minute begins."""
        return self.seconds_left
