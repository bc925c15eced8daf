"""One rate limit per token: so many requests a minute, then 429 with Retry-After. Every answer tells
what is left (draft-ietf-httpapi-ratelimit-headers).

A process tells the others of its requests in batches of a fiftieth of the limit, so that hardly any
request waits for the shared count; each process may let so many through beyond the limit.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from rest_framework.exceptions import Throttled
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from catalog.tokens import Bearer
from portal.counters import Uncounted, count

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


class WithinLimit(BasePermission):
    """Counts the requests of a token in each minute; RATE_LIMIT=0 counts none.

    It comes before every other permission: what is refused for its scope is a request as well.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Whether this request is within the limit; raises Throttled where it is not."""
        bearer = request.auth
        if isinstance(bearer, Bearer):
            request.counted = bearer  # type: ignore[attr-defined]  # for `tell_limit`
            if not is_within_limit(bearer):
                raise Throttled(wait=MINUTE - time.time() % MINUTE)
        return True


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
    except Uncounted:
        # A full disk shall not take the feed away as well.
        return True
    with _lock:
        tally.told = max(tally.told, told)
    return told <= limit


def tell_limit(answer: HttpResponse, bearer: Bearer) -> None:
    """Say in an answer how many requests the token has left in this minute, and the seconds of it."""
    limit = settings.RATE_LIMIT
    if not limit:
        return
    now = time.time()
    tally = _tally(bearer.token_id, int(now // MINUTE))
    left = max(limit - tally.told - tally.untold, 0)
    answer["RateLimit-Policy"] = f'"default";q={limit};w={MINUTE}'
    answer["RateLimit"] = f'"default";r={left};t={ceil(MINUTE - now % MINUTE)}'


def _tally(token_id: UUID, minute: int) -> _Tally:
    tally = _tallies.get(token_id)
    if tally is None or tally.minute != minute:
        with _lock:
            if len(_tallies) >= MOST_TOKENS:
                _tallies.clear()
            tally = _tallies[token_id] = _Tally(minute)
    return tally
