"""A whole instance, as a newcomer starts it: web, worker and scheduler over sample data."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import environ
import psycopg

from tests.portal.ports import find_port

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120


@dataclass(frozen=True)
class Instance:
    """Where it answers, the environment in which its commands run, and its supervising process."""

    url: str
    environ: dict[str, str]
    pid: int = 0

    def manage(self, *words: str) -> str:
        """What `manage.py` prints; AssertionError where it fails."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *words],
            env=self.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    def token(self, *words: str) -> str:
        """A token, as `manage.py token` prints it."""
        return self.manage("token", *words).strip()


@contextmanager
def serve_instance(folder: Path, **settings: str) -> Iterator[Instance]:
    """Start an instance in `folder`, on a database of its own where DATABASE_URL is PostgreSQL's.

    `settings` are further variables of its environment.
    """
    with _own_database() as database:
        port = find_port()
        told = {**os.environ, **database, "VAR_DIR": str(folder / "var"), "RATE_LIMIT": "0", **settings}
        instance = Instance(f"http://127.0.0.1:{port}", told)
        instance.manage("migrate", "--verbosity", "0")
        instance.manage("sample_data")
        with _served("--port", str(port), told=told, log=folder / "log") as pid:
            yield replace(instance, pid=pid)


@contextmanager
def serve_web(folder: Path, database: str, **settings: str) -> Iterator[str]:
    """Start a web server without worker over the database; answers its address. Fails where it logs a traceback.

    `settings` are further variables of its environment.
    """
    folder.mkdir()
    port, log = find_port(), folder / "log"
    own = {"DATABASE_URL": database, "REDIS_URL": "", "VAR_DIR": str(folder), "RATE_LIMIT": "0", **settings}
    with _served("--no-worker", "--port", str(port), told=os.environ | own, log=log):
        yield f"http://127.0.0.1:{port}"
    assert "Traceback" not in log.read_text(), log.read_text()[-4000:]


@contextmanager
def _served(*words: str, told: Mapping[str, str], log: Path) -> Iterator[int]:
    """`manage.py serve` with these words, ready; its process."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "serve", *words],
            env={**told, "PYTHONUNBUFFERED": "1"},
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + SECONDS
        while "is ready at" not in log.read_text():
            assert process.poll() is None, log.read_text()[-4000:]
            assert time.monotonic() < deadline, log.read_text()[-4000:]
            time.sleep(0.1)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


@contextmanager
def _own_database() -> Iterator[dict[str, str]]:
    """DATABASE_URL of an empty database beside the one that is set; nothing where none is."""
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        yield {}
        return
    name = f"served_{secrets.token_hex(4)}"
    given = environ.Env.db_url_config(url)
    keys = {"HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password"}
    where = {key: given[name] for name, key in keys.items() if given.get(name)}
    with psycopg.connect(dbname="postgres", autocommit=True, **where) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            yield {"DATABASE_URL": urlsplit(url)._replace(path=f"/{name}").geturl()}
        finally:
            server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
