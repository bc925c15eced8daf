"""Other receivers of traces, each from a virtual environment of its own, with their own stores.

`python bench/ingest.py --install` makes the environments in var/bench/; they are large, and no part of the project.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import served

PINNED = {"mlflow": ["mlflow==3.17.2", "opentelemetry-proto"], "phoenix": ["arize-phoenix==20.26.1"]}


@dataclass(frozen=True)
class Receiver:
    """A server that takes OTLP, what is sent with each request, and how many spans lie in its store."""

    server: served.Server
    headers: Mapping[str, str]
    stored: Callable[[], int]


def install(folder: Path) -> None:
    """Make an environment for each."""
    for name, wanted in PINNED.items():
        subprocess.run([sys.executable, "-m", "venv", str(folder / name)], check=True)
        subprocess.run([folder / name / "bin" / "pip", "install", "--quiet", *wanted], check=True)


@contextmanager
def mlflow(programs: Path, folder: Path) -> Iterator[Receiver]:
    """MLflow as it starts by itself, on SQLite."""
    store, port = folder / "mlflow.db", served.free_port()
    command = [
        str(programs / "mlflow" / "bin" / "mlflow"), "server", "--host", served.HOST, "--port", str(port),
        "--backend-store-uri", f"sqlite:///{store}", "--default-artifact-root", str(folder / "artifacts"),
    ]  # fmt: skip
    environ = {"PATH": f"{programs / 'mlflow' / 'bin'}:/usr/bin:/bin", "MLFLOW_DISABLE_TELEMETRY": "true"}
    with served.started(command, environ, folder / "mlflow.log", port) as server:
        yield Receiver(server, {"x-mlflow-experiment-id": "0"}, counting(store, "SELECT count(*) FROM spans"))


@contextmanager
def phoenix(programs: Path, folder: Path) -> Iterator[Receiver]:
    """Phoenix as it starts by itself, on SQLite."""
    port, other = served.free_port(), served.free_port()
    environ = {
        "PHOENIX_WORKING_DIR": str(folder / "phoenix"),
        "PHOENIX_HOST": served.HOST,
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(other),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    (folder / "phoenix").mkdir()
    command = [str(programs / "phoenix" / "bin" / "phoenix"), "serve"]
    with served.started(command, environ, folder / "phoenix.log", port) as server:
        store = folder / "phoenix" / "phoenix.db"
        yield Receiver(server, {}, counting(store, "SELECT count(*) FROM spans"))


def counting(store: Path, *statements: str) -> Callable[[], int]:
    """The sum of these counts in a file of SQLite."""

    def count() -> int:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=30)) as link:
            return sum(int(link.execute(statement).fetchone()[0]) for statement in statements)

    return count
