"""How much a request may hold: two bytes of an empty field become a hundred of a value, and take as long as a real one."""

from __future__ import annotations

from governance.otlp.records import TooLarge

MOST_RECORDS = 20_000
MOST_VALUES = 500_000
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
# The numbers of the fields that lead to spans, and to log records: resource, scope, record.
WAY = (1, 2, 2)


class Room:
    """Counts the attributes, events and items of lists of a request."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST_VALUES

    def take(self, count: int) -> None:
        """Raise TooLarge where this is more than is left."""
        self.left -= count
        if self.left < 0:
            raise TooLarge(f"A request holds at most {MOST_VALUES} values; send fewer records at a time.")


def check_count(count: int, what: str) -> None:
    """Raise TooLarge for more than MOST_RECORDS of what the words say."""
    if count > MOST_RECORDS:
        raise TooLarge(f"A request has at most {MOST_RECORDS} {what}; send fewer at a time.")


def check_wire(body: bytes, what: str) -> None:
    """The same of a request in protobuf, before messages are made of it: spans, and what they are in.

    It stops where the body is broken; whoever parses it says so.
    """
    found = [0, 0, 0]
    fields = [(0, len(body), 0)]
    while fields:
        place, end, depth = fields.pop()
        while place < end:
            tag, place = _varint(body, place, end)
            kind = tag & 7
            if kind == BYTES:
                length, place = _varint(body, place, end)
                if tag >> 3 == WAY[depth]:
                    found[depth] += 1
                    check_count(found[depth], what)
                    if depth + 1 < len(WAY):
                        fields.append((place, min(place + length, end), depth + 1))
                place += length
            elif kind == VARINT:
                _, place = _varint(body, place, end)
            elif kind in {FIXED64, FIXED32}:
                place += 8 if kind == FIXED64 else 4
            else:
                return


def _varint(body: bytes, place: int, end: int) -> tuple[int, int]:
    """The number at a place, and the place behind it."""
    number, shift = 0, 0
    while place < end and shift < 70:
        byte = body[place]
        place += 1
        number |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    return number, place
