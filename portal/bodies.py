"""Request bodies, bounded before Django reads them.

The server passes on bodies of any length, a chunked one without a length (Django would take it for
empty) and one that was cut off as if it were whole. This wrapper refuses what is too long, gives a
chunked body its length and lets the reader of a cut body know. A chunked body that was cut cannot be
told from a whole one: the server reports neither.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

CHUNK = 64 * 1024
IN_MEMORY = 256 * 1024
# Whatever ends in an asterisk brings a charset of its own (RFC 2231), and one that is unknown is a fault.
CHARSET = re.compile(r";\s*(charset|[^;=]*\*)\s*=[^;]*", re.IGNORECASE)


class Readable(Protocol):
    """What the server gives as `wsgi.input`."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""

    def readline(self, size: int, /) -> bytes:
        """A line of at most `size` bytes; none at the end."""


def bound(
    application: WSGIApplication, *, limit: Callable[[str], int], folder: Callable[[], str | None]
) -> WSGIApplication:
    """Wrap `application`: bodies over `limit(path)` bytes get 413, chunked ones a CONTENT_LENGTH.

    A long chunked body waits in a nameless file in `folder()` (None: the system's folder).
    """

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # Everything here is UTF-8. Django would decode by whatever the client names, codecs of Python
        # that are no text at all included, and make characters that were checked for before.
        environ["CONTENT_TYPE"] = CHARSET.sub("", str(environ.get("CONTENT_TYPE", "")))
        most = limit(str(environ.get("PATH_INFO", "")))
        if "chunked" in str(environ.get("HTTP_TRANSFER_ENCODING", "")).lower():
            return answer_chunked(application, environ, start_response, most=most, folder=folder())
        declared = str(environ.get("CONTENT_LENGTH") or "0")
        if not (declared.isascii() and declared.isdigit()):
            return refuse(start_response, "400 Bad Request", "body-length", "Content-Length is no number.")
        if int(declared) > most:
            # A client that awaits "100 Continue" has sent nothing yet.
            if "HTTP_EXPECT" not in environ:
                drop(environ["wsgi.input"], declared=int(declared), most=4 * most)
            return refuse_long(start_response, most)
        return application(
            environ | {"wsgi.input": Whole(environ["wsgi.input"], int(declared))}, start_response
        )

    return answer


def answer_chunked(
    application: WSGIApplication,
    environ: WSGIEnvironment,
    start_response: StartResponse,
    *,
    most: int,
    folder: str | None,
) -> Iterable[bytes]:
    """Read a chunked body to its end, then answer as if it had come with its length."""
    body = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY, dir=folder)  # noqa: SIM115 (the answer may still read it)
    length = 0
    while chunk := environ["wsgi.input"].read(CHUNK):
        length += len(chunk)
        if length > most:
            body.close()
            return refuse_long(start_response, most)
        body.write(chunk)
    body.seek(0)
    plain = {name: value for name, value in environ.items() if name != "HTTP_TRANSFER_ENCODING"}
    plain |= {"wsgi.input": body, "CONTENT_LENGTH": str(length)}
    try:
        return Closing(application(plain, start_response), body)
    except BaseException:
        body.close()
        raise


class Whole:
    """A body that must be as long as was declared: OSError where it ends before."""

    def __init__(self, body: Readable, length: int) -> None:
        self.body = body
        self.left = length

    def read(self, size: int | None = -1) -> bytes:
        """Exactly `size` bytes, fewer only at the declared end."""
        wanted = self.left if size is None or size < 0 else min(size, self.left)
        parts = []
        while wanted:
            part = self.count(self.body.read(wanted))
            wanted -= len(part)
            parts.append(part)
        return b"".join(parts)

    def readline(self, size: int | None = -1) -> bytes:
        """A line of at most `size` bytes."""
        wanted = self.left if size is None or size < 0 else min(size, self.left)
        return self.count(self.body.readline(wanted)) if wanted else b""

    def count(self, part: bytes) -> bytes:
        """Subtract what was read; raises OSError where nothing was."""
        if not part:
            raise OSError(f"The body ends {self.left} bytes before its declared length.")
        self.left -= len(part)
        return part


class Closing:
    """An answer that closes the body it may have read from."""

    def __init__(self, answer: Iterable[bytes], body: IO[bytes]) -> None:
        self.answer = answer
        self.body = body

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.answer)

    def close(self) -> None:
        """Called by the server once the answer is sent or given up."""
        close = getattr(self.answer, "close", None)
        if close:
            close()
        self.body.close()


def drop(body: Readable, *, declared: int, most: int) -> None:
    """Read a refused body and forget it: who is still sending would see a broken connection, not the answer.

    A body over `most` bytes is not worth that.
    """
    if declared <= most:
        while body.read(CHUNK):
            pass


def refuse_long(start_response: StartResponse, most: int) -> list[bytes]:
    """The answer to a body over `most` bytes."""
    return refuse(
        start_response,
        "413 Content Too Large",
        "body-too-large",
        f"The body is over the limit of {most} bytes.",
    )


def refuse(start_response: StartResponse, status: str, code: str, detail: str) -> list[bytes]:
    """A problem document (RFC 9457), after which the connection ends: what is left of the body is not read."""
    number, _, title = status.partition(" ")
    problem = {"type": "about:blank", "title": title, "status": int(number), "detail": detail, "code": code}
    content = json.dumps(problem).encode()
    headers = [("Content-Type", "application/problem+json"), ("Content-Length", str(len(content)))]
    start_response(status, [*headers, ("Cache-Control", "no-store")])
    return [content]
