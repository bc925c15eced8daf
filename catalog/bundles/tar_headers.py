"""The 512-byte headers of a tar archive (POSIX.1-2001 pax and ustar; GNU tar's long names)."""

from __future__ import annotations

from typing import NamedTuple

BLOCK = 512
_CHECKSUM = slice(148, 156)
_SPACES = 8 * ord(" ")


class Header(NamedTuple):
    """One header as it stands; `size` in bytes is None where it is no number that can be meant."""

    name: bytes
    mode: int
    size: int | None
    kind: bytes


def is_header(block: bytes) -> bool:
    """Whether the block's checksum is that of its bytes (signed sums are those of old writers)."""
    stored = number(block[_CHECKSUM])
    if len(block) != BLOCK or stored is None:
        return False
    field = block[_CHECKSUM]
    total = sum(block) - sum(field) + _SPACES
    if stored == total:
        return True
    high = sum(byte >= 128 for byte in block) - sum(byte >= 128 for byte in field)
    return stored == total - 256 * high


def read_header(block: bytes) -> Header:
    """The fields of a header whose checksum holds."""
    name = _text(block[:100])
    # GNU tar writes "ustar  " and keeps times where POSIX has the prefix.
    if block[257:263] == b"ustar\0" and (prefix := _text(block[345:500])):
        name = prefix + b"/" + name
    return Header(name, number(block[100:108]) or 0, number(block[124:136]), block[156:157])


def number(field: bytes) -> int | None:
    """An octal or GNU base-256 number that is not negative; None for anything else."""
    if field[:1] == b"\x80":
        return int.from_bytes(field[1:], "big")
    digits = field.split(b"\0", 1)[0].strip(b" ")
    if not digits:
        return 0
    if not digits.isdigit() or b"8" in digits or b"9" in digits:
        return None
    return int(digits, 8)


def read_records(data: bytes) -> dict[str, str] | None:
    """The records of a pax header by keyword; None where they are malformed.

    A later record replaces an earlier one, as POSIX has it. Bytes that are no UTF-8 become lone
    surrogates, which no path may hold.
    """
    records: dict[str, str] = {}
    at = 0
    while at < len(data):
        digits, space, _ = data[at : at + 12].partition(b" ")
        if not space or not digits.isdigit():
            return None
        stop = at + int(digits)
        key, equals, value = data[at + len(digits) + 1 : stop].partition(b"=")
        if not equals or not value.endswith(b"\n") or stop > len(data):
            return None
        records[key.decode("utf-8", "surrogateescape")] = value[:-1].decode("utf-8", "surrogateescape")
        at = stop
    return records


def _text(field: bytes) -> bytes:
    return field.split(b"\0", 1)[0]
