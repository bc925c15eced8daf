"""Many rows at once: COPY on PostgreSQL, one prepared statement on SQLite.

Rows are tuples of what Python holds (`UUID`, `datetime`, `Decimal`); JSON columns take text. Nothing is
validated and no signal is sent: this is for rows that the program itself has made.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, models

Row = tuple[Any, ...]


def insert(model: type[models.Model], columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Insert the rows, whose values stand in the order of `columns`; raises IntegrityError as any insert does."""
    if not rows:
        return
    table, names = _quoted(model._meta.db_table), ", ".join(map(_quoted, columns))
    if connection.vendor == "postgresql":
        # The wrapper turns the driver's faults into Django's.
        with (
            connection.cursor() as cursor,
            connection.wrap_database_errors,
            cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row(row)
        return
    places = ", ".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({names}) VALUES ({places})",  # noqa: S608 (names of ours)
            list(_as_sqlite_keeps(model, columns, rows)),
        )


@contextmanager
def in_line() -> Iterator[None]:
    """One after the other where there is one writer: SQLite itself would sleep and look again, with the processor idle.

    Beside a transaction, never within one; processes that share VAR_DIR stand in the same line.
    """
    if connection.vendor != "sqlite":
        yield
        return
    with (settings.VAR_DIR / "store.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def next_ids(model: type[models.Model], count: int) -> Sequence[int]:
    """So many ids of an automatic key that no other transaction will use."""
    table, column = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
                [_quoted(table), column, count],
            )
            return [row[0] for row in cursor.fetchall()]
        # A transaction of SQLite holds the write lock from its beginning, and an insert moves the counter.
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        last = (cursor.fetchone() or (0,))[0]
        return range(last + 1, last + 1 + count)


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def _as_sqlite_keeps(model: type[models.Model], columns: Sequence[str], rows: Sequence[Row]) -> Iterable[Row]:
    """The rows with moments, ids and decimals as Django writes them in SQLite."""
    fields = {field.column: field for field in model._meta.concrete_fields}
    changes = [(place, change) for place, column in enumerate(columns) if (change := _change(fields[column]))]
    for row in rows:
        values = list(row)
        for place, change in changes:
            if values[place] is not None:
                values[place] = change(values[place])
        yield tuple(values)


def _change(field: Any) -> Callable[[Any], Any] | None:
    if field.is_relation:
        return _change(field.target_field)
    if isinstance(field, models.UUIDField):
        return _hex
    if isinstance(field, models.DateTimeField):
        return _moment
    if isinstance(field, models.DecimalField):
        return lambda value: connection.ops.adapt_decimalfield_value(
            value, field.max_digits, field.decimal_places
        )
    return None


def _moment(value: datetime) -> str:
    return str(value.astimezone(UTC).replace(tzinfo=None))


def _hex(value: UUID) -> str:
    return value.hex
