"""JSON in and out, by orjson."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer


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


class ProblemRenderer(JSONRenderer):
    """The same, for `application/problem+json` (RFC 9457)."""

    media_type = "application/problem+json"


def as_json(data: Any) -> bytes:
    """The data as JSON; dates and UUIDs as text, anything else by its own text."""
    return orjson.dumps(data, default=str, option=orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS)


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
        if b"\\u0000" in body and has_null(data):
            raise ParseError("A text in the body holds a NUL character; remove it.")
        return data


class TolerantJSONParser(JSONParser):
    """For reports of agents: a NUL becomes U+FFFD, so that a call is not lost over it."""

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
        return without_null(data) if b"\\u0000" in body else data


def read_body(stream: IO[Any]) -> bytes:
    """The whole body; raises ParseError where it ends before its declared length."""
    try:
        body: bytes = stream.read()
    except OSError as fault:
        raise ParseError("The body ended before its declared length.") from fault
    return body


def has_null(value: Any) -> bool:
    """Whether some text in the value holds a NUL."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(has_null(key) or has_null(item) for key, item in value.items())
    return isinstance(value, list) and any(map(has_null, value))


def without_null(value: Any) -> Any:
    """The value with U+FFFD for each NUL."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, dict):
        return {without_null(key): without_null(item) for key, item in value.items()}
    return [without_null(item) for item in value] if isinstance(value, list) else value
