"""What a request writes, and where: kept by an audit hook, which cannot be taken out again."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {"os.mkdir": 0, "os.rename": 1, "os.symlink": 1, "os.link": 1, "os.remove": 0, "os.truncate": 0}


@dataclass
class Watch:
    """Paths that were written, and the seconds of this process that it took."""

    paths: list[str] = field(default_factory=list)
    seconds: float = 0.0
    connections: list[object] = field(default_factory=list)

    def outside(self, folder: Path) -> list[str]:
        """What was written elsewhere; compiled modules are Python's own."""
        home = str(folder) + os.sep
        return [path for path in self.paths if not path.startswith(home) and "__pycache__" not in path]


_active: list[Watch] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if not _active:
        return
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING:
        _note(arguments[0])
    elif event in CHANGES:
        _note(arguments[CHANGES[event]])
    elif event == "socket.connect":
        _active[-1].connections.append(arguments[1])


def _note(path: object) -> None:
    if isinstance(path, str | bytes | os.PathLike):
        _active[-1].paths.append(str(Path(os.fsdecode(path)).absolute()))


sys.addaudithook(_hook)


@contextmanager
def watched() -> Iterator[Watch]:
    """Watch what happens inside."""
    watch, began = Watch(), time.process_time()
    _active.append(watch)
    try:
        yield watch
    finally:
        _active.remove(watch)
        watch.seconds = time.process_time() - began
