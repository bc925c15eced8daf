"""Counters of what the feed served, by the hour.

A read is counted in memory and written every two seconds: the feed itself never waits for the
database. A process that is killed loses the reads of its last two seconds, and no call. A poll that
lists five hundred skills is one number until it is written, and then one statement.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
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
    taken = _counts.take()
    places: defaultdict[Place, list[Key]] = defaultdict(list)
    for key in taken:
        hour, environment, agent, read, _ = key
        places[hour, environment, agent, read].append(key)
    written = 0
    try:
        for place in sorted(places, key=str):
            # Callers in many arms of gray releases are many sets, and most of each is the same.
            totals: Counter[str] = Counter()
            for key in places[place]:
                totals.update(dict.fromkeys(key[4], taken[key]))
            written += _add(place, totals)
            for key in places[place]:
                del taken[key]
    finally:
        _counts.give_back(taken)
    return written


background.register("counters of reads", flush)


def _add(place: Place, totals: Mapping[str, int]) -> int:
    """Add to the counters of one place, in a transaction of its own: two processes hold no rows of two places."""
    ordered = sorted(totals.items())
    with transaction.atomic():
        written = sum(
            _add_some(place, ordered[first : first + BATCH]) for first in range(0, len(ordered), BATCH)
        )
    if written < len(totals):
        dropped = len(totals) - written
        log.warning("%d counters of reads refer to what was deleted; they are dropped.", dropped)
    return written


def _add_some(place: Place, totals: Sequence[tuple[str, int]]) -> int:
    hour, environment, agent, read = place
    at, where, who = connection.ops.adapt_datetimefield_value(hour), _id(environment), _id(agent)
    table = ReadCount._meta.db_table
    rows = ", ".join(["(%s, %s)"] * len(totals))
    id_ = "CAST(told.column1 AS uuid)" if connection.features.has_native_uuid_field else "told.column1"
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (hour, environment_id, agent_id, skill_id, version_id, read, count)"  # noqa: S608
            f" SELECT %s, %s, %s, one.skill_id, one.id, %s, told.column2 FROM (VALUES {rows}) told"
            f" JOIN {Version._meta.db_table} one ON one.id = {id_}"
            f" WHERE EXISTS (SELECT 1 FROM {Environment._meta.db_table} WHERE id = %s)"
            f" AND EXISTS (SELECT 1 FROM {Agent._meta.db_table} WHERE id = %s)"
            " ORDER BY one.id"
            " ON CONFLICT (hour, environment_id, agent_id, version_id, read)"
            f" DO UPDATE SET count = {table}.count + excluded.count",
            [at, where, who, read, *(value for row in totals for value in row), where, who],
        )
        return int(cursor.rowcount)


def _id(one: UUID) -> UUID | str:
    """As the driver wants it: SQLite keeps UUIDs as 32 digits."""
    return one if connection.features.has_native_uuid_field else one.hex
