"""A message broker of files, for an instance without Redis: the kombu transport `spool://`.

A message is one file. `ready/<queue>/` holds what waits, its name beginning with the time it is due;
`inflight/` holds what a process has taken, its name beginning with that process. Writing ends in a
rename, taking is a rename, acknowledging is an unlink: a process that dies at any point loses nothing,
and what it had taken is put back by `recover` before the next worker starts.

The transport option `folder` names the root. All users of one folder run on one machine.
"""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty
from typing import Any
from urllib.parse import quote, unquote

from kombu.transport import TRANSPORT_ALIASES, virtual
from kombu.utils.json import dumps, loads

logger = logging.getLogger(__name__)

Payload = dict[str, Any]


def register() -> None:
    """Make `spool://` known to kombu."""
    TRANSPORT_ALIASES["spool"] = "portal.spool:Transport"


def recover(folder: Path) -> int:
    """Put back what processes that are gone had taken; answers how many messages. Safe at any time."""
    count = 0
    for taken in (folder / "inflight").glob("*"):
        owner, queue, name = taken.name.split("@")
        if is_alive(owner):
            continue
        ready = folder / "ready" / queue
        ready.mkdir(parents=True, exist_ok=True)
        try:
            taken.rename(ready / name)
        except FileNotFoundError:  # another process recovers too
            continue
        count += 1
    for unfinished in (folder / "written").glob("*"):
        if not is_alive(unfinished.name.partition("@")[0]):
            unfinished.unlink(missing_ok=True)
    return count


def name_process() -> str:
    """The name of this process: its id and its start, for ids are used again (after each start of a container)."""
    return f"{os.getpid()}-{read_start(os.getpid())}"


def is_alive(owner: str) -> bool:
    """Whether the process that `name_process` named so still runs."""
    pid, _, start = owner.partition("-")
    return start != "" and read_start(int(pid)) == start


def read_start(pid: int) -> str:
    """When a process started, in clock ticks since the machine did; "" where there is none (a zombie counts as none)."""
    try:
        # The program's name, in brackets, may hold blanks and brackets.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def read_due(message: Payload) -> int:
    """When a message may be taken, in nanoseconds since 1970: its `eta`, else now."""
    eta = (message.get("headers") or {}).get("eta")
    now = time.time_ns()
    if not isinstance(eta, str):
        return now
    try:
        due = datetime.fromisoformat(eta)
    except ValueError:
        return now
    return max(now, int((due if due.tzinfo else due.replace(tzinfo=UTC)).timestamp() * 1e9))


class QoS(virtual.QoS):
    """Acknowledges on disk; may be called from any thread, as Celery does."""

    channel: Channel

    def ack(self, delivery_tag: str) -> None:
        self.channel.forget(delivery_tag)
        super().ack(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        if requeue:
            self.channel.put_back(delivery_tag)
        else:
            self.channel.forget(delivery_tag)
        super().ack(delivery_tag)


class Channel(virtual.Channel):
    """One user of the folder. A delivery tag is `<queue>@<name>`, so it finds the file alone."""

    QoS = QoS

    def __init__(self, connection: Any, **kwargs: Any) -> None:
        super().__init__(connection, **kwargs)
        self.root = Path(connection.client.transport_options["folder"])
        self.listed: dict[str, deque[str]] = {}
        self.unacknowledged: set[str] = set()
        for name in ("ready", "inflight", "written", "unreadable"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    def basic_consume(self, queue: str, no_ack: bool, *args: Any, **kwargs: Any) -> Any:
        if no_ack:
            self.unacknowledged.add(queue)
        return super().basic_consume(queue, no_ack, *args, **kwargs)

    def basic_get(self, queue: str, no_ack: bool = False, **kwargs: Any) -> Any:
        message = super().basic_get(queue, no_ack=no_ack, **kwargs)
        if message is not None and no_ack:
            self.forget(str(message.delivery_tag))
        return message

    def forget(self, tag: str) -> None:
        """Remove a taken message for good."""
        self.taken(tag).unlink(missing_ok=True)

    def put_back(self, tag: str) -> None:
        """Let a taken message be taken again; one that is gone was acknowledged meanwhile."""
        queue, name = tag.split("@")
        try:
            self.taken(tag).rename(self.root / "ready" / queue / name)
        except FileNotFoundError:
            return

    def taken(self, tag: str) -> Path:
        # Asked for each time: after a fork this is another process.
        return self.root / "inflight" / f"{name_process()}@{tag}"

    def ready(self, queue: str) -> Path:
        # "@" separates the parts of a name, and ".." would leave the folder.
        folder = self.root / "ready" / quote(queue, safe="").replace(".", "%2E")
        folder.mkdir(exist_ok=True)
        return folder

    def _put(self, queue: str, message: Payload, **kwargs: Any) -> None:
        name = f"{read_due(message):020d}-{uuid.uuid4().hex}"
        written = self.root / "written" / f"{name_process()}@{name}"
        with written.open("wb") as file:
            file.write(dumps(message).encode())
            file.flush()
            os.fsync(file.fileno())
        written.rename(self.ready(queue) / name)

    def _get(self, queue: str, timeout: float | None = None) -> Payload:
        folder = self.ready(queue)
        while True:
            tag = f"{folder.name}@{self.next_name(folder)}"
            taken = self.taken(tag)
            try:
                (folder / tag.partition("@")[2]).rename(taken)
            except FileNotFoundError:  # another process was faster
                continue
            try:
                message: Payload = loads(taken.read_bytes())
                message["properties"]["delivery_tag"] = tag
            except (ValueError, KeyError, TypeError):
                logger.exception("A message of queue %s cannot be read; it is kept in unreadable/.", queue)
                taken.rename(self.root / "unreadable" / tag)
                continue
            if queue in self.unacknowledged:
                taken.unlink()
            return message

    def next_name(self, folder: Path) -> str:
        """The name of the oldest message that is due; raises Empty. The folder is listed once for many."""
        names = self.listed.setdefault(folder.name, deque())
        now = f"{time.time_ns():020d}"
        if not names or names[0] > now:
            names.clear()
            names.extend(sorted(os.listdir(folder)))
        if not names or names[0] > now:
            raise Empty
        return names.popleft()

    def _restore(self, message: Any) -> None:
        self.put_back(message.delivery_tag)

    def _purge(self, queue: str) -> int:
        self.listed.clear()
        count = 0
        for file in list(self.ready(queue).iterdir()):
            try:
                file.unlink()
            except FileNotFoundError:
                continue
            count += 1
        return count

    def _size(self, queue: str) -> int:
        return len(os.listdir(self.ready(queue)))

    def _delete(self, queue: str, *args: Any, **kwargs: Any) -> None:
        self._purge(queue)
        try:
            self.ready(queue).rmdir()
        except OSError:  # something was put in meanwhile: it stays
            return


class Transport(virtual.Transport):
    """The kombu transport `spool://`; options: `folder`, `polling_interval` in seconds."""

    Channel = Channel
    driver_type = driver_name = "spool"
    global_state = virtual.BrokerState()
    polling_interval = 0.05

    def __init__(self, client: Any, **kwargs: Any) -> None:
        super().__init__(client, **kwargs)
        # Queues are declared once a process, whichever connection does it.
        self.state = self.global_state

    def driver_version(self) -> str:
        return "1"


def list_queues(folder: Path) -> dict[str, int]:
    """How many messages wait in each queue."""
    return {unquote(queue.name): len(os.listdir(queue)) for queue in sorted((folder / "ready").glob("*"))}
