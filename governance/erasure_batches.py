"""What an erasure takes away at a time: whole traces, as many as fit into a batch, or a part of a larger one.

A trace is what one agent reported in one environment under one trace id. The last row of a trace to go holds a tag
of the subject, so that who goes on after a crash finds the rest of the trace by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from governance.models import Call, ContextSpan, SubjectTag, TaskOutcome
from governance.removal import BATCH, prefer_indexes, remove_calls, remove_spans, remove_tasks

# Traces that a batch begins with, and the most; it learns from their size.
TRACES, MOST_TRACES = 50, 200

Model = type[Call] | type[ContextSpan] | type[TaskOutcome]
# Locks are taken in this order of tables, and in each by id: two erasures do not wait for each other.
TABLES: tuple[Model, ...] = (TaskOutcome, ContextSpan, Call)
Rows = Mapping[Model, Sequence[int]]


@dataclass(slots=True)
class Way:
    """What a run remembers between batches: the hashes still to look for, and how many traces fit into a batch."""

    hashes: list[str]
    traces: int = TRACES


@dataclass(frozen=True, slots=True)
class Gone:
    """What a batch took away; `traces` are those that ended with it."""

    traces: int = 0
    calls: int = 0
    spans: int = 0
    tasks: int = 0


@dataclass(frozen=True, slots=True)
class _Group:
    """Traces of one agent in one environment; `anchors` has a tagged row of each."""

    agent_id: UUID
    environment_id: UUID
    anchors: Mapping[str, tuple[Model, int]]


def take_batch(way: Way) -> Gone | None:
    """Take a batch away, in the caller's transaction; None where nothing holds a tag any more."""
    prefer_indexes()
    tagged = _find_tagged(way)
    if not tagged:
        return None
    group = _first_group(tagged)
    if group is None:
        # Somebody else has just taken them.
        return Gone()
    rows, traces = _fit(group, way)
    if not traces:
        anchor, kept = group.anchors[next(iter(group.anchors))]
        rows = _cut(
            {model: [pk for pk in ids if (model, pk) != (anchor, kept)] for model, ids in rows.items()}
        )
    return _remove(rows, is_whole=bool(traces))


def is_tagged(hashes: Sequence[str]) -> bool:
    """Whether anything still holds a tag of these."""
    return SubjectTag.objects.filter(hash__in=hashes).exists()


def _find_tagged(way: Way) -> Sequence[tuple[int | None, int | None]]:
    """Calls and spans with a tag of the subject; a hash that is used up moves to the end of the way."""
    for _ in range(len(way.hashes)):
        # In the order of the index, so that no plan reads the whole table for the first few.
        rows = SubjectTag.objects.filter(hash=way.hashes[0]).order_by("hash", "key_id")
        if found := list(rows.values_list("call_id", "span_id")[:BATCH]):
            return found
        way.hashes.append(way.hashes.pop(0))
    return []


def _first_group(tagged: Sequence[tuple[int | None, int | None]]) -> _Group | None:
    """The traces of these rows that are of one agent and environment."""
    fields = ("pk", "agent_id", "environment_id", "trace_id")
    calls = Call.objects.filter(pk__in=[call for call, _ in tagged if call is not None])
    spans = ContextSpan.objects.filter(pk__in=[span for _, span in tagged if span is not None])
    found: list[tuple[Model, Any]] = [(Call, row) for row in calls.values_list(*fields)]
    found += [(ContextSpan, row) for row in spans.values_list(*fields)]
    if not found:
        return None
    _, (_, agent, environment, _) = found[0]
    anchors: dict[str, tuple[Model, int]] = {}
    for model, (pk, *owner, trace) in found:
        if owner == [agent, environment]:
            anchors.setdefault(trace, (model, pk))
    return _Group(agent, environment, anchors)


def _fit(group: _Group, way: Way) -> tuple[Rows, list[str]]:
    """The rows of as many traces as fit into a batch; no trace where already the first one does not."""
    traces = list(group.anchors)[: way.traces]
    while True:
        rows = {model: _rows(model, group, traces) for model in TABLES}
        size = sum(map(len, rows.values()))
        if size <= BATCH:
            if size < BATCH // 2 and len(traces) == way.traces:
                way.traces = min(way.traces * 2, MOST_TRACES)
            return rows, traces
        if len(traces) == 1:
            return rows, []
        traces = traces[: len(traces) // 2]
        way.traces = len(traces)


def _rows(model: Model, group: _Group, traces: Sequence[str]) -> list[int]:
    """Ids of the rows of these traces: one more than a batch holds says that there are too many."""
    known = model.objects.filter(
        trace_id__in=traces, agent_id=group.agent_id, environment_id=group.environment_id
    )
    return list(known.values_list("pk", flat=True)[: BATCH + 1])


def _cut(rows: Rows) -> Rows:
    """No more than a batch of them."""
    left, cut = BATCH, {}
    for model, ids in rows.items():
        cut[model] = ids[:left]
        left -= len(cut[model])
    return cut


def _remove(rows: Rows, *, is_whole: bool) -> Gone:
    """Lock the rows, then remove those that are still there."""
    held = {model: _hold(model, rows[model]) for model in TABLES}
    traces = {trace for model in (ContextSpan, Call) for _, trace in held[model]} if is_whole else set()
    ids = {model: [pk for pk, _ in found] for model, found in held.items()}
    return Gone(
        traces=len(traces),
        calls=remove_calls(ids[Call]),
        spans=remove_spans(ids[ContextSpan]),
        tasks=remove_tasks(ids[TaskOutcome]),
    )


def _hold(model: Model, ids: Sequence[int]) -> list[tuple[int, str]]:
    if not ids:
        return []
    rows = model.objects.filter(pk__in=ids).order_by("pk").select_for_update()
    return list(rows.values_list("pk", "trace_id"))
