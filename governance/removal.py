"""Rows of calls, spans and tasks taken away by their ids, without loading them.

Nothing is deleted by the ORM: it would read every row first. What refers to a row goes before it, in the order
that PostgreSQL's foreign keys ask for.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from django.db import connection
from django.db.models import Model

from governance.models import Call, CallDetail, ContextSpan, SubjectTag, TaskOutcome

# Few enough that nobody waits long for a batch, and well below the most parameters of a statement.
BATCH = 500
# SQLite has one writer: between two batches the others get their turn.
PAUSE_SECONDS = 0.02


def remove_calls(ids: Sequence[int]) -> int:
    """Remove calls with their payloads and tags; answers how many were still there."""
    _delete(CallDetail, "call_id", ids)
    _delete(SubjectTag, "call_id", ids)
    return _delete(Call, "id", ids)


def remove_spans(ids: Sequence[int]) -> int:
    """Remove spans of context with their tags; answers how many were still there."""
    _delete(SubjectTag, "span_id", ids)
    return _delete(ContextSpan, "id", ids)


def remove_tasks(ids: Sequence[int]) -> int:
    """Remove outcomes of tasks; answers how many were still there."""
    return _delete(TaskOutcome, "id", ids)


def prefer_indexes() -> None:
    """Have PostgreSQL find rows by an index until the transaction ends: in a table that shrinks its figures are old."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")


def breathe() -> None:
    """Let others write; between two transactions, never inside one."""
    if connection.vendor == "sqlite":
        time.sleep(PAUSE_SECONDS)


def _delete(model: type[Model], column: str, ids: Sequence[int]) -> int:
    if not ids:
        return 0
    table, name = (connection.ops.quote_name(part) for part in (model._meta.db_table, column))
    places = ", ".join(["%s"] * len(ids))
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE {name} IN ({places})", list(ids))  # noqa: S608 - our own names
        return int(cursor.rowcount)
