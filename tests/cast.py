"""What the tests of the domain share beside `tests.make`: threads that start together, and a database for them."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections

from catalog.bundles.bundle import Bundle
from catalog.bundles.files import File, Limits, Tree
from catalog.bundles.reading import read_bundle
from catalog.journal import Actor
from catalog.models import JournalEntry, User
from tests import make
from tests.portal.ports import find_port, wait_for_port

ROOT = Path(__file__).resolve().parents[1]


def actor(user: User | None) -> Actor:
    """The user as somebody who acts, or the system."""
    return Actor(user=user, origin="127.0.0.1", is_system=user is None)


def verbs() -> list[str]:
    """What the journal tells, in its order."""
    return list(JournalEntry.objects.order_by("n").values_list("verb", flat=True))


def tool(name: str, *, needs: dict[str, str] | None = None, version: str = "1.0.0") -> Bundle:
    """A tool skill that depends on others."""
    lines = "".join(f"  {one}: {minimum}\n" for one, minimum in (needs or {}).items())
    more = f"dependencies:\n{lines}" if lines else ""
    files = {
        "manifest.yaml": make.manifest(name, version=version, more=more),
        # No byte in common with another tool: a shared blob would be a lock of both.
        "run.py": f"#!/usr/bin/env python3\n# {name}\n".encode(),
    }
    return make.bundle(files, folder=name.replace(".", "-").replace("_", "-"))


def tree(files: dict[str, bytes], folder: str = "") -> Tree:
    """A tree of files in memory."""
    return Tree(folder, tuple(File(path, content) for path, content in sorted(files.items())))


def read(files: dict[str, bytes], folder: str = "") -> Bundle:
    """A bundle of files in memory."""
    return read_bundle(tree(files, folder), limits=Limits())


def together(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """Do all of it at the same time; the result of each, or its exception, in order."""
    done: list[Any] = [None] * len(works)
    gate = threading.Barrier(len(works))

    def run(place: int, work: Callable[[], Any]) -> None:
        try:
            gate.wait(30)
            done[place] = work()
        except Exception as fault:  # noqa: BLE001  # it is what the caller asks for
            done[place] = fault
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return done


@pytest.fixture
def shared_database(transactional_db: None, tmp_path: Path) -> Iterator[str]:
    """A database for many connections, empty but for the defaults, and its address.

    SQLite's tests run in memory, where threads lock each other's tables; this is a copy in a file.
    """
    if connection.vendor != "sqlite":
        told = connection.settings_dict
        yield f"postgres://{told['USER']}@{told['HOST']}:{told['PORT']}/{told['NAME']}"
        return
    memory, settings, path = connection, connections.settings["default"], tmp_path / "shared.sqlite3"
    memory = connections["default"]
    memory.ensure_connection()
    copy = sqlite3.connect(path)
    memory.connection.backup(copy)
    copy.close()
    connections.settings["default"] = {**settings, "NAME": str(path)}
    del connections["default"]
    try:
        yield f"sqlite:///{path}"
    finally:
        connections["default"].close()
        connections.settings["default"] = settings
        connections["default"] = memory


@pytest.fixture
def server(shared_database: str, tmp_path: Path) -> Iterator[str]:
    """A web server of two processes on that database, and its address."""
    port, log = find_port(), tmp_path / "server.log"
    environ = os.environ | {
        "DATABASE_URL": shared_database,
        "REDIS_URL": "",
        "VAR_DIR": str(tmp_path),
        "RATE_LIMIT": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--http", "1", "--no-ws", "--host", "127.0.0.1",
        "--port", str(port), "--workers", "2", "--blocking-threads", "8", "portal.wsgi:application",
    ]  # fmt: skip
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=out, stderr=out)
        try:
            wait_for_port(port, seconds=60)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)
    assert "Traceback" not in log.read_text(), log.read_text()[-4000:]
