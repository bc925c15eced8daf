"""Bounded bodies behind the real server, spoken to over raw sockets."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.portal.bodies_app import LIMIT
from tests.portal.ports import find_port, wait_for_port

ROOT = Path(__file__).resolve().parents[2]
GRANIAN = (
    *(sys.executable, "-m", "granian", "--interface", "wsgi", "--http", "1", "--no-ws", "--no-log"),
    *("--blocking-threads", "4"),
)
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bodies")


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    number = find_port()
    process = subprocess.Popen(
        [*GRANIAN, "--port", str(number), "tests.portal.bodies_app:application"],
        cwd=ROOT,
        env=os.environ | {"BODIES_FOLDER": str(folder), "PYTHONPATH": str(ROOT), "VAR_DIR": str(folder)},
    )
    wait_for_port(number)
    yield number
    process.terminate()
    process.wait(20)


def speak(port: int, head: bytes, *parts: bytes, end: bool = False) -> tuple[int, Any]:
    """Send a request in parts, as a client without manners may; answers status and JSON."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        client.sendall(b"POST /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + head)
        for part in parts:
            client.sendall(part)
            time.sleep(0.05)
        if end:
            client.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: client.recv(65536), b""))
    top, _, content = received.partition(b"\r\n\r\n")
    return int(top.split()[1]), json.loads(content) if content else None


def length(number: int) -> bytes:
    return f"Content-Length: {number}\r\n\r\n".encode()


def test_body_with_length_arrives(port: int) -> None:
    assert speak(port, length(5), b"hello") == (200, {"length": 5, "start": "hello", "declared": 5})


def test_request_without_body_arrives(port: int) -> None:
    assert speak(port, b"\r\n") == (200, {"length": 0, "start": "", "declared": 0})


@pytest.mark.parametrize("count", [1, 40, 300])
def test_chunked_body_arrives_with_its_length(port: int, folder: Path, count: int) -> None:
    chunk = b"hello" * 600
    body = (f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n") * count + b"0\r\n\r\n"
    assert speak(port, CHUNKED, body) == (
        200,
        {"length": 3000 * count, "start": "hello", "declared": 3000 * count},
    )
    assert [path.name for path in folder.iterdir() if "tmp" in path.name] == []


def test_chunked_body_in_small_pieces_arrives(port: int) -> None:
    parts = [b"2\r\nhe", b"\r\n", b"3\r\nl", b"lo\r\n", b"0\r\n", b"\r\n"]
    assert speak(port, CHUNKED, *parts) == (200, {"length": 5, "start": "hello", "declared": 5})


def test_empty_chunked_body_arrives(port: int) -> None:
    assert speak(port, CHUNKED, b"0\r\n\r\n") == (200, {"length": 0, "start": "", "declared": 0})


def test_chunked_wins_over_a_length(port: int) -> None:
    head = b"Content-Length: 3\r\n" + CHUNKED
    assert speak(port, head, b"5\r\nhello\r\n0\r\n\r\n")[1] == {"length": 5, "start": "hello", "declared": 5}


TOO_LONG = {
    "type": "about:blank",
    "title": "Content Too Large",
    "status": 413,
    "detail": f"The body is over the limit of {LIMIT} bytes.",
    "code": "body-too-large",
}


def test_length_at_the_limit_is_let_through(port: int) -> None:
    assert speak(port, length(LIMIT), b"x" * LIMIT)[1]["length"] == LIMIT


def test_length_over_the_limit_is_refused_to_a_client_that_sends_it_all(port: int) -> None:
    assert speak(port, length(LIMIT + 1), b"x" * (LIMIT + 1)) == (413, TOO_LONG)


@pytest.mark.parametrize("number", [4 * LIMIT + 1, 99_999_999_999, 2**63, 10**30])
def test_length_far_over_the_limit_is_refused_unread(port: int, number: int) -> None:
    status, problem = speak(port, length(number))
    assert status in {400, 413}  # the server itself refuses what no number of its own can hold
    assert problem == (TOO_LONG if status == 413 else None)


def test_length_over_the_limit_is_refused_before_a_polite_client_sends(port: int) -> None:
    assert speak(port, b"Expect: 100-continue\r\n" + length(LIMIT + 1)) == (413, TOO_LONG)


def test_chunked_body_over_the_limit_is_refused(port: int, folder: Path) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    assert speak(port, CHUNKED, chunk * 16) == (413, TOO_LONG)
    assert [path.name for path in folder.iterdir() if "tmp" in path.name] == []


@pytest.mark.parametrize("head", [length(10), b"Content-Length: 10\r\n\r\nhel"])
def test_reader_of_a_cut_body_is_told(port: int, head: bytes) -> None:
    status, found = speak(port, head, b"lo", end=True)
    assert status == 200
    assert found["error"].endswith("bytes before its declared length.")


def test_more_than_was_declared_is_not_read(port: int) -> None:
    assert speak(port, length(3), b"hello")[1]["length"] == 3


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: abc\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ],
)
def test_length_that_is_none_is_refused(port: int, head: bytes) -> None:
    assert speak(port, head, b"xx")[0] == 400


def test_slow_bodies_hold_only_the_threads_they_have(port: int) -> None:
    slow = []
    for _ in range(3):
        client = socket.create_connection(("127.0.0.1", port), timeout=10)
        client.sendall(b"POST /slow HTTP/1.1\r\nHost: x\r\n" + CHUNKED + b"5\r\nhe")
        slow.append(client)
    assert speak(port, length(5), b"hello")[0] == 200
    for client in slow:
        client.close()
    # The threads come back as soon as the clients are gone.
    for _ in range(8):
        assert speak(port, CHUNKED, b"0\r\n\r\n")[0] == 200
