"""Bodies that came compressed, inflated within a bound."""

from __future__ import annotations

import zlib

from governance.otlp.records import TooLarge, Unreadable

GZIP = 16 + zlib.MAX_WBITS
# What follows a member is copied for each, so that thousands of empty ones would take minutes.
MOST_MEMBERS = 64


def inflate(body: bytes, *, most: int) -> bytes:
    """What the members of a gzip file hold, one after the other (RFC 1952).

    Raises TooLarge over `most` bytes, before more is made of them, and Unreadable for what is no gzip or was cut.
    """
    parts: list[bytes] = []
    left = most
    while body:
        if len(parts) == MOST_MEMBERS:
            raise Unreadable(f"The gzip body has over {MOST_MEMBERS} members; send it as one.")
        member = zlib.decompressobj(GZIP)
        try:
            # One byte more than is allowed shows that there is more.
            part = member.decompress(body, left + 1)
        except zlib.error as fault:
            raise Unreadable("The body is not gzip, though Content-Encoding says so.") from fault
        left -= len(part)
        if left < 0:
            raise TooLarge(f"The body inflates to over {most} bytes; send fewer records at a time.")
        if not member.eof:
            raise Unreadable("The gzip body ends before its end; it was cut off.")
        parts.append(part)
        # Zeros may fill up the end of the file.
        body = member.unused_data.lstrip(b"\0")
    return b"".join(parts)
