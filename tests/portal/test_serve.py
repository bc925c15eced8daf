"""`manage.py serve` as people and init systems use it: start, stop, what dies and what must not stay."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.portal.ports import find_port, is_open

ROOT = Path(__file__).resolve().parents[2]
MANAGE = [sys.executable, str(ROOT / "manage.py")]
NAMES = {"granian": "web", " beat ": "scheduler", " worker ": "worker", "manage.py serve": "parent"}


class Instance:
    """An instance in a folder of its own, started from another folder, that must stay empty."""

    def __init__(self, tmp_path: Path) -> None:
        self.var = tmp_path / "var"
        self.elsewhere = tmp_path / "elsewhere"
        self.elsewhere.mkdir()
        self.log = tmp_path / "log"
        self.port = find_port()
        unset = {"DATABASE_URL", "REDIS_URL", "STORAGE_URL"}
        self.environ = {name: value for name, value in os.environ.items() if name not in unset}
        self.environ |= {"VAR_DIR": str(self.var), "PYTHONUNBUFFERED": "1"}
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*MANAGE, *arguments],
            cwd=self.elsewhere, env=self.environ, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip

    def migrate(self) -> None:
        done = self.run("migrate", "--verbosity", "0")
        assert done.returncode == 0, done.stderr

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*MANAGE, "serve", "--port", str(self.port), *arguments],
                cwd=self.elsewhere, env=self.environ, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.wait(lambda: "is ready at" in self.log.read_text())
        return self.process

    def wait(self, condition: Callable[[], bool], seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.log.read_text()[-4000:]
            time.sleep(0.1)

    def find_processes(self) -> dict[int, str]:
        """Every process of this instance that runs, by the folder in its environment, and what it is."""
        mark = f"VAR_DIR={self.var}".encode()
        found = {}
        for folder in Path("/proc").iterdir():
            try:
                if folder.name.isdigit() and mark in (folder / "environ").read_bytes().split(b"\0"):
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(folder.name)] = next(
                        (NAMES[name] for name in NAMES if name in command), command
                    )
            except OSError:
                continue
        return found

    def find_leader(self, name: str) -> int:
        """The process of this kind that the parent itself started."""
        assert self.process is not None
        answer = subprocess.run(
            ["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=True
        )
        kinds = self.find_processes()
        return next(pid for pid in map(int, answer.stdout.split()) if kinds.get(pid) == name)

    def fetch(self, path: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request("GET", path)
        status = connection.getresponse().status
        connection.close()
        return status


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    made = Instance(tmp_path)
    yield made
    for pid in made.find_processes():
        os.kill(pid, signal.SIGKILL)


def test_port_in_use_is_one_sentence(instance: Instance) -> None:
    instance.migrate()
    with socket.socket() as other:
        other.bind(("127.0.0.1", instance.port))
        other.listen()
        done = instance.run("serve", "--port", str(instance.port))
    assert done.returncode == 1
    assert done.stderr == (
        f"CommandError: Port {instance.port} on 127.0.0.1 cannot be used (Address already in use); "
        "give another with --port.\n"
    )


@pytest.mark.parametrize("port", ["70000", "-1"])
def test_port_that_is_none_is_one_sentence(instance: Instance, port: str) -> None:
    done = instance.run("serve", f"--port={port}")
    assert done.returncode == 1
    assert done.stderr == (
        f"CommandError: Port {port} on 127.0.0.1 cannot be used (no such port); give another with --port.\n"
    )


def test_missing_migrations_are_one_sentence(instance: Instance) -> None:
    done = instance.run("serve", "--port", str(instance.port))
    assert done.returncode == 1
    assert done.stderr.startswith("CommandError: The database lacks ")
    assert done.stderr.endswith(" migrations; run 'manage.py migrate' first.\n")


@pytest.mark.slow
def test_ctrl_c_ends_everything_and_all_that_was_written_is_in_one_folder(instance: Instance) -> None:
    instance.migrate()
    process = instance.start()
    assert f"Quartermaster is ready at http://127.0.0.1:{instance.port}/" in instance.log.read_text()
    assert instance.fetch("/healthz") == 200
    instance.wait(lambda: set(instance.find_processes().values()) == {"parent", "web", "scheduler", "worker"})
    instance.wait(lambda: "ready." in instance.log.read_text())

    second = instance.run("serve", "--port", str(find_port()))
    assert second.returncode == 1
    assert second.stderr == (
        f"CommandError: Another 'serve' uses {instance.var}; stop it, or start this one with --no-worker.\n"
    )

    assert instance.fetch("/t/SECRET") in {302, 404}
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert instance.find_processes() == {}
    assert not is_open(instance.port)
    assert list(instance.elsewhere.iterdir()) == []
    log = instance.log.read_text()
    assert log.endswith("Stopped.\n")
    assert "Traceback" not in log
    assert "SECRET" not in log


@pytest.mark.slow
def test_nothing_stays_when_the_parent_is_killed(instance: Instance) -> None:
    instance.migrate()
    process = instance.start()
    instance.wait(lambda: "ready." in instance.log.read_text())
    process.kill()
    process.wait()
    instance.wait(lambda: instance.find_processes() == {}, 30)
    assert not is_open(instance.port)
    # The lock went with the process: it starts again at once.
    instance.log.write_text("")
    instance.start().send_signal(signal.SIGTERM)
    instance.wait(lambda: instance.find_processes() == {}, 30)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["web", "scheduler", "worker"])
def test_what_dies_starts_again_without_leaving_its_children(instance: Instance, name: str) -> None:
    instance.migrate()
    process = instance.start()
    instance.wait(lambda: "ready." in instance.log.read_text())
    leader = instance.find_leader(name)
    group = [pid for pid in instance.find_processes() if os.getpgid(pid) == leader]
    os.kill(leader, signal.SIGKILL)
    instance.wait(lambda: " ended with -9; it starts again in 1 s." in instance.log.read_text())
    instance.wait(lambda: not set(group) & set(instance.find_processes()), 5)
    instance.wait(lambda: name in instance.find_processes().values())
    instance.wait(lambda: is_open(instance.port) and instance.fetch("/healthz") == 200)
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    assert instance.find_processes() == {}


@pytest.mark.slow
def test_without_worker_there_is_only_the_web_server(instance: Instance) -> None:
    instance.migrate()
    process = instance.start("--no-worker")
    assert set(instance.find_processes().values()) <= {"parent", "web"}
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert instance.find_processes() == {}


@pytest.mark.slow
def test_stop_while_starting_ends_everything(instance: Instance) -> None:
    instance.migrate()
    with instance.log.open("ab") as log:
        process = subprocess.Popen(
            [*MANAGE, "serve", "--port", str(instance.port)],
            cwd=instance.elsewhere, env=instance.environ, stdout=log, stderr=log,
        )  # fmt: skip
    instance.wait(lambda: "web" in instance.find_processes().values())
    process.send_signal(signal.SIGINT)
    assert process.wait(40) == 0
    assert instance.find_processes() == {}
