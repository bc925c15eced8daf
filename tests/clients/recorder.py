"""A small server that takes whatever is sent to it, and keeps what came over the wire."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Received:
    """One request: names of headers in lower case, the body as it was before it was cut into chunks."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Recorder:
    """Where it listens, and what it has received."""

    url: str
    received: list[Received] = field(default_factory=list)

    def at(self, path: str) -> list[Received]:
        """What was sent to this path."""
        return [one for one in self.received if one.path == path]


@contextmanager
def record() -> Iterator[Recorder]:
    """Listen on a free port of 127.0.0.1; every POST is answered with 200 and an empty JSON object."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            recorder.received.append(Received(self.path, headers, self._body(headers)))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def _body(self, headers: dict[str, str]) -> bytes:
            if headers.get("transfer-encoding") != "chunked":
                return self.rfile.read(int(headers.get("content-length", "0")))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def log_request(self, code: object = "-", size: object = "-") -> None:
            """Say nothing: what was received is kept."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    recorder = Recorder(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
