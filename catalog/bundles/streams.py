"""Bytes read one after another, plain or out of gzip, with a bound on how many there may be."""

from __future__ import annotations

import zlib
from typing import Protocol

from catalog.bundles.contents import BATCH, corrupt, exceeds_ratio, inflates_too_large, ratio_too_high
from catalog.bundles.files import Limits
from catalog.bundles.findings import Finding, error

_STEP = 256 * 1024
_GZIP = zlib.MAX_WBITS | 16


class Stream(Protocol):
    """A source of bytes; `fault` says why it ended before its time."""

    fault: Finding | None

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end."""


class Plain:
    """The bytes of an upload as they are."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self.fault: Finding | None = None

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end."""
        piece = self._data[self._at : self._at + size]
        self._at += len(piece)
        return piece


class Gunzip:
    """The content of a gzip file of one member (RFC 1952), inflated no further than it is read.

    It ends with a fault when it is damaged, cut short or followed by other bytes, and once it has
    given more than a batch of bundles may hold or is out of proportion to its size.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._inflater = zlib.decompressobj(_GZIP)
        self._data, self._fed = memoryview(data), 0
        self._ready, self._total, self._limits = bytearray(), 0, limits
        # Headers and padding of a tar come on top of the content of its files.
        self._bound = limits.max_bundle_bytes * BATCH + limits.max_files * 4096
        self.fault: Finding | None = None

    def read(self, size: int) -> bytes:
        """The next `size` bytes, fewer only at the end."""
        while len(self._ready) < size and self._more():
            pass
        piece = bytes(memoryview(self._ready)[:size])
        del self._ready[:size]
        return piece

    def _more(self) -> bool:
        if self.fault or self._inflater.eof:
            return False
        packed: bytes | memoryview = self._inflater.unconsumed_tail
        if not packed:
            packed = self._data[self._fed : self._fed + _STEP]
            self._fed += len(packed)
        try:
            piece = self._inflater.decompress(packed, _STEP)
        except zlib.error:
            self.fault = corrupt("The compressed data of the archive is damaged.")
            return False
        self._ready += piece
        self._total += len(piece)
        self.fault = self._judge(cut=not packed and not piece)
        return self.fault is None

    def _judge(self, *, cut: bool) -> Finding | None:
        if self._total > self._bound:
            return inflates_too_large(self._limits)
        if exceeds_ratio(self._total, len(self._data), self._limits):
            return ratio_too_high(self._limits)
        left = len(self._inflater.unused_data) + len(self._data) - self._fed
        if self._inflater.eof and left:
            hint = "Pack the folder again with tar and nothing added."
            return error("archive-trailing-data", f"{left:,} bytes follow the archive.", hint)
        if cut and not self._inflater.eof:
            return corrupt("The archive was cut short: its compressed data has no end.")
        return None
