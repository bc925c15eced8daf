"""Ingest while processes are killed and Redis is away: what was accepted is stored, once, and counted right."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.portal.ports import find_port
from tests.requirements import find_program
from tests.served.instance import Instance, serve_instance

pytestmark = pytest.mark.slow
SENDERS, BATCHES, CALLS = 4, 24, 40
# One counter of the feed's reads, one of what comes in; both against the rows themselves.
RECOUNT = """
import json
from django.db.models import Q, Sum
from governance.models import Call, CallDetail, ContextSpan, Intake
mine = Call.objects.filter(agent__name="steady")
counted = Intake.objects.filter(agent__name="steady").aggregate(
    accepted=Sum("accepted"), spans=Sum("spans"), unknown=Sum("unknown"))
print(json.dumps({
    "calls": mine.count(),
    "names": sorted(mine.values_list("call_id", flat=True)),
    "details": CallDetail.objects.filter(call__agent__name="steady").count(),
    "spans": ContextSpan.objects.filter(agent__name="steady").count(),
    "unknown": mine.filter(~Q(skill_text="") & Q(skill=None) | ~Q(version_text="") & Q(version=None)).count(),
    "counted": counted,
}))
"""


@dataclass
class Sender:
    """Sends batches, each until it is acknowledged, and remembers what came of each."""

    url: str
    secret: str
    number: int
    pause: float = 0.0
    acknowledged: list[str] = field(default_factory=list)
    tries: int = 0
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)

    def run(self) -> None:
        """All batches, by REST and by OpenTelemetry in turn; each second one is sent twice though it was taken."""
        try:
            for batch in range(BATCHES):
                names = [f"{self.number:016x}{batch:08x}{n:08x}" for n in range(1, CALLS + 1)]
                send = self.report if batch % 2 else self.export
                for _ in range(1 + batch % 4 // 2):
                    self.insist(lambda send=send, names=names: send(names))  # type: ignore[misc]
                self.acknowledged += names
                time.sleep(self.pause)
        except Exception as fault:  # noqa: BLE001 (told by the test, which runs in another thread)
            self.faults.append(repr(fault))

    def insist(self, send: Callable[[], None]) -> None:
        """Try again as a sender does while nobody answers or the answer is to come again."""
        deadline = time.monotonic() + 90
        while True:
            self.tries += 1
            begun = time.monotonic()
            try:
                send()
                self.slowest = max(self.slowest, time.monotonic() - begun)
                return
            except urllib.error.HTTPError as refusal:
                if refusal.code not in {429, 502, 503, 504}:
                    raise
            except OSError:
                pass
            if time.monotonic() > deadline:
                raise TimeoutError("No answer for ninety seconds.")
            time.sleep(0.2)

    def report(self, names: list[str]) -> None:
        """A batch by REST."""
        calls = [
            {
                "call_id": name,
                "trace_id": name[:24],
                "skill": "refund-check",
                "version": "1.0.0",
                "outcome": "ok",
                "started_at": "2026-11-30T09:00:00Z",
                "duration_ms": 5,
                "parameters": {"to": "someone@example.org"},
            }
            for name in names
        ]
        answer = json.loads(self.post("/api/v1/traces", json.dumps({"calls": calls}).encode(), "json"))
        assert answer["accepted"] + answer["duplicates"] == len(names), answer

    def export(self, names: list[str]) -> None:
        """The same by OpenTelemetry, with a span of context for each call; a span's id is 16 hex digits."""
        sent = ExportTraceServiceRequest()
        spans = sent.resource_spans.add().scope_spans.add().spans
        for name in names:
            trace, own = bytes.fromhex(name[:24] + "00000000"), bytes.fromhex(name[-16:])
            skilled = spans.add(name="execute_tool load_skill", trace_id=trace, span_id=own)
            skilled.attributes.add(key="gen_ai.skill.name").value.string_value = "refund-check"
            beside = spans.add(name="chat", trace_id=trace, span_id=bytes([255]) + own[1:])
            for span in (skilled, beside):
                span.start_time_unix_nano = time.time_ns() - 10_000_000
                span.end_time_unix_nano = span.start_time_unix_nano + 5_000_000
        answer = self.post("/v1/traces", sent.SerializeToString(), "x-protobuf")
        assert answer == b"", answer

    def post(self, path: str, body: bytes, kind: str) -> bytes:
        """The body of the answer."""
        headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": f"application/{kind}"}
        request = urllib.request.Request(f"{self.url}{path}", data=body, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: bytes = answer.read()
        return found


def children_of(pid: int) -> list[int]:
    """The processes that this one started."""
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def command_of(pid: int) -> str:
    """Its command line; "" where it has just ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""


def send_all(instance: Instance, *, pause: float = 0.0) -> tuple[list[Sender], list[threading.Thread]]:
    """Senders at work."""
    secret = instance.token("agent", "steady", "--environment", "production", "--scopes", "traces:write")
    senders = [Sender(instance.url, secret, number, pause) for number in range(1, SENDERS + 1)]
    threads = [threading.Thread(target=sender.run) for sender in senders]
    for thread in threads:
        thread.start()
    return senders, threads


def check(instance: Instance, senders: list[Sender]) -> dict[str, Any]:
    """Nobody failed; accepted = stored, none twice, counters = recount."""
    assert [sender.faults for sender in senders] == [[]] * SENDERS
    found: dict[str, Any] = json.loads(instance.manage("shell", "--no-imports", "-c", RECOUNT))
    sent = SENDERS * BATCHES * CALLS
    assert found["calls"] == len(set(found["names"])) == found["details"] == sent
    assert sum(len(sender.acknowledged) for sender in senders) == sent
    assert found["spans"] == sent // 2
    assert found["counted"] == {key: found[name] for key, name in COUNTERS.items()}
    return found


COUNTERS = {"accepted": "calls", "spans": "spans", "unknown": "unknown"}


# A process below the web server or the worker, or the whole of it; each whole one costs a pause of seconds.
KILLS = (
    ("granian", False),
    ("celery", False),
    ("granian", False),
    ("granian", True),
    ("granian", False),
    ("celery", True),
    ("granian", False),
)


def victim_of(instance: Instance, program: str, *, whole: bool) -> int:
    """A process of this program, as soon as there is one: its leader, or one that the leader started."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        leaders = [pid for pid in children_of(instance.pid) if program in command_of(pid)]
        found = leaders if whole else [pid for leader in leaders for pid in children_of(leader)]
        if found:
            return found[0]
        time.sleep(0.1)
    raise AssertionError(f"There is no process of {program} to kill.")


def test_web_and_worker_are_killed(tmp_path: Path) -> None:
    with serve_instance(tmp_path) as instance:
        senders, threads = send_all(instance, pause=0.1)
        for name, whole in KILLS:
            time.sleep(0.7)
            victim = victim_of(instance, name, whole=whole)
            os.kill(victim, signal.SIGKILL)
        for thread in threads:
            thread.join()
        assert sum(sender.tries for sender in senders) > SENDERS * BATCHES
        check(instance, senders)


class Redis:
    """A server of Redis on a port of its own, which comes and goes."""

    def __init__(self) -> None:
        self.program, self.port = find_program("redis-server"), find_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Run it; nothing of before is there."""
        command = [self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            time.sleep(0.05)
        raise AssertionError("Redis does not start.")

    def stop(self) -> None:
        """End it at once."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


@pytest.fixture
def redis() -> Iterator[Redis]:
    """One that runs."""
    server = Redis()
    server.start()
    yield server
    server.stop()


def test_redis_is_away_for_thirty_seconds(tmp_path: Path, redis: Redis) -> None:
    # A limit, for it is what every request asks Redis about.
    with serve_instance(tmp_path, REDIS_URL=redis.url, RATE_LIMIT="1000000") as instance:
        senders, threads = send_all(instance, pause=1.5)
        time.sleep(3)
        redis.stop()
        before = sum(len(sender.acknowledged) for sender in senders)
        time.sleep(30)
        during = sum(len(sender.acknowledged) for sender in senders) - before
        redis.start()
        for thread in threads:
            thread.join()
        # Each sender pauses for a second and a half between batches: thirty seconds hold most of them.
        assert during >= SENDERS * BATCHES * CALLS // 4
        assert max(sender.slowest for sender in senders) < 10
        check(instance, senders)
        # Worker and scheduler are back as well: they read the journal, in which something has just been written.
        instance.token("agent", "steady", "--environment", "staging", "--scopes", "feed")
        assert wait_for(lambda: json.loads(instance.manage("shell", "--no-imports", "-c", WORKS)))


WORKS = """
import json
from catalog.models import JournalHead
from governance.models import NoticeCursor
print(json.dumps(NoticeCursor.objects.get().n == JournalHead.objects.get().n))
"""


def wait_for(told: Callable[[], object], seconds: float = 120) -> object:
    """What it tells as soon as that is true."""
    deadline = time.monotonic() + seconds
    while not (found := told()) and time.monotonic() < deadline:
        time.sleep(1)
    return found
