"""Counts that every process of an instance shares: requests of a token, failed sign-ins of a name.

With Redis they are its counters. Without, each count is a file that grows by a byte for each: appending is
one step for the system, whoever does it, and no flood of other keys pushes a count out.
"""

from __future__ import annotations

import hmac
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from redis.exceptions import RedisError


class Uncounted(Exception):
    """The place where all processes count cannot be reached, or is full."""


def count(name: str, key: str, *, seconds: int, now: float, by: int = 1) -> int:
    """Count so many more and answer how many there are in this window of so many seconds of the clock.

    `name` says what is counted; `now` is in seconds since 1970. This and the two below raise Uncounted.
    """
    window = int(now // seconds)
    with _reached():
        if settings.REDIS_URL:
            return _count_in_cache(_key(name, key, window), seconds, by)
        return _count_in_file(_path(name, key, window), window, by)


def recent(name: str, key: str, *, seconds: int, now: float) -> int:
    """How many there are in this window and the one before."""
    windows = _windows(seconds, now)
    with _reached():
        if settings.REDIS_URL:
            return sum(cache.get_many([_key(name, key, one) for one in windows]).values())
        return sum(_size(_path(name, key, one)) for one in windows)


def forget(name: str, key: str, *, seconds: int, now: float) -> None:
    """Take back what `recent` would answer."""
    windows = _windows(seconds, now)
    with _reached():
        if settings.REDIS_URL:
            cache.delete_many([_key(name, key, one) for one in windows])
            return
        for one in windows:
            _path(name, key, one).unlink(missing_ok=True)


@contextmanager
def _reached() -> Iterator[None]:
    try:
        yield
    except (OSError, RedisError) as fault:
        raise Uncounted(str(fault)) from fault


def _windows(seconds: int, now: float) -> tuple[int, int]:
    """The window before, and this one."""
    window = int(now // seconds)
    return window - 1, window


def _count_in_cache(key: str, seconds: int, by: int) -> int:
    try:
        cache.add(key, 0, timeout=2 * seconds)
        return int(cache.incr(key, by))
    except ValueError:
        # Redis was emptied between the two calls; count from here again.
        cache.set(key, by, timeout=2 * seconds)
        return by


def _count_in_file(path: Path, window: int, by: int) -> int:
    if not path.parent.exists():
        _make(path.parent, window)
    place = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(place, b"." * by)
        return os.fstat(place).st_size
    finally:
        os.close(place)


def _key(name: str, key: str, window: int) -> str:
    return f"{name}:{window}:{_digest(key)}"


def _path(name: str, key: str, window: int) -> Path:
    return Path(settings.COUNTERS_DIR) / name / str(window) / _digest(key)


def _digest(key: str) -> str:
    # Keyed: what was typed as a name, which may be a password, is not to be found by trying.
    told = f"counters {settings.SECRET_KEY}".encode()
    return hmac.new(told, key.encode("utf-8", "surrogatepass"), "sha256").hexdigest()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _make(folder: Path, window: int) -> None:
    """Make the folder of a window; those that nobody asks for any more go."""
    folder.mkdir(parents=True, exist_ok=True)
    for other in folder.parent.iterdir():
        with suppress(ValueError):
            if int(other.name) < window - 1:
                shutil.rmtree(other, ignore_errors=True)
