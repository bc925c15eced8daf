"""Spans a second that come in over OTLP, are masked and lie in the store, beside MLflow and Phoenix.

`.venv/bin/python bench/ingest.py` starts each server as it starts by itself, on SQLite, sends it the same kind of
batches (bench/spans.py) over four and over eight connections, and counts until all of them can be read from the store by another
process: what is only acknowledged does not count. A second part writes masked rows into the tables, once by
`governance.store` and once by a bare executemany or COPY of the same rows (`DATABASE_URL` names PostgreSQL), in turn.

The peers need environments of their own: `--install` makes them in var/bench/ (or in `--peers FOLDER`).
"""

from __future__ import annotations

import argparse
import http.client
import os
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import peers, served
from bench.peers import Receiver
from bench.spans import Batch, batches

SIZE, ROUNDS = 500, 3
# Connections at a time: a few agents, and more of them.
SENDERS = (4, 8)
# So many batches in a round, by how fast the receiver is.
LENGTHS = {"ours": 40, "mlflow": 6, "phoenix": 2}
GOALS = {"mlflow": 10, "phoenix": 50}
PATIENCE = 600.0
COUNTS = ("SELECT count(*) FROM governance_call", "SELECT count(*) FROM governance_contextspan")


def main() -> None:
    """Print the figures and their ratios."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--peers", type=Path, default=served.ROOT / "var" / "bench")
    options.add_argument("--install", action="store_true", help="make the environments of the peers first")
    asked = options.parse_args()
    if asked.install:
        peers.install(asked.peers)
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        receivers = {"ours": stack.enter_context(ours(folder))}
        for peer, start in (("mlflow", peers.mlflow), ("phoenix", peers.phoenix)):
            if (asked.peers / peer).is_dir():
                receivers[peer] = stack.enter_context(start(asked.peers, folder))
            else:
                print(f"{peer} is left out: {asked.peers / peer} is not there; --install makes it.")
        for senders in SENDERS:
            compare(receivers, senders=senders)
    compare_inserts()


@contextmanager
def ours(folder: Path) -> Iterator[Receiver]:
    """Quartermaster's web server as `manage.py serve` starts it."""
    environ = served.make_instance(folder, skills=200, canaries=20)
    store = folder / "var" / "quartermaster.sqlite3"
    with served.granian("portal.wsgi:application", environ, folder / "ours.log", workers=2) as server:
        headers = {"Authorization": f"Bearer {served.SECRET}"}
        yield Receiver(server, headers, peers.counting(store, *COUNTS))


def compare(receivers: dict[str, Receiver], *, senders: int) -> None:
    """Durable spans a second of each, by round; they take turns, so that a slow moment meets all."""
    found: dict[str, list[float]] = {name: [] for name in receivers}
    example = next(batches(1, size=SIZE, seed="example"))
    print(
        f"Batches of {SIZE} spans, {len(example.body) / SIZE:.0f} bytes each, {example.calls / SIZE:.0%} acts of a skill; "
        f"{senders} connections; medians of {ROUNDS} rounds, until all can be read from the store"
    )
    for round_ in range(ROUNDS + 1):
        for name, receiver in receivers.items():
            count = LENGTHS[name] if round_ else 2
            sent = list(batches(count, size=SIZE, seed=f"{name} {senders} {round_}"))
            rate = measure(receiver, sent, senders=senders)
            if round_:
                found[name].append(rate)
    for name, rates in found.items():
        told = f"  {name:<8} {statistics.median(rates):8.0f} spans/s"
        if name != "ours":
            ratio = statistics.median(our / other for our, other in zip(found["ours"], rates, strict=True))
            told += f"  ours is {ratio:6.1f}x as fast  (goal {GOALS[name]}x)"
        print(told, flush=True)


def measure(receiver: Receiver, sent: Sequence[Batch], *, senders: int) -> float:
    """Spans a second from the first byte until the store holds all."""
    wanted = receiver.stored() + sum(batch.spans for batch in sent)
    context = get_context("fork")
    # The sender is a process of its own, so that it takes no time from the counting.
    sender = context.Process(target=send_all, args=(receiver, sent, senders))
    begun = time.perf_counter()
    sender.start()
    while (there := receiver.stored()) < wanted:
        if time.perf_counter() - begun > PATIENCE or sender.exitcode not in (None, 0):
            raise SystemExit(f"{wanted - there} spans did not arrive.")
        time.sleep(0.05)
    taken = time.perf_counter() - begun
    sender.join()
    return sum(batch.spans for batch in sent) / taken


def send_all(receiver: Receiver, sent: Sequence[Batch], senders: int) -> None:
    """Send them over so many connections, each batch until it is taken."""
    waiting = iter(sent)
    with ThreadPoolExecutor(senders) as pool:
        for done in [pool.submit(_send_some, receiver, waiting) for _ in range(senders)]:
            done.result()


def _send_some(receiver: Receiver, waiting: Iterator[Batch]) -> None:
    link = http.client.HTTPConnection(served.HOST, receiver.server.port, timeout=300)
    headers = {"Content-Type": "application/x-protobuf", **receiver.headers}
    for batch in waiting:
        status = 503
        while status in (429, 503):
            link.request("POST", "/v1/traces", batch.body, headers)
            answer = link.getresponse()
            status, told = answer.status, answer.read()
            if status in (429, 503):
                time.sleep(0.2)
        if status not in (200, 202):
            raise SystemExit(f"{status}: {told[:300]!r}")


def compare_inserts() -> None:
    """The store alone, in a process of its own, on SQLite and in a new database of the server of DATABASE_URL."""
    with ExitStack() as stack:
        databases = [""]
        if os.environ.get("DATABASE_URL", "").startswith("postgres"):
            databases.append(stack.enter_context(own_database(os.environ["DATABASE_URL"])))
        for database in databases:
            folder = stack.enter_context(TemporaryDirectory())
            environ = {"VAR_DIR": folder, "DATABASE_URL": database, "REDIS_URL": ""}
            command = [sys.executable, "-m", "bench.inserts"]
            subprocess.run(command, cwd=served.ROOT, env=os.environ | environ, check=True)


@contextmanager
def own_database(url: str) -> Iterator[str]:
    """The address of a new database on that server, which goes afterwards."""
    name = f"bench_{secrets.token_hex(4)}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlsplit(url)._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


if __name__ == "__main__":
    main()
