"""Writing what a process noted in memory: every two seconds, in a thread of its own, and at its end."""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable

from django.conf import settings
from django.db import connection

log = logging.getLogger(__name__)

FLUSH_SECONDS = 2.0

_writers: dict[str, Callable[[], object]] = {}
_lock = threading.Lock()
_thread: threading.Thread | None = None


def register(name: str, write: Callable[[], object]) -> None:
    """Have `write` called from now on; where it fails it keeps what it was to write, and is tried again."""
    _writers[name] = write


def wake() -> None:
    """Make sure that the thread runs: a process that was forked has none."""
    global _thread
    if not settings.COUNT_IN_BACKGROUND or (_thread is not None and _thread.is_alive()):
        return
    with _lock:
        if _thread is not None and _thread.is_alive():
            return
        if _thread is None:
            atexit.register(_write_all)
        _thread = threading.Thread(target=_keep_writing, name="notes", daemon=True)
        _thread.start()


def _keep_writing() -> None:
    pause = threading.Event()
    while not pause.wait(FLUSH_SECONDS):
        try:
            _write_all()
        finally:
            connection.close()


def _write_all() -> None:
    for name, write in _writers.items():
        try:
            write()
        except Exception:
            log.exception("The %s could not be written; they are tried again.", name)
