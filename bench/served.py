"""Servers that a bench starts for itself on the loopback, and a client that asks each as fast as it can.

The client is a process with its own connections, so that it takes no time from the server's. It reads
whole answers, asks again at once, and ends after a fixed time.
"""

from __future__ import annotations

import os
import selectors
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOST = "127.0.0.1"
CONNECTIONS = 16
SECRET = "qm_" + "b" * 43
START_SECONDS = 180
# As many threads of a worker as we serve with.
GRANIAN = (
    sys.executable, "-m", "granian", "--interface", "wsgi", "--http", "1", "--no-ws",
    "--blocking-threads", "8", "--log-level", "error", "--host", HOST,
)  # fmt: skip


def make_instance(folder: Path, *, skills: int, canaries: int) -> dict[str, str]:
    """Fill a new database in the folder; answers the environment in which a server serves it."""
    environ = {
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "VAR_DIR": str(folder / "var"),
        "DATABASE_URL": "",
        "REDIS_URL": "",
        "RATE_LIMIT": "1000000000",
    }
    # In a process of its own: this one needs no Django, and its settings would be the server's.
    program = (
        "import django; django.setup()\n"
        "from django.core.management import call_command\n"
        "call_command('migrate', verbosity=0)\n"
        "from bench import rows\n"
        f"rows.fill(skills={skills}, canaries={canaries})\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=os.environ | environ, check=True)
    return environ


@dataclass(frozen=True)
class Server:
    """Where a server listens, and what is sent to it."""

    port: int

    def ask(self, path: str, headers: Mapping[str, str]) -> bytes:
        """A request as it goes over the wire."""
        lines = [f"GET {path} HTTP/1.1", f"Host: {HOST}", *(f"{k}: {v}" for k, v in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode()

    def fetch(self, path: str, headers: Mapping[str, str]) -> tuple[int, dict[str, str], bytes]:
        """The status, headers and body of an answer."""
        with socket.create_connection((HOST, self.port), timeout=30) as link:
            link.sendall(self.ask(path, headers))
            head, rest, length = _read_head(link)
            while len(rest) < length:
                rest += link.recv(1 << 20)
        lines = head.decode("latin-1").split("\r\n")
        told = dict(line.split(": ", 1) for line in lines[1:])
        return int(lines[0].split()[1]), {name.lower(): value for name, value in told.items()}, rest


def rate(server: Server, requests: Sequence[bytes], seconds: float) -> float:
    """Answers a second to these requests, asked in turn over `CONNECTIONS` connections."""
    context = get_context("fork")
    ours, theirs = context.Pipe()
    client = context.Process(target=_ask, args=(theirs, server.port, requests, seconds))
    client.start()
    client.join(seconds + 30)
    if not ours.poll():
        raise SystemExit("The client of the bench ended without a figure.")
    return float(ours.recv())


@contextmanager
def granian(application: str, environ: Mapping[str, str], log: Path, *, workers: int = 1) -> Iterator[Server]:
    """Granian over a WSGI application."""
    port = free_port()
    command = [*GRANIAN, "--workers", str(workers), "--port", str(port), application]
    with started(command, environ, log, port) as server:
        yield server


@contextmanager
def nginx(folder: Path, body: bytes, etag: str) -> Iterator[Server | None]:
    """Nginx with one worker over the same bytes in a file; None where it is not installed (apt-get install nginx)."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        yield None
        return
    port = free_port()
    (folder / "feed").write_bytes(body)
    text = f"""
    worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
    events {{ worker_connections 256; }}
    http {{
        access_log off; keepalive_requests 100000000; default_type application/json; sendfile on;
        client_body_temp_path {folder}/n1; proxy_temp_path {folder}/n2; fastcgi_temp_path {folder}/n3;
        uwsgi_temp_path {folder}/n4; scgi_temp_path {folder}/n5;
        server {{
            listen {HOST}:{port}; root {folder};
            location /kept {{ add_header ETag '{etag}' always; return 304; }}
        }}
    }}"""
    (folder / "nginx.conf").write_text(text)
    command = [program, "-c", str(folder / "nginx.conf"), "-p", str(folder)]
    with started(command, {}, folder / "nginx.out", port) as server:
        yield server


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(command: Sequence[str], environ: Mapping[str, str], log: Path, port: int) -> Iterator[Server]:
    """A server that this command starts, as soon as it listens."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environ, stdout=out, stderr=out)
        try:
            deadline = time.monotonic() + START_SECONDS
            while not _listens(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(f"{command[0]} does not start: {log.read_text()[-2000:]}")
                time.sleep(0.1)
            yield Server(port)
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()


def _listens(port: int) -> bool:
    try:
        socket.create_connection((HOST, port), timeout=1).close()
    except OSError:
        return False
    return True


def _ask(out: object, port: int, requests: Sequence[bytes], seconds: float) -> None:
    selector, sent = selectors.DefaultSelector(), 0
    left: dict[socket.socket, int] = {}
    for _ in range(CONNECTIONS):
        link = socket.create_connection((HOST, port), timeout=30)
        selector.register(link, selectors.EVENT_READ)
        left[link] = 0
        link.sendall(requests[sent % len(requests)])
        sent += 1
    done, begun = 0, time.perf_counter()
    while (now := time.perf_counter()) - begun < seconds:
        for key, _ in selector.select(timeout=1):
            link = key.fileobj
            assert isinstance(link, socket.socket)
            if left[link]:
                left[link] -= len(link.recv(min(left[link], 1 << 20)))
            else:
                _, rest, length = _read_head(link)
                left[link] = length - len(rest)
            if not left[link]:
                done += 1
                link.sendall(requests[sent % len(requests)])
                sent += 1
    out.send(done / (now - begun))  # type: ignore[attr-defined]


def _read_head(link: socket.socket) -> tuple[bytes, bytes, int]:
    """The head of an answer, what was read of its body, and how long that is."""
    data = link.recv(1 << 16)
    while b"\r\n\r\n" not in data:
        more = link.recv(1 << 16)
        if not more:
            raise SystemExit("A server of the bench closed a connection.")
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            length = int(line.partition(b":")[2])
    return head, rest, 0 if b" 304 " in head.partition(b"\r\n")[0] else length
