"""The broker of files, alone and under real workers that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection, Consumer, Queue

from portal import spool

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    spool.register()
    return tmp_path / "broker"


@pytest.fixture
def connect(folder: Path) -> Iterator[Callable[[], Connection]]:
    opened: list[Connection] = []

    def open_one() -> Connection:
        opened.append(Connection("spool://", transport_options={"folder": str(folder)}))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.release()


def send(connection: Connection, body: object, *, queue: str = "q", **headers: object) -> None:
    connection.Producer().publish(
        body, routing_key=queue, declare=[Queue(queue, routing_key=queue)], headers=headers
    )


def find_channel(connection: Connection) -> Any:
    return connection.default_channel


def take(connection: Connection, *, queue: str = "q", no_ack: bool = False) -> Any:
    return find_channel(connection).basic_get(queue, no_ack=no_ack)


def list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder).parent) for path in folder.rglob("*") if path.is_file())


def test_messages_come_in_order_and_leave_nothing(connect: Callable[[], Connection], folder: Path) -> None:
    sender, reader = connect(), connect()
    for number in range(5):
        send(sender, {"n": number})
    assert find_channel(reader)._size("q") == 5
    assert spool.list_queues(folder) == {"q": 5}
    for number in range(5):
        message = take(reader)
        assert message.decode() == {"n": number}
        message.ack()
    assert take(reader) is None
    assert list_files(folder) == []


def test_taken_message_waits_in_flight_until_acknowledged(
    connect: Callable[[], Connection], folder: Path
) -> None:
    connection = connect()
    send(connection, 1)
    message = take(connection)
    assert list_files(folder) == ["inflight"]
    message.ack()
    assert list_files(folder) == []


def test_rejected_message_goes_or_comes_back(connect: Callable[[], Connection], folder: Path) -> None:
    connection = connect()
    send(connection, 1)
    take(connection).requeue()
    assert list_files(folder) == ["ready/q"]
    take(connection).reject()
    assert list_files(folder) == []


def test_message_without_acknowledgement_leaves_at_once(
    connect: Callable[[], Connection], folder: Path
) -> None:
    connection = connect()
    send(connection, 1)
    assert take(connection, no_ack=True).decode() == 1
    assert list_files(folder) == []
    got: list[object] = []
    send(connection, 2)
    with Consumer(
        connection, [Queue("q", routing_key="q")], callbacks=[lambda body, _: got.append(body)], no_ack=True
    ):
        connection.drain_events(timeout=2)
    assert got == [2]
    assert list_files(folder) == []


def test_closing_puts_back_what_was_not_acknowledged(connect: Callable[[], Connection], folder: Path) -> None:
    connection = connect()
    send(connection, 1)
    take(connection)
    connection.release()
    assert list_files(folder) == ["ready/q"]
    assert take(connect()).decode() == 1


def test_message_is_not_taken_before_its_time(connect: Callable[[], Connection]) -> None:
    connection = connect()
    send(connection, "later", eta=(datetime.now(UTC) + timedelta(seconds=0.6)).isoformat())
    assert take(connection) is None
    send(connection, "now")
    assert take(connection).decode() == "now"
    assert take(connection) is None
    time.sleep(0.7)
    assert take(connection).decode() == "later"


@pytest.mark.parametrize("eta", ["soon", None, 5, "2001-01-01T00:00:00", "2001-01-01T00:00:00Z"])
def test_message_of_odd_or_past_time_is_due_now(connect: Callable[[], Connection], eta: object) -> None:
    connection = connect()
    send(connection, 1, eta=eta)
    assert take(connection).decode() == 1


def test_purge_empties_one_queue(connect: Callable[[], Connection], folder: Path) -> None:
    connection = connect()
    for queue in ("a", "a", "b"):
        send(connection, 1, queue=queue)
    assert find_channel(connection).queue_purge("a") == 2
    assert take(connection, queue="a") is None
    assert spool.list_queues(folder) == {"a": 0, "b": 1}


@pytest.mark.parametrize("queue", ["../up", "..", "a@b", "a/b", "with.dots", "ä"])
def test_queue_of_any_name_stays_in_the_folder(
    connect: Callable[[], Connection], folder: Path, queue: str
) -> None:
    connection = connect()
    send(connection, 1, queue=queue)
    assert [len(path.split("/")) for path in list_files(folder)] == [2]
    assert spool.list_queues(folder) == {queue: 1}
    take(connection, queue=queue).ack()
    assert list_files(folder) == []


def test_unreadable_message_is_set_aside(
    connect: Callable[[], Connection], folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    connection = connect()
    send(connection, 1)
    (folder / "ready" / "q" / f"{1:020d}-broken").write_text("{")
    assert take(connection).decode() == 1
    assert list_files(folder) == ["inflight", "unreadable"]
    assert "cannot be read" in caplog.text


def test_recover_puts_back_only_what_dead_processes_had(
    connect: Callable[[], Connection], folder: Path
) -> None:
    connection = connect()
    send(connection, "mine")
    send(connection, "theirs")
    mine, theirs = take(connection), take(connection)
    gone = subprocess.Popen(["true"])
    gone.wait()
    taken = find_channel(connection).taken(theirs.delivery_tag)
    # The same id with another start is another process, as after a restart of a container.
    for owner in (f"{gone.pid}-1", f"{os.getpid()}-1"):
        taken = taken.rename(folder / "inflight" / f"{owner}@{theirs.delivery_tag}")
        assert spool.recover(folder) == 1
        assert list_files(folder) == ["inflight", "ready/q"]
        theirs = take(connect())
        taken = find_channel(connection).taken(theirs.delivery_tag)
    mine.ack()
    assert len(list_files(folder)) == 1


def test_recover_clears_what_was_half_written(connect: Callable[[], Connection], folder: Path) -> None:
    connection = connect()
    send(connection, 1)
    (folder / "written" / "999999999-1@x").write_text("{")
    (folder / "written" / f"{spool.name_process()}@y").write_text("{")
    assert spool.recover(folder) == 0
    assert list_files(folder) == ["ready/q", "written"]


def test_recover_of_a_missing_folder_is_nothing(folder: Path) -> None:
    assert spool.recover(folder) == 0


def test_zombie_counts_as_dead() -> None:
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    owner = f"{process.pid}-{spool.read_start(process.pid)}"
    assert spool.is_alive(owner)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, and not yet waited for
    assert not spool.is_alive(owner)
    process.communicate()


def test_each_message_is_taken_once_by_many_readers(connect: Callable[[], Connection], folder: Path) -> None:
    sender = connect()
    got: list[int] = []
    done = threading.Event()

    def read() -> None:
        connection = connect()
        while not (done.is_set() and find_channel(connection)._size("q") == 0):
            message = take(connection)
            if message is not None:
                got.append(message.decode())
                message.ack()

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(300):
        send(sender, number)
    done.set()
    for reader in readers:
        reader.join(20)
    assert sorted(got) == list(range(300))
    assert list_files(folder) == []


class Workers:
    """Real Celery workers on the spool of one test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder.parent / "runs"
        self.log = folder.parent / "worker.log"
        self.started: list[subprocess.Popen[bytes]] = []
        self.environ = os.environ | {
            "SPOOL_FOLDER": str(folder),
            "PYTHONPATH": str(ROOT),
            "VAR_DIR": str(folder.parent),
        }

    def start(self, concurrency: int = 2) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            "celery",
            "-q",
            "-A",
            "tests.portal.spool_app",
            "worker",
            "-l",
            "INFO",
        ]
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [*command, "-c", str(concurrency), "-n", f"w{len(self.started)}@test"],
                cwd=ROOT,
                env=self.environ,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """As the supervisor does: the worker and its children, without any warning."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def send(self, numbers: range, seconds: float, **options: Any) -> None:
        code = (
            "import sys; from tests.portal.spool_app import note\n"
            f"for n in {numbers!r}: note.apply_async((n, {seconds}), **{options!r})"
        )
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=self.environ, check=True)

    def done(self) -> list[int]:
        text = self.runs.read_text() if self.runs.exists() else ""
        return [int(line.split()[0]) for line in text.splitlines()]

    def wait(self, condition: Callable[[], bool], seconds: float = 40) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.log.read_text()[-3000:]
            time.sleep(0.05)


@pytest.fixture
def workers(folder: Path) -> Iterator[Workers]:
    started = Workers(folder)
    yield started
    for process in started.started:
        if process.poll() is None:
            started.kill(process)


def test_worker_does_each_task_once_and_later_ones_at_their_time(workers: Workers, folder: Path) -> None:
    workers.send(range(100), 0.0)
    workers.send(range(100, 101), 0.0, countdown=4)
    sent = time.time()
    process = workers.start()
    workers.wait(lambda: len(workers.done()) == 101)
    assert sorted(workers.done()) == list(range(101))
    assert float(workers.runs.read_text().splitlines()[-1].split()[1]) >= sent + 3.5
    workers.wait(lambda: list_files(folder) == [], 5)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    assert list_files(folder) == []


@pytest.mark.slow
def test_killed_workers_lose_nothing_and_repeat_only_what_they_had(workers: Workers, folder: Path) -> None:
    workers.send(range(60), 0.1)
    for _ in range(3):
        before = len(workers.done())
        process = workers.start()
        workers.wait(lambda least=before + 6: len(workers.done()) >= least)  # type: ignore[misc]
        workers.kill(process)
    workers.start()
    workers.wait(lambda: set(workers.done()) == set(range(60)))
    workers.wait(lambda: list_files(folder) == [], 10)
    times = Counter(workers.done())
    # At most the two tasks that each killed worker was running can have been done twice.
    assert sum(times.values()) - 60 <= 2 * 3
    assert max(times.values()) <= 1 + 3


@pytest.mark.slow
def test_killed_child_gives_its_task_back(workers: Workers, folder: Path) -> None:
    workers.send(range(1), 2.0)
    process = workers.start(concurrency=1)
    workers.wait(lambda: list_files(folder) == ["inflight"])
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True)
    time.sleep(0.5)
    for child in children.stdout.split():
        os.kill(int(child), signal.SIGKILL)
    workers.wait(lambda: workers.done() == [0])
    workers.wait(lambda: list_files(folder) == [], 5)
    # The killed child had not come to its end: done once, and nothing is left to do it again.
    assert (workers.done(), list_files(folder)) == ([0], [])


@pytest.mark.slow
def test_stopped_worker_puts_back_what_it_had_not_begun(workers: Workers, folder: Path) -> None:
    workers.send(range(12), 0.5)
    process = workers.start()
    workers.wait(lambda: len(workers.done()) >= 2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    assert set(list_files(folder)) == {"ready/celery"}
    assert len(workers.done()) + len(list_files(folder)) == 12
    workers.start()
    workers.wait(lambda: sorted(workers.done()) == list(range(12)))
