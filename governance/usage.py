"""Counters of what the feed served, by the hour.

A read is counted in memory and written every two seconds: the feed itself never waits for the
database. A process that is killed loses the reads of its last two seconds, and no call.
"""

from __future__ import annotations

import atexit
import logging
import threading
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection, transaction

from catalog.models import Agent, Environment, Skill, Version
from catalog.resolution import Served
from governance.models import ReadCount

log = logging.getLogger(__name__)

FLUSH_SECONDS = 2.0

# hour, environment, agent, skill, version, read
Key = tuple[datetime, UUID, UUID, UUID, UUID, str]


class _Counts:
    """The reads of this process that are not written yet."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: Counter[Key] = Counter()
        self.thread: threading.Thread | None = None

    def take(self) -> Counter[Key]:
        with self.lock:
            taken, self.waiting = self.waiting, Counter()
        return taken

    def give_back(self, taken: Counter[Key]) -> None:
        with self.lock:
            self.waiting.update(taken)


_counts = _Counts()


def count_reads(
    *, environment_id: UUID, agent_id: UUID, served: Iterable[Served], read: ReadCount.Read, now: datetime
) -> None:
    """Count that the agent was served these versions."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    with _counts.lock:
        for one in served:
            _counts.waiting[(hour, environment_id, agent_id, one.skill_id, one.version_id, read.value)] += 1
    if settings.COUNT_IN_BACKGROUND:
        _ensure_thread()


def flush() -> int:
    """Write what was counted; answers how many counters. On a fault nothing is lost, and it raises.

    Reads of what has been deleted since are dropped.
    """
    taken = _counts.take()
    if not taken:
        return 0
    try:
        # Sorted, so that two processes take the locks of the same rows in one order.
        return _write(sorted(taken.items(), key=str))
    except Exception:
        _counts.give_back(taken)
        raise


def _write(rows: list[tuple[Key, int]]) -> int:
    try:
        _add(rows)
    except IntegrityError:
        kept = _still_there(rows)
        if len(kept) == len(rows):
            raise
        log.warning(
            "%d counters of reads refer to what was deleted; they are dropped.", len(rows) - len(kept)
        )
        _add(kept)
        return len(kept)
    return len(rows)


def _still_there(rows: list[tuple[Key, int]]) -> list[tuple[Key, int]]:
    """The rows whose environment, agent, skill and version all exist."""
    for place, model in ((1, Environment), (2, Agent), (3, Skill), (4, Version)):
        asked = {key[place] for key, _ in rows}
        there = set(model._default_manager.filter(pk__in=asked).values_list("pk", flat=True))
        rows = [row for row in rows if row[0][place] in there]
    return rows


def _add(rows: list[tuple[Key, int]]) -> None:
    table = ReadCount._meta.db_table
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} (hour, environment_id, agent_id, skill_id, version_id, read, count)"  # noqa: S608
            " VALUES (%s, %s, %s, %s, %s, %s, %s)"
            " ON CONFLICT (hour, environment_id, agent_id, version_id, read)"
            f" DO UPDATE SET count = {table}.count + excluded.count",
            [_adapted(row) for row in rows],
        )


def _adapted(row: tuple[Key, int]) -> tuple[Any, ...]:
    """The row as the driver wants it: SQLite keeps UUIDs as 32 digits."""
    (hour, environment, agent, skill, version, read), count = row
    ids = (environment, agent, skill, version)
    adapt = connection.ops.adapt_datetimefield_value
    if connection.features.has_native_uuid_field:
        return (adapt(hour), *ids, read, count)
    return (adapt(hour), *(one.hex for one in ids), read, count)


def _ensure_thread() -> None:
    with _counts.lock:
        if _counts.thread is not None and _counts.thread.is_alive():
            return
        _counts.thread = threading.Thread(target=_keep_flushing, name="read-counts", daemon=True)
        _counts.thread.start()
    atexit.register(_flush_last)


def _keep_flushing() -> None:
    pause = threading.Event()
    while not pause.wait(FLUSH_SECONDS):
        try:
            flush()
        except Exception:
            log.exception("Counters of reads could not be written; they are tried again.")
        finally:
            connection.close()


def _flush_last() -> None:
    try:
        flush()
    except Exception:
        log.exception("The last counters of reads could not be written.")
