"""One rate limit per token: so many requests a minute, then 429 with Retry-After.

A process tells the others of its requests in batches of a fiftieth of the limit, so that hardly any
request waits for the shared count; each process may let so many through beyond the limit.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from catalog.tokens import Bearer
from portal.counters import count

if TYPE_CHECKING:
    from rest_framework.views import APIView

MINUTE = 60
BATCHES = 50
MOST_TOKENS = 10_000


@dataclass(slots=True)
class _Tally:
    """The requests of a token in a minute: those that all processes had when last told, and ours since."""

    minute: int
    told: int = 0
    untold: int = 0


_tallies: dict[UUID, _Tally] = {}
_lock = threading.Lock()


class TokenThrottle(BaseThrottle):
    """Counts the requests of a token in each minute; RATE_LIMIT=0 counts none."""

    def __init__(self) -> None:
        self.seconds_left = 0.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Whether this request is within the limit."""
        bearer = request.auth
        if not isinstance(bearer, Bearer):
            return True
        self.seconds_left = MINUTE - time.time() % MINUTE
        return is_within_limit(bearer)

    def wait(self) -> float:
        """Seconds until the next minute begins."""
        return self.seconds_left


def is_within_limit(bearer: Bearer) -> bool:
    """Count a request of the token, and answer whether it is within the limit of this minute."""
    limit = settings.RATE_LIMIT
    if not limit:
        return True
    now = time.time()
    tally = _tally(bearer.token_id, int(now // MINUTE))
    if tally.told > limit:
        return False
    with _lock:
        tally.untold += 1
        reached = tally.told + tally.untold
        if reached <= limit and tally.untold < max(1, limit // BATCHES):
            return True
        untold, tally.untold = tally.untold, 0
    try:
        told = count("requests", str(bearer.token_id), seconds=MINUTE, now=now, by=untold)
    except OSError:
        # A full disk shall not take the feed away as well.
        return True
    with _lock:
        tally.told = max(tally.told, told)
    return told <= limit


def _tally(token_id: UUID, minute: int) -> _Tally:
    tally = _tallies.get(token_id)
    if tally is None or tally.minute != minute:
        with _lock:
            if len(_tallies) >= MOST_TOKENS:
                _tallies.clear()
            tally = _tallies[token_id] = _Tally(minute)
    return tally
