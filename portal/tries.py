"""Tries of a password: ten, then five minutes without, wherever one is asked for.

No password is looked at while its tries cannot be counted: who guesses would else be let guess on.
"""

from __future__ import annotations

from datetime import datetime

from portal import counters

MOST = 10
# Two windows of the clock count, so that five minutes without a try are always enough.
SECONDS = 150


class TooManyTries(Exception):
    """So many came before that even the right password has to wait."""


def count_try(name: str, key: str, *, now: datetime) -> None:
    """Count a try before its password is looked at, so that tries at the same time count each other.

    `name` says where it is asked for, `key` of whom. Raises TooManyTries, and Uncounted.
    """
    moment = now.timestamp()
    counters.count(name, key, seconds=SECONDS, now=moment)
    if counters.recent(name, key, seconds=SECONDS, now=moment) > MOST:
        raise TooManyTries


def forget_tries(name: str, key: str, *, now: datetime) -> None:
    """After the right password, those before it count no longer; raises Uncounted."""
    counters.forget(name, key, seconds=SECONDS, now=now.timestamp())
