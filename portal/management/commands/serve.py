"""`manage.py serve`: web server, worker and scheduler in the foreground."""

from __future__ import annotations

import fcntl
import http.client
import os
import socket
import sys
import time
from argparse import ArgumentParser
from typing import IO, Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

from portal.supervisor import Child, Supervisor

START_SECONDS = 90.0
PYTHON = (sys.executable, "-m")
WEB = (
    *PYTHON, "granian", "--interface", "wsgi", "--http", "1", "--no-ws",
    "--workers", "2", "--blocking-threads", "8", "--respawn-failed-workers", "--workers-kill-timeout", "10",
    # A path may hold a token, so the access log has none.
    "--log-level", "error", "--access-log", "--access-log-fmt", "%(time)s %(method)s %(status)d %(dt_ms).1f ms",
)  # fmt: skip
CELERY = (*PYTHON, "celery", "--quiet", "--app", "portal")


class Command(BaseCommand):
    help = "Run the portal: web server, worker and scheduler, until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=int, default=8000, help="port to listen on (8000)")
        parser.add_argument("--no-worker", action="store_true", help="only the web server")

    def handle(self, *args: Any, host: str, port: int, no_worker: bool, **options: Any) -> None:
        check_address(host, port)
        check_migrations()
        lock = None if no_worker else claim_folder()
        call_command("collectstatic", interactive=False, verbosity=0)
        supervisor = Supervisor(
            children=list_children(host=host, port=port, worker=not no_worker),
            environ=make_environ(),
            say=lambda line: self.stderr.write(line),
        )
        supervisor.start()
        try:
            self.announce(supervisor, host=host, port=port)
            supervisor.watch()
        finally:
            self.stdout.write("Stopping …")
            supervisor.stop()
            if lock:
                lock.close()
        self.stdout.write("Stopped.")

    def announce(self, supervisor: Supervisor, *, host: str, port: int) -> None:
        """Wait until the web server answers, then print its address."""
        deadline = time.monotonic() + START_SECONDS
        web = supervisor.children[0]
        while not supervisor.stops and not is_healthy(host, port):
            if not web.is_running:
                raise CommandError("The web server ended before it answered; its messages are above.")
            if time.monotonic() > deadline:
                raise CommandError(f"The web server does not answer after {START_SECONDS:.0f} seconds.")
            time.sleep(0.2)
        if not supervisor.stops:
            self.stdout.write(f"Quartermaster is ready at {show_address(host, port)} (stop with Ctrl-C).")


def list_children(*, host: str, port: int, worker: bool) -> list[Child]:
    """The processes of an instance, in the order in which they stop."""
    web = Child("web server", [*WEB, "--host", host, "--port", str(port), "portal.wsgi:application"])
    if not worker:
        return [web]
    level = ["--loglevel", settings.LOG_LEVEL]
    # The database scheduler writes no file; where another is configured, it must not write into any folder.
    schedule = ["--schedule", str(settings.VAR_DIR / "beat-schedule")]
    return [
        web,
        Child("scheduler", [*CELERY, "beat", *level, *schedule]),
        Child("worker", [*CELERY, "worker", "--concurrency", "2", *level]),
    ]


def make_environ() -> dict[str, str]:
    """The environment of the children: the same folders as here, whatever folder this was started in."""
    path = os.pathsep.join(filter(None, [str(settings.BASE_DIR), os.environ.get("PYTHONPATH", "")]))
    return os.environ | {"PYTHONPATH": path, "VAR_DIR": str(settings.VAR_DIR)}


def check_address(host: str, port: int) -> None:
    """Raise CommandError where the web server could not listen there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else "no such port"
            raise CommandError(
                f"Port {port} on {host} cannot be used ({reason}); give another with --port."
            ) from None


def check_migrations() -> None:
    """Raise CommandError where the database lacks a migration of this release."""
    connection = connections["default"]
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    connection.close()
    if hasattr(connection, "close_pool"):  # PostgreSQL: this process needs the database no more
        connection.close_pool()
    if missing:
        raise CommandError(f"The database lacks {len(missing)} migrations; run 'manage.py migrate' first.")


def claim_folder() -> IO[str]:
    """Keep a second worker and scheduler away from VAR_DIR as long as the answer is open; raises CommandError."""
    settings.VAR_DIR.mkdir(parents=True, exist_ok=True)
    file: IO[str] = (settings.VAR_DIR / "serve.lock").open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise CommandError(
            f"Another 'serve' uses {settings.VAR_DIR}; stop it, or start this one with --no-worker."
        ) from None
    return file


def is_healthy(host: str, port: int) -> bool:
    """Whether the health address answers without an error of the server."""
    connection = http.client.HTTPConnection(show_host(host), port, timeout=5)
    try:
        connection.request("GET", "/healthz", headers={"Host": choose_name(host, port)})
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def choose_name(host: str, port: int) -> str:
    """A Host header that ALLOWED_HOSTS lets through."""
    names = [name for name in settings.ALLOWED_HOSTS if not name.startswith((".", "*"))]
    return names[0] if names else f"{show_host(host)}:{port}"


def show_host(host: str) -> str:
    """Where a client on this machine finds a server that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104 (compared, not bound)


def show_address(host: str, port: int) -> str:
    """The address to open in a browser on this machine."""
    name = show_host(host)
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"
