"""The records of a zip file, read from its bytes and nothing inferred (PKWARE APPNOTE 6.3.10).

A zip says everything twice: in its central directory and before each file. Readers differ in what
they believe, so an archive whose two accounts differ shows a reviewer one thing and an agent
another; it is refused. Nothing is inflated here.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from catalog.bundles.contents import corrupt, too_many
from catalog.bundles.files import Limits
from catalog.bundles.findings import Finding, error

ENTRY_MAGIC = b"PK\3\4"
_END, _END_MAGIC = Struct("<4s4H2LH"), b"PK\5\6"
_END64, _END64_MAGIC = Struct("<4sQ2H2L4Q"), b"PK\6\6"
_LOCATOR64, _LOCATOR64_MAGIC = Struct("<4sLQL"), b"PK\6\7"
_CENTRAL, _CENTRAL_MAGIC = Struct("<4s6H3L5H2L"), b"PK\1\2"
_MAX_COMMENT = 0xFFFF
_ABSENT, _ABSENT16 = 0xFFFFFFFF, 0xFFFF  # the value stands in a ZIP64 record (APPNOTE 4.3.9.2)
ZIP64_EXTRA = 0x0001
_MAX_FIELDS = 64  # writers use a handful; reading millions takes seconds
_PACK_AGAIN = "Pack the folder again with an ordinary zip program and nothing added."


class End(NamedTuple):
    """Where the central directory lies; `shift` is how far prefixed data moved every offset."""

    entries: int
    start: int
    stop: int
    shift: int


class Entry(NamedTuple):
    """One record of the central directory; sizes and offsets in bytes."""

    raw: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    mode: int
    offset: int
    extra: bytes


def mismatch(message: str, path: str = "") -> Finding:
    """Two accounts of one thing that differ."""
    return error("archive-header-mismatch", message, _PACK_AGAIN, path=path)


def prefix(length: int) -> Finding:
    """Bytes before the archive, as in a self-extracting program."""
    return error("archive-prefix-data", f"{length:,} bytes stand before the archive.", _PACK_AGAIN)


def trailing(message: str) -> Finding:
    """Bytes after the archive."""
    return error("archive-trailing-data", message, _PACK_AGAIN)


def read_end(data: bytes) -> tuple[End | None, list[Finding]]:
    """The end record that closes the file, and what is wrong around it (APPNOTE 4.3.16)."""
    at, found = _end_offset(data)
    if at < 0:
        return None, found
    _, disk, first_disk, here, entries, size, offset, _ = _END.unpack_from(data, at)
    stop = at
    if data[max(at - _LOCATOR64.size, 0) : at].startswith(_LOCATOR64_MAGIC):
        stop, here, entries, size, offset = _read_end64(data, at, (here, entries, size, offset))
        if stop < 0:
            return None, [*found, mismatch("The ZIP64 end record of the archive contradicts its end record.")]
    if disk or first_disk:
        return None, [*found, corrupt("The archive is one part of a split archive.")]
    if here != entries:
        found.append(mismatch(f"The end record gives two numbers of entries, {here:,} and {entries:,}."))
    shift = stop - size - offset
    if shift < 0 or (size and data[stop - size : stop - size + 4] != _CENTRAL_MAGIC):
        return None, [*found, corrupt("The directory of the archive is not where its end record says.")]
    if shift:
        found.append(prefix(shift))
    return End(entries, stop - size, stop, shift), found


def _end_offset(data: bytes) -> tuple[int, list[Finding]]:
    start = max(0, len(data) - _END.size - _MAX_COMMENT)
    whole, short = [], 0
    at = data.find(_END_MAGIC, start)
    while at >= 0:
        if at + _END.size <= len(data):
            rest = len(data) - at - _END.size - int.from_bytes(data[at + 20 : at + 22], "little")
            if rest == 0:
                whole.append(at)
            elif rest > 0:
                short = rest
        at = data.find(_END_MAGIC, at + 1)
    if not whole:
        if short:
            return -1, [trailing(f"{short:,} bytes follow the archive.")]
        return -1, [corrupt("The archive has no directory at its end; it was cut short.")]
    comment = data[whole[0] + _END.size :]
    if any(magic in comment for magic in (ENTRY_MAGIC, _CENTRAL_MAGIC, _END_MAGIC)):
        return whole[0], [trailing("The comment of the archive holds a second archive.")]
    return whole[0], []


def _read_end64(data: bytes, at: int, short: tuple[int, ...]) -> tuple[int, ...]:
    """Stop of the directory and the four values, from the ZIP64 record; -1 first where they differ."""
    _, disk, start, disks = _LOCATOR64.unpack_from(data, at - _LOCATOR64.size)
    if disk or disks > 1 or start + _END64.size != at - _LOCATOR64.size:
        return (-1, *short)
    magic, length, _, _, *disks64, here, entries, size, offset = _END64.unpack_from(data, start)
    long = (here, entries, size, offset)
    absent = (_ABSENT16, _ABSENT16, _ABSENT, _ABSENT)
    agree = all(s in (a, v) for s, v, a in zip(short, long, absent, strict=True))
    if magic != _END64_MAGIC or length != _END64.size - 12 or any(disks64) or not agree:
        return (-1, *short)
    return (start, *long)


def read_entries(data: bytes, end: End, limits: Limits, cap: int) -> tuple[list[Entry], list[Finding]]:
    """The records of the central directory, at most `cap` of them (APPNOTE 4.3.12)."""
    entries: list[Entry] = []
    at = end.start
    while at < end.stop:
        if len(entries) == cap:
            return entries, [too_many(limits, max(end.entries, cap + 1))]
        entry, at = _read_entry(data, at, end)
        if entry is None:
            return entries, [
                corrupt(f"Record {len(entries) + 1} of the directory of the archive is damaged.")
            ]
        entries.append(entry)
    if len(entries) != end.entries:
        text = f"The archive gives its number of entries as {end.entries:,} and lists {len(entries):,}."
        return entries, [mismatch(text)]
    return entries, []


def _read_entry(data: bytes, at: int, end: End) -> tuple[Entry | None, int]:
    """The record at an offset and where the next one starts; None where it is none or cut short."""
    if at + _CENTRAL.size > end.stop or data[at : at + 4] != _CENTRAL_MAGIC:
        return None, at
    fields = _CENTRAL.unpack_from(data, at)
    _, _, _, flags, method, _, _, crc, packed, size, name, extra, comment, disk, _, attributes, offset = (
        fields
    )
    at += _CENTRAL.size
    if at + name + extra + comment > end.stop:
        return None, at
    raw, extras = data[at : at + name], data[at + name : at + name + extra]
    if _ABSENT in (packed, size, offset) or disk == _ABSENT16:
        size, packed, offset, disk = zip64_values(extras, size, packed, offset, disk)
    if disk:  # on another part of a split archive
        return None, at
    mode = attributes >> 16
    entry = Entry(raw, flags, method, crc, packed, size, mode, offset + end.shift, extras)
    return entry, at + name + extra + comment


def extra_fields(extra: bytes) -> list[tuple[int, bytes]]:
    """The first extra fields with their header ids (APPNOTE 4.5); what is no whole field is padding."""
    fields: list[tuple[int, bytes]] = []
    at = 0
    while at + 4 <= len(extra) and len(fields) < _MAX_FIELDS and extra[at : at + 4] != b"\0\0\0\0":
        kind, length = (
            int.from_bytes(extra[at : at + 2], "little"),
            int.from_bytes(extra[at + 2 : at + 4], "little"),
        )
        if at + 4 + length > len(extra):
            break
        fields.append((kind, extra[at + 4 : at + 4 + length]))
        at += 4 + length
    return fields


def zip64_values(
    extra: bytes, size: int, packed: int, offset: int = 0, disk: int = 0
) -> tuple[int, int, int, int]:
    """The values with those that are absent taken from the ZIP64 field (APPNOTE 4.5.3)."""
    field = next((value for kind, value in extra_fields(extra) if kind == ZIP64_EXTRA), b"")
    values, at = [], 0
    for value, absent, width in (
        (size, _ABSENT, 8),
        (packed, _ABSENT, 8),
        (offset, _ABSENT, 8),
        (disk, _ABSENT16, 4),
    ):
        if value == absent and at + width <= len(field):
            value = int.from_bytes(field[at : at + width], "little")
            at += width
        values.append(value)
    return values[0], values[1], values[2], values[3]
