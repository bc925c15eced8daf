"""Refusals as OTLP has them: a `google.rpc.Status` in the encoding of the request.

It wraps the whole application as well: what is refused before Django, or by its middleware, never reaches a view.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PATHS = ("/v1/traces", "/v1/logs")
PROTOBUF, JSON = "application/x-protobuf", "application/json"
# google/rpc/code.proto; a client goes by the status of HTTP.
INTERNAL = 13
CODES = {400: 3, 401: 16, 403: 7, 405: 12, 413: 8, 415: 3, 429: 8, 500: INTERNAL, 503: 14}


def kind_of(content_type: str) -> str:
    """The media type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def encode_status(status: int, message: str, *, kind: str) -> tuple[str, bytes]:
    """The media type and the bytes that answer a request of this type; JSON where that is none of ours."""
    code = CODES.get(status, INTERNAL)
    if kind != PROTOBUF:
        return JSON, json.dumps({"code": code, "message": message}, ensure_ascii=False).encode()
    text = message.encode()
    # Two fields: `int32 code = 1` and `string message = 2`.
    return PROTOBUF, b"".join((b"\x08", _varint(code), b"\x12", _varint(len(text)), text))


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def translate(application: WSGIApplication) -> WSGIApplication:
    """Wrap `application`: refusals at the addresses of OTLP that are no Status become one."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ.get("PATH_INFO") not in PATHS:
            return application(environ, start_response)
        kind, told = kind_of(str(environ.get("CONTENT_TYPE", ""))), _Told()
        content = application(environ, told)  # type: ignore[arg-type]  # no view of ours calls `write`
        if not told.is_foreign():
            start_response(told.line, told.headers)
            return content
        try:
            body = b"".join(content)
        finally:
            if (close := getattr(content, "close", None)) is not None:
                close()
        media_type, body = encode_status(told.status, _message_of(body, told.line), kind=kind)
        own = [("Content-Type", media_type), ("Content-Length", str(len(body)))]
        kept = [pair for pair in told.headers if pair[0].lower() not in {"content-type", "content-length"}]
        start_response(told.line, [*own, *kept])
        return [body]

    return answer


class _Told:
    """Remembers the status and the headers of an answer."""

    def __init__(self) -> None:
        self.line, self.headers = "", list[tuple[str, str]]()

    def __call__(self, line: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        self.line, self.headers = line, headers

    @property
    def status(self) -> int:
        return int(self.line.partition(" ")[0])

    def is_foreign(self) -> bool:
        """Whether it is a refusal that is not in a form of ours."""
        if self.status < 400:
            return False
        kinds = (kind_of(value) for name, value in self.headers if name.lower() == "content-type")
        return not {PROTOBUF, JSON}.intersection(kinds)


def _message_of(body: bytes, line: str) -> str:
    """The detail of a problem document; the words of the status line for any other page."""
    try:
        told = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        told = None
    return told if isinstance(told, str) else f"{line.partition(' ')[2]}."
