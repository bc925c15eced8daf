"""The limit of requests a minute, brought on and waited for."""

from __future__ import annotations

import time
import urllib.request
from urllib.error import HTTPError

# A sender is a program that starts first, on a machine that may be busy.
START = 20


def use_up(url: str, token: str, *, at_least: int = 0) -> None:
    """Ask until the token's requests of this minute are used up; once a sender has started so many seconds are left."""
    while time.time() % 60 > 60 - START - at_least:
        time.sleep(0.2)
    statuses = [_ask(url, token) for _ in range(4)]
    assert statuses[-1] == 429, statuses


def _ask(url: str, token: str) -> int:
    request = urllib.request.Request(
        f"{url}/api/v1/feed?fields=name", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except HTTPError as refused:
        return refused.code
