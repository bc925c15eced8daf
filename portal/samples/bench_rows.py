"""Traces that are made up, written as ingest would have written them: rows, tags, and counters that match."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import Any
from uuid import UUID

from django.db import transaction

from catalog.models import Version
from governance.bulk import Row, insert, next_ids
from governance.masks import masker
from governance.models import Call, CallDetail, ContextSpan, Intake, ReadCount, SubjectTag, TaskOutcome
from governance.store import is_unknown
from portal.samples.bench_payloads import DETAIL
from portal.samples.bench_runs import COLUMNS, Trace

SPAN_COLUMNS = (
    "id", "agent_id", "environment_id", "trace_id", "span_id", "parent_id", "name", "outcome", "started_at",
    "duration_ms", "attributes", "received_at",
)  # fmt: skip
TASK_COLUMNS = (
    "agent_id", "environment_id", "task_id", "trace_id", "completed", "calls", "replans", "received_at",
)  # fmt: skip
TAG_COLUMNS = ("call_id", "span_id", "hash", "key_id", "kind")
INTAKE = ("accepted", "duplicates", "rejected", "unknown", "spans", "dropped", "masked")
# How often an agent asks for the list in an hour in which it loads something from it.
POLLS = 12
_VERSION, _KIND = COLUMNS.index("version_id"), COLUMNS.index("kind")

# agent, environment, hour, source
Place = tuple[UUID, UUID, datetime, str]
# hour, environment, agent, version, read
Read = tuple[datetime, UUID, UUID, UUID, str]


class Writer:
    """Writes traces and counts them; what an hour came to is written once no more can come in it."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.key_id = masker().key_id
        self.intake: defaultdict[Place, Counter[str]] = defaultdict(Counter)
        self.last: dict[Place, datetime] = {}
        self.reads: Counter[Read] = Counter()
        self.skill_of = dict(Version.objects.values_list("pk", "skill_id"))

    def write(self, traces: Sequence[Trace], *, until: datetime | None) -> None:
        """Write the traces and the counters of the hours before `until`: None for all of them."""
        with transaction.atomic():
            tags = [*self._calls(traces), *self._spans(traces)]
            insert(SubjectTag, TAG_COLUMNS, tags)
            insert(TaskOutcome, TASK_COLUMNS, [row for trace in traces for row in _task(trace)])
            for trace in traces:
                self._count(trace)
            self._write_intake(until)
            self._write_reads(until)

    def _calls(self, traces: Sequence[Trace]) -> list[Row]:
        calls = [call for trace in traces for call in trace.calls]
        ids = list(next_ids(Call, len(calls)))
        numbered = list(zip(ids, calls, strict=True))
        insert(Call, ("id", *COLUMNS), [(pk, *call.row) for pk, call in numbered])
        insert(CallDetail, ("call_id", *DETAIL), [(pk, *call.payload.detail) for pk, call in numbered])
        return [
            (pk, None, hash_, self.key_id, kind) for pk, call in numbered for hash_, kind in call.payload.tags
        ]

    def _spans(self, traces: Sequence[Trace]) -> list[Row]:
        spans = [(trace, span) for trace in traces for span in trace.spans]
        numbered = list(zip(next_ids(ContextSpan, len(spans)), spans, strict=True))
        rows = [
            (
                pk, trace.lane.agent_id, trace.lane.environment_id, *span.ids, span.told.name, "ok",
                span.started_at, span.duration_ms, span.told.text, trace.received_at,
            )
            for pk, (trace, span) in numbered
        ]  # fmt: skip
        insert(ContextSpan, SPAN_COLUMNS, rows)
        return [
            (None, pk, hash_, self.key_id, kind)
            for pk, (_, span) in numbered
            for hash_, kind in span.told.tags
        ]

    def _count(self, trace: Trace) -> None:
        lane, hour = trace.lane, trace.received_at.replace(minute=0, second=0, microsecond=0)
        place = (lane.agent_id, lane.environment_id, hour, lane.source.value)
        counts = self.intake[place]
        counts["accepted"] += len(trace.calls)
        rows = [dict(zip(COLUMNS, call.row, strict=True)) for call in trace.calls]
        counts["unknown"] += sum(is_unknown(row, row) for row in rows)
        counts["spans"] += len(trace.spans)
        counts["masked"] += sum(len(call.payload.tags) for call in trace.calls)
        counts["masked"] += sum(len(span.told.tags) for span in trace.spans)
        # A batch that was sent twice, and one with an entry that nobody could read.
        counts["duplicates"] += len(trace.calls) * (self.random.random() < 0.002)
        counts["rejected"] += self.random.random() < 0.0005
        self.last[place] = max(self.last.get(place, trace.received_at), trace.received_at)
        for call in trace.calls:
            version, kind = call.row[_VERSION], call.row[_KIND]
            if version and kind in {"loaded", "resource"}:
                self.reads[hour, lane.environment_id, lane.agent_id, version, kind] += 1

    def _write_intake(self, until: datetime | None) -> None:
        done = [place for place in self.intake if until is None or place[2] < until]
        rows: list[Row] = []
        for place in sorted(done, key=str):
            counts = self.intake.pop(place)
            rows.append((*place, *(counts[name] for name in INTAKE), self.last.pop(place)))
        insert(Intake, ("agent_id", "environment_id", "hour", "source", *INTAKE, "last_at"), rows)

    def _write_reads(self, until: datetime | None) -> None:
        done = [read for read in self.reads if until is None or read[0] < until]
        counts: dict[Read, int] = {}
        for read in done:
            counts[read] = self.reads.pop(read)
            counts[(*read[:4], ReadCount.Read.ADVERTISED.value)] = POLLS
        rows: list[tuple[Any, ...]] = [
            (hour, where, who, self.skill_of[version], version, read, count)
            for (hour, where, who, version, read), count in sorted(
                counts.items(), key=lambda one: str(one[0])
            )
        ]
        columns = ("hour", "environment_id", "agent_id", "skill_id", "version_id", "read", "count")
        insert(ReadCount, columns, rows)


def _task(trace: Trace) -> list[Row]:
    if trace.task is None:
        return []
    task_id, completed, replans = trace.task
    lane, calls = trace.lane, len(trace.calls)
    trace_id = trace.calls[0].row[COLUMNS.index("trace_id")]
    return [
        (lane.agent_id, lane.environment_id, task_id, trace_id, completed, calls, replans, trace.received_at)
    ]
