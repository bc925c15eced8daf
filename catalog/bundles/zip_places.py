"""Whether the local headers of a zip tell the same story as its directory (APPNOTE 4.3.7, 4.3.9)."""

from __future__ import annotations

from struct import Struct

from catalog.bundles.characters import shown
from catalog.bundles.findings import Finding, error
from catalog.bundles.zip_records import ENTRY_MAGIC, End, Entry, mismatch, prefix, zip64_values

_LOCAL = Struct("<4s5H3L2H")
_SHORT, _LONG = Struct("<3L"), Struct("<L2Q")
_DESCRIPTOR_MAGIC = b"PK\7\x08"
DESCRIPTOR = 0x0008
UTF8 = 0x0800
# Encryption, data descriptor, strong encryption, masked headers; the rest are hints to a compressor.
_FLAGS = 0x0001 | DESCRIPTOR | 0x0040 | 0x2000


class Places:
    """The data of each entry, found by walking the file from its start.

    `data` maps the number of an entry to the offset of its bytes, `extras` to its local extra field.
    """

    def __init__(self, data: bytes, entries: list[Entry], end: End) -> None:
        self.data: dict[int, int] = {}
        self.extras: dict[int, bytes] = {}
        self.findings: list[Finding] = []
        self._bytes = data
        reached = end.shift
        order = sorted(range(len(entries)), key=lambda n: entries[n].offset)
        following = [entries[n].offset for n in order[1:]] + [end.start]
        for number, after in zip(order, following, strict=True):
            reached = self._place(number, entries[number], reached, after, end)
        if reached < end.start:
            self._unlisted(reached, end.start)

    def _place(self, number: int, entry: Entry, reached: int, after: int, end: End) -> int:
        """Check one entry and say where it ends."""
        name = _name(entry)
        at = entry.offset
        if at < reached:
            hint = "Pack the folder again with an ordinary zip program."
            text = f'"{name}" shares its bytes with another entry.'
            self.findings.append(error("archive-overlapping-entries", text, hint, path=name))
        elif at > reached and at < end.start:
            self._unlisted(reached, at, first=reached == end.shift)
        if at + _LOCAL.size > end.start or self._bytes[at : at + 4] != ENTRY_MAGIC:
            self.findings.append(
                mismatch(f'The directory lists "{name}", which is not in the archive.', name)
            )
            return max(reached, min(at, end.start))
        _, _, flags, method, _, _, crc, packed, size, length, extra = _LOCAL.unpack_from(self._bytes, at)
        start: int = at + _LOCAL.size + length + extra
        raw = self._bytes[at + _LOCAL.size : at + _LOCAL.size + length]
        extras = self._bytes[start - extra : start]
        if 0xFFFFFFFF in (packed, size):
            size, packed, _, _ = zip64_values(extras, size, packed)
        if differs := _difference(entry, raw, flags, method, (crc, packed, size)):
            self.findings.append(mismatch(f'The two headers of "{name}" differ in {differs}.', name))
        self.data[number], self.extras[number] = start, extras
        stop = start + entry.packed
        if stop > end.start:
            self.findings.append(mismatch(f'"{name}" claims bytes beyond the end of the files.', name))
            return max(reached, end.start)
        if entry.flags & DESCRIPTOR and stop <= after:
            if not self._described(entry, stop, after):
                self.findings.append(
                    mismatch(f'The data descriptor of "{name}" differs from the directory.', name)
                )
            stop = after
        return max(reached, stop)

    def _described(self, entry: Entry, start: int, stop: int) -> bool:
        text = self._bytes[start:stop] if stop - start <= 24 else b""
        if len(text) in (16, 24) and text.startswith(_DESCRIPTOR_MAGIC):
            text = text[4:]
        form = {12: _SHORT, 20: _LONG}.get(len(text))
        return form is not None and form.unpack(text) == (entry.crc, entry.packed, entry.size)

    def _unlisted(self, start: int, stop: int, *, first: bool = False) -> None:
        if first and self._bytes[start : start + 4] != ENTRY_MAGIC:
            self.findings.append(prefix(stop - start))
        else:
            text = f"The archive holds {stop - start:,} bytes at offset {start:,} that its directory does not list."
            self.findings.append(mismatch(text))


def _difference(entry: Entry, raw: bytes, flags: int, method: int, values: tuple[int, int, int]) -> str:
    """What the local header says otherwise than the directory, or ""."""
    if raw != entry.raw:
        return "their names"
    mask = _FLAGS if raw.isascii() else _FLAGS | UTF8
    if (flags ^ entry.flags) & mask:
        return "their flags"
    if method != entry.method:
        return "their compression methods"
    pairs = zip(
        values, (entry.crc, entry.packed, entry.size), ("checksums", "packed sizes", "sizes"), strict=True
    )
    for local, central, what in pairs:
        # A streaming writer knows neither yet and leaves zero (APPNOTE 4.4.4, bit 3).
        if local != central and (local or not flags & DESCRIPTOR):
            return f"their {what}"
    return ""


def _name(entry: Entry) -> str:
    return shown(entry.raw[:1024].decode("utf-8", "backslashreplace"))
