"""Refusals that never reach a view: before Django, or by its middleware."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from google.rpc.status_pb2 import Status

from portal import bodies
from portal.protocols.statuses import JSON, PROTOBUF, encode_status, translate

PROBLEM = (
    b'{"title": "Content Too Large", "status": 413, "detail": "The body is over the limit.", "code": "x"}'
)


class Page(list[bytes]):
    """The parts of an answer; it knows whether it was closed."""

    closed = False

    def close(self) -> None:
        self.closed = True


def ask(content: Iterable[bytes], *, line: str, kind: str, sent: str, path: str = "/v1/traces") -> Any:
    """Status line, headers and body of what the wrapper makes of an answer."""
    told: list[Any] = []

    def application(environ: Any, start_response: Any) -> Iterable[bytes]:
        start_response(line, [("Content-Type", kind), ("Content-Length", "5"), ("Retry-After", "5")])
        return content

    answer = translate(application)(
        {"PATH_INFO": path, "CONTENT_TYPE": sent},
        lambda *given: told.extend(given),  # type: ignore[arg-type]
    )
    return told[0], dict(told[1]), b"".join(answer)


@pytest.mark.parametrize("path", ["/v1/traces", "/v1/logs"])
def test_a_problem_document_becomes_a_status(path: str) -> None:
    page = Page([PROBLEM[:20], PROBLEM[20:]])
    line, headers, body = ask(
        page, line="413 Content Too Large", kind="application/problem+json", sent=PROTOBUF, path=path
    )
    assert (line, headers) == (
        "413 Content Too Large",
        {"Content-Type": PROTOBUF, "Content-Length": str(len(body)), "Retry-After": "5"},
    )
    told = Status.FromString(body)
    assert (told.code, told.message, page.closed) == (8, "The body is over the limit.", True)


def test_a_page_becomes_a_status_in_json() -> None:
    for sent in ("application/json; charset=utf-8", "text/plain", ""):
        line, headers, body = ask([b"<html>"], line="400 Bad Request", kind="text/html", sent=sent)
        assert (line, headers["Content-Type"], body) == (
            "400 Bad Request",
            JSON,
            b'{"code": 3, "message": "Bad Request."}',
        )


@pytest.mark.parametrize(
    ("line", "kind", "path"),
    [
        ("200 OK", PROTOBUF, "/v1/traces"),
        ("200 OK", "text/html", "/v1/traces"),
        ("403 Forbidden", PROTOBUF, "/v1/traces"),
        ("403 Forbidden", JSON, "/v1/logs"),
        ("413 Content Too Large", "application/problem+json", "/api/v1/traces"),
        ("404 Not Found", "text/html", "/v1/traces/"),
    ],
)
def test_all_else_stays_as_it_is(line: str, kind: str, path: str) -> None:
    told = ask([PROBLEM], line=line, kind=kind, sent=PROTOBUF, path=path)
    assert told == (line, {"Content-Type": kind, "Content-Length": "5", "Retry-After": "5"}, PROBLEM)


def test_a_long_message_in_protobuf() -> None:
    for length in (0, 127, 128, 20_000):
        kind, content = encode_status(503, "永" * length, kind=PROTOBUF)
        told = Status.FromString(content)
        assert (kind, told.code, told.message) == (PROTOBUF, 14, "永" * length)


def test_a_body_over_the_limit_is_refused_in_words_of_the_protocol() -> None:
    told: list[Any] = []
    application = translate(bodies.bound(lambda *_: [b""], limit=lambda _: 10, folder=lambda: None))
    environ = {"PATH_INFO": "/v1/logs", "CONTENT_TYPE": PROTOBUF, "CONTENT_LENGTH": "11", "HTTP_EXPECT": "x"}
    [body] = application(environ | {"wsgi.input": None}, lambda *given: told.extend(given))  # type: ignore[arg-type]
    assert told[0] == "413 Content Too Large"
    assert Status.FromString(body).message == "The body is over the limit of 10 bytes."
