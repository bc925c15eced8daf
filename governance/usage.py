"""Counters of what the feed served, by the hour.

A read is counted in memory and written every two seconds: the feed itself never waits for the
database. A process that is killed loses the reads of its last two seconds, and no call. A poll that
lists five hundred skills is one number until it is written, and then one statement.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction

from catalog import background
from catalog.models import Agent, Environment, Version
from governance.models import ReadCount

log = logging.getLogger(__name__)

# Below what a statement of SQLite takes.
BATCH = 500

# hour, environment, agent, read
Place = tuple[datetime, UUID, UUID, str]
# the same, and the ids of the versions as 32 hex digits
Key = tuple[datetime, UUID, UUID, str, tuple[str, ...]]


class _Counts:
    """The reads of this process that are not written yet."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: Counter[Key] = Counter()

    def take(self) -> Counter[Key]:
        with self.lock:
            taken, self.waiting = self.waiting, Counter()
        return taken

    def give_back(self, taken: Mapping[Key, int]) -> None:
        with self.lock:
            self.waiting.update(taken)


_counts = _Counts()


def count_reads(
    *, environment_id: UUID, agent_id: UUID, version_ids: tuple[str, ...], read: ReadCount.Read, now: datetime
) -> None:
    """Count that the agent was served these versions, all of them once."""
    hour = now.replace(minute=0, second=0, microsecond=0)
    with _counts.lock:
        _counts.waiting[(hour, environment_id, agent_id, read.value, version_ids)] += 1
    background.wake()


def flush() -> int:
    """Write what was counted; answers how many counters. On a fault nothing is lost, and it raises.

    Reads of what has been deleted since are dropped.
    """
    taken = _merge(_counts.take())
    written = 0
    try:
        for key in sorted(taken, key=str):
            written += _add(key, taken[key])
            del taken[key]
    finally:
        _counts.give_back(taken)
    return written


background.register("counters of reads", flush)


def _merge(taken: Mapping[Key, int]) -> Counter[Key]:
    """The same with each version once: callers in many arms of gray releases are many sets that overlap."""
    sets: defaultdict[Place, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
    for (hour, environment, agent, read, ids), count in taken.items():
        sets[hour, environment, agent, read].append((ids, count))
    merged: Counter[Key] = Counter()
    for place, found in sets.items():
        for ids, count in found if len(found) == 1 else _by_total(found):
            merged[*place, ids] = count
    return merged


def _by_total(sets: Iterable[tuple[tuple[str, ...], int]]) -> Iterator[tuple[tuple[str, ...], int]]:
    """The ids that come to the same total, and that."""
    totals: Counter[str] = Counter()
    for ids, count in sets:
        for one in ids:
            totals[one] += count
    alike: defaultdict[int, list[str]] = defaultdict(list)
    for one, total in totals.items():
        alike[total].append(one)
    for total, some in alike.items():
        yield tuple(some), total


def _add(key: Key, count: int) -> int:
    """Add to the counters of one key, in a transaction of its own: two processes hold no rows of two keys."""
    *_, ids = key
    ordered = sorted(ids)
    with transaction.atomic():
        written = sum(
            _add_some(key, count, ordered[first : first + BATCH]) for first in range(0, len(ordered), BATCH)
        )
    if written < len(ids):
        log.warning("%d counters of reads refer to what was deleted; they are dropped.", len(ids) - written)
    return written


def _add_some(key: Key, count: int, ids: list[str]) -> int:
    hour, environment, agent, read, _ = key
    at, where, who = connection.ops.adapt_datetimefield_value(hour), _id(environment), _id(agent)
    table = ReadCount._meta.db_table
    places = ", ".join(["%s"] * len(ids))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (hour, environment_id, agent_id, skill_id, version_id, read, count)"  # noqa: S608
            f" SELECT %s, %s, %s, one.skill_id, one.id, %s, %s FROM {Version._meta.db_table} one"
            f" WHERE one.id IN ({places})"
            f" AND EXISTS (SELECT 1 FROM {Environment._meta.db_table} WHERE id = %s)"
            f" AND EXISTS (SELECT 1 FROM {Agent._meta.db_table} WHERE id = %s)"
            " ORDER BY one.id"
            " ON CONFLICT (hour, environment_id, agent_id, version_id, read)"
            f" DO UPDATE SET count = {table}.count + excluded.count",
            [at, where, who, read, count, *ids, where, who],
        )
        return int(cursor.rowcount)


def _id(one: UUID) -> UUID | str:
    """As the driver wants it: SQLite keeps UUIDs as 32 digits."""
    return one if connection.features.has_native_uuid_field else one.hex
