"""Masked rows into the tables: each call and span once, however often and by how many it is reported at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction

from governance import bulk
from governance.calls import Task
from governance.masks import stored_id
from governance.models import Call, CallDetail, ContextSpan, Intake, SubjectTag, TaskOutcome
from governance.models.traces import Source
from governance.references import References
from governance.rows import (
    CALL_COLUMNS,
    DETAIL_COLUMNS,
    SPAN_COLUMNS,
    TAG_COLUMNS,
    MaskedCall,
    MaskedSpan,
)

# Spans of context that are kept of a trace; one may be a little over where several batches come at once.
MOST_SPANS = 200
TRIES = 5
# Below what a statement of SQLite takes.
_AT_ONCE = 900


@dataclass(frozen=True, slots=True)
class Batch:
    """What an agent reported at once, masked; `key_id` names the key of the tags, `rejected` counts what is left out."""

    agent_id: UUID
    environment_id: UUID
    source: Source
    calls: Mapping[str, MaskedCall]
    spans: Mapping[tuple[str, str], MaskedSpan]
    tasks: Sequence[Task]
    repeated: int
    rejected: int
    key_id: str
    now: datetime


@dataclass(frozen=True, slots=True)
class Stored:
    """How many calls were new, how many there already, and the spans of context kept and over the bound."""

    accepted: int
    duplicates: int
    spans: int
    dropped: int


def store(batch: Batch) -> Stored:
    """Write the batch and count it, in one transaction; what is there already is left as it is.

    Two batches with the same calls at the same time: one of them waits for the other, then starts again.
    """
    for attempt in range(TRIES):
        try:
            with bulk.in_line(), transaction.atomic():
                return _write(batch)
        except IntegrityError:
            if attempt == TRIES - 1:
                raise
    raise AssertionError  # the last try returned or raised


def _write(batch: Batch) -> Stored:
    calls = _new_calls(batch)
    references = References(batch.environment_id, [call.row for call in calls])
    referred = [references.of(call.row) for call in calls]
    spans, dropped = _new_spans(batch)
    tags = []
    # Ids follow the agent's order, rows one that is the same for all, so that two batches do not lock each other out.
    own: dict[str, object] = {
        "agent_id": batch.agent_id,
        "environment_id": batch.environment_id,
        "source": batch.source.value,
        "received_at": batch.now,
    }
    if calls:
        ids = bulk.next_ids(Call, len(calls))
        placed = sorted(zip(ids, calls, referred, strict=True), key=lambda one: one[1].name)
        bulk.insert(Call, CALL_COLUMNS, [call.call_row(pk, {**own, **keys}) for pk, call, keys in placed])
        bulk.insert(CallDetail, DETAIL_COLUMNS, [call.detail_row(pk) for pk, call, _ in placed])
        tags += [row for pk, call, _ in placed for row in call.tag_rows(pk, batch.key_id)]
    if spans:
        places = sorted(
            zip(bulk.next_ids(ContextSpan, len(spans)), spans, strict=True), key=lambda one: one[1].name
        )
        bulk.insert(ContextSpan, SPAN_COLUMNS, [span.span_row(pk, own) for pk, span in places])
        tags += [row for pk, span in places for row in span.tag_rows(pk, batch.key_id)]
    bulk.insert(SubjectTag, TAG_COLUMNS, tags)
    _write_tasks(batch)
    stored = Stored(len(calls), len(batch.calls) + batch.repeated - len(calls), len(spans), dropped)
    # Last, for batches of one agent wait for each other here until they are committed.
    unknown = sum(is_unknown(call.row, keys) for call, keys in zip(calls, referred, strict=True))
    _count(batch, stored, unknown=unknown, masked=len(tags))
    return stored


def _new_calls(batch: Batch) -> list[MaskedCall]:
    """The calls that are not there yet, in the agent's order."""
    known = set[str]()
    mine = Call.objects.filter(agent_id=batch.agent_id, environment_id=batch.environment_id)
    for names in _portions(batch.calls):
        known.update(mine.filter(call_id__in=names).values_list("call_id", flat=True))
    return [call for name, call in batch.calls.items() if name not in known]


def _new_spans(batch: Batch) -> tuple[list[MaskedSpan], int]:
    """The spans that are not there yet, as far as each trace has room, and how many are over."""
    known = set[tuple[str, str]]()
    mine = ContextSpan.objects.filter(agent_id=batch.agent_id, environment_id=batch.environment_id)
    for traces in _portions({trace for trace, _ in batch.spans}):
        known.update(mine.filter(trace_id__in=traces).values_list("trace_id", "span_id"))
    held: defaultdict[str, int] = defaultdict(int)
    for trace, _ in known:
        held[trace] += 1
    kept, dropped = [], 0
    for name, span in sorted(batch.spans.items(), key=lambda item: (item[1].row["started_at"], item[0])):
        if name in known:
            continue
        if held[name[0]] >= MOST_SPANS:
            dropped += 1
            continue
        held[name[0]] += 1
        kept.append(span)
    return kept, dropped


def _portions(names: Iterable[str]) -> Iterator[list[str]]:
    waiting = iter(names)
    while portion := list(islice(waiting, _AT_ONCE)):
        yield portion


def _write_tasks(batch: Batch) -> None:
    rows = [
        TaskOutcome(
            agent_id=batch.agent_id,
            environment_id=batch.environment_id,
            task_id=stored_id("task_id", task.task_id),
            trace_id=stored_id("trace_id", task.trace_id),
            completed=task.completed,
            calls=task.calls,
            replans=task.replans,
            received_at=batch.now,
        )
        for task in batch.tasks
    ]
    rows.sort(key=lambda row: row.task_id)
    TaskOutcome.objects.bulk_create(rows, ignore_conflicts=True)


def is_unknown(call: Mapping[str, Any], keys: Mapping[str, Any]) -> bool:
    """Whether the call names a skill or a version that is not in the catalog."""
    return bool(
        (call["skill_text"] and keys["skill_id"] is None)
        or (call["version_text"] and keys["version_id"] is None)
    )


def _count(batch: Batch, stored: Stored, *, unknown: int, masked: int) -> None:
    """Add to the counters of this hour."""
    counts = {
        "accepted": stored.accepted,
        "duplicates": stored.duplicates,
        "rejected": batch.rejected,
        "unknown": unknown,
        "spans": stored.spans,
        "dropped": stored.dropped,
        "masked": masked,
    }
    table, names = Intake._meta.db_table, ("environment_id", "agent_id", "hour", "source", *counts, "last_at")
    added = ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in counts)
    hour = batch.now.replace(minute=0, second=0, microsecond=0)
    at, last = map(connection.ops.adapt_datetimefield_value, (hour, batch.now))
    where, who = (_id(one) for one in (batch.environment_id, batch.agent_id))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(['%s'] * len(names))})"  # noqa: S608
            f" ON CONFLICT (agent_id, environment_id, hour, source) DO UPDATE SET {added}, last_at = excluded.last_at",
            [where, who, at, batch.source.value, *counts.values(), last],
        )


def _id(one: UUID) -> UUID | str:
    """As the driver wants it: SQLite keeps UUIDs as 32 digits."""
    return one if connection.features.has_native_uuid_field else one.hex
