"""JSON in and out, by orjson."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer

from governance.storable import storable
from portal.api.tolerance import deeper_than, has_null, read_tolerantly

# No body of ours is nested so deep; what walks one later must not run out of stack.
DEPTH = 64
TOLERATED_DEPTH = 100
BOM = b"\xef\xbb\xbf"


class JSONRenderer(BaseRenderer):
    """Compact UTF-8; times end in Z."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """The data as bytes; nothing for an answer without a body."""
        return b"" if data is None else as_json(data)


class AnyRenderer(JSONRenderer):
    """For endpoints that answer files or texts: no Accept header is refused, and a problem is JSON."""

    media_type = "*/*"


def as_json(data: Any) -> bytes:
    """The data as JSON; dates and UUIDs as text, anything else by its own text.

    Whole numbers over 64 bits (an author may write one into a schema) are written as they are.
    """
    try:
        return orjson.dumps(data, default=str, option=orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return json.dumps(storable(data), default=_as_text, separators=(",", ":")).encode()


def _as_text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return str(value)


class JSONParser(BaseParser):
    """An object or list of at most the body's limit; a body that is not JSON is 400.

    A NUL in a text is 400 as well: PostgreSQL has no room for it.
    """

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The parsed body; raises ParseError."""
        body = read_body(stream)
        try:
            data = orjson.loads(body)
        except orjson.JSONDecodeError as fault:
            raise ParseError(f"The body is not JSON: {fault}.") from fault
        if deeper_than(DEPTH, data):
            raise ParseError(f"The body is nested more than {DEPTH} levels deep.")
        if b"\\u0000" in body and has_null(data):
            raise ParseError("A text in the body holds a NUL character; remove it.")
        return data


class TolerantJSONParser(JSONParser):
    """For reports of agents, so that no call is lost over half a character in another one.

    A NUL, a lone surrogate and what is not UTF-8 become U+FFFD; NaN and infinities become null, and
    what lies too deep is cut.
    """

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The parsed body; raises ParseError."""
        body = read_body(stream)
        try:
            data = orjson.loads(body)
        except orjson.JSONDecodeError as fault:
            try:
                return storable(read_tolerantly(body))
            except (ValueError, RecursionError):
                raise ParseError(f"The body is not JSON: {fault}.") from fault
        odd = b"\\u0000" in body or deeper_than(TOLERATED_DEPTH, data)
        return storable(data) if odd else data


def read_body(stream: IO[Any]) -> bytes:
    """The whole body; raises ParseError where it ends before its declared length."""
    try:
        body: bytes = stream.read()
    except OSError as fault:
        raise ParseError("The body ended before its declared length.") from fault
    return body.removeprefix(BOM)
