"""What a process remembers: values that are read again after a second, and values up to a size."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_all: list[Fresh[Any, Any] | Bounded[Any, Any]] = []


def forget_everything() -> None:
    """Empty every memory of this process."""
    for cache in _all:
        cache.clear()


class Fresh(Generic[K, V]):
    """Values that are at most `seconds` old; of those who ask for one at once, one thread reads it."""

    def __init__(self, read: Callable[[K, V | None], V], *, seconds: float, most: int = 10_000) -> None:
        self._read, self._seconds, self._most = read, seconds, most
        self._kept: dict[K, tuple[float, V]] = {}
        self._reading: defaultdict[K, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()
        _all.append(self)

    def get(self, key: K) -> V:
        """The value; `read` is given the key and the older value, where there is one."""
        kept = self._kept.get(key)
        if kept is not None and monotonic() - kept[0] < self._seconds:
            return kept[1]
        with self._lock:
            reading = self._reading[key]
        with reading:
            kept = self._kept.get(key)
            asked = monotonic()
            if kept is not None and asked - kept[0] < self._seconds:
                return kept[1]
            value = self._read(key, kept[1] if kept else None)
            with self._lock:
                if len(self._kept) >= self._most:
                    self._kept.clear()
                    self._reading.clear()
                self._kept[key] = asked, value
        return value

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._reading.clear()


class Bounded(Generic[K, V]):
    """Values that never change, those used last, up to `most` bytes by what `weigh` says of each."""

    def __init__(self, weigh: Callable[[V], int], *, most: int) -> None:
        self._weigh, self._most = weigh, most
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.size = 0
        _all.append(self)

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value that is kept, else the one that is made; one too large is not kept."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return kept[0]
        value = make()
        weight = self._weigh(value)
        with self._lock:
            if key not in self._kept and weight <= self._most:
                self._kept[key] = value, weight
                self.size += weight
            while self.size > self._most:
                self.size -= self._kept.popitem(last=False)[1][1]
        return value

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self.size = 0
