"""One rate limit per token: so many requests a minute, then 429 with Retry-After."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from catalog.tokens import Bearer
from portal.counters import count

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
        now = time.time()
        self.seconds_left = MINUTE - now % MINUTE
        try:
            return count("requests", str(bearer.token_id), seconds=MINUTE, now=now) <= limit
        except OSError:
            # A full disk shall not take the feed away as well.
            return True

    def wait(self) -> float:
        """Seconds until the next minute begins."""
        return self.seconds_left
