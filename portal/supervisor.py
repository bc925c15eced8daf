"""The processes of one instance: started together, kept running, stopped together.

Each child leads a session of its own, so a Ctrl-C reaches this process alone, which then asks every
child to stop, once and in order; a group that is asked twice stops twice and loses what it was doing.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType

PR_SET_PDEATHSIG = 1
STOP_SECONDS = 25.0
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
LONG_ENOUGH = 60.0

libc = ctypes.CDLL(None, use_errno=True)


@dataclass
class Child:
    """One kind of process: its name for people, its command, and how it fares."""

    name: str
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = FIRST_PAUSE
    due: float = 0.0

    @property
    def is_running(self) -> bool:
        """Whether the process itself runs; its own children may outlive it."""
        return self.process is not None and self.process.poll() is None


@dataclass
class Supervisor:
    """Runs `children`; they stop in the order given. `say` receives lines for people."""

    children: Sequence[Child]
    environ: Mapping[str, str]
    say: Callable[[str], None]
    stop_seconds: float = STOP_SECONDS
    stops: int = field(default=0, init=False)

    def start(self) -> None:
        """Start every child; call from the main thread, whose end is what ends the children."""
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, self.ask_to_stop)
        for child in self.children:
            self.spawn(child)

    def ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        """A signal to this process: the first stops the children, another one ends them at once."""
        self.stops += 1

    def spawn(self, child: Child) -> None:
        """Start one child in a session of its own, bound to the life of this process."""
        child.started = time.monotonic()
        child.process = subprocess.Popen(
            child.command, env=dict(self.environ), start_new_session=True, preexec_fn=die_with(os.getpid())
        )

    def watch(self) -> None:
        """Restart what ends, until this process is asked to stop."""
        while not self.stops:
            for child in self.children:
                self.look_after(child, now=time.monotonic())
            time.sleep(0.2)

    def look_after(self, child: Child, *, now: float) -> None:
        """Notice a child that ended, end what it left behind, and start it again after a pause."""
        if child.process is None:
            if now >= child.due:
                self.spawn(child)
            return
        code = child.process.poll()
        if code is None:
            return
        if now - child.started > LONG_ENOUGH:
            child.pause = FIRST_PAUSE
        kill_group(child.process.pid)
        child.process = None
        child.due = now + child.pause
        self.say(f"The {child.name} ended with {code}; it starts again in {child.pause:.0f} s.")
        child.pause = min(child.pause * 2, LONGEST_PAUSE)

    def stop(self) -> None:
        """Ask every child to stop, wait for what they are doing, then end what is left."""
        for child in self.children:
            if child.process is not None and child.is_running:
                with contextlib.suppress(ProcessLookupError):
                    child.process.send_signal(signal.SIGTERM)
        asked, deadline = self.stops, time.monotonic() + self.stop_seconds
        while any(child.is_running for child in self.children):
            if time.monotonic() > deadline or self.stops > max(asked, 1):
                self.say("Ending what has not stopped.")
                break
            time.sleep(0.05)
        for child in self.children:
            if child.process is not None:
                kill_group(child.process.pid)
                child.process.wait()


def kill_group(leader: int) -> None:
    """End every process of the session that `leader` began."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def die_with(parent: int) -> Callable[[], None]:
    """What a child runs before its program: the kernel then ends it when `parent` is gone, however that went."""

    def prepare() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        # The parent may have gone before the line above.
        if os.getppid() != parent:
            os._exit(1)

    return prepare
