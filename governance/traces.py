"""Calls come in: typed, masked, and only then written; each once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.db.models import Q, QuerySet

from catalog.access import Powers
from catalog.models import Role
from governance.calls import BadCall, read_call, read_task
from governance.masks import masker
from governance.models import Call, ContextSpan
from governance.models.traces import Source
from governance.otlp import Span
from governance.rows import MaskedCall, MaskedSpan, mask_calls, mask_spans
from governance.store import Batch, store

log = logging.getLogger(__name__)

MOST_CALLS = 1000
# A process takes one batch at a time: several would take its one processor from each other while one of them holds
# the store. The next ones wait so many seconds for their turn. They are few: all others are sent away at once, for
# whoever waits has a thread that the feed could do with.
AT_A_TIME, MOST_WAITING = 1, 5
PATIENCE = 5.0
RETRY_AFTER = 5

_places = threading.BoundedSemaphore(AT_A_TIME + MOST_WAITING)
_turns = threading.BoundedSemaphore(AT_A_TIME)

Read = TypeVar("Read")
Row = TypeVar("Row", MaskedCall, MaskedSpan)


class Busy(Exception):
    """The store cannot take a batch now; nothing of it is written, and it can be sent again in `wait` seconds."""

    wait = RETRY_AFTER

    def __init__(self) -> None:
        super().__init__(f"The store is busy; send the batch again in {RETRY_AFTER} seconds.")


@dataclass(frozen=True, slots=True)
class Rejection:
    """A call (or task) of a batch that was not taken, and why."""

    index: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a batch: `spans` and `dropped` are the spans of context kept, and those over the bounds."""

    accepted: int
    duplicates: int
    rejected: tuple[Rejection, ...]
    rejected_tasks: tuple[Rejection, ...] = ()
    spans: int = 0
    dropped: int = 0


def ingest(
    *,
    calls: Sequence[object],
    agent_id: UUID,
    environment_id: UUID,
    now: datetime,
    tasks: Sequence[object] = (),
    spans: Sequence[Span] = (),
    source: Source = Source.REST,
    refused: int = 0,
) -> Ingested:
    """Take a batch; a call that is there already is a duplicate, a bad one is rejected by itself.

    `calls` and `tasks` are entries of `POST /api/v1/traces` (contract), `spans` the context of their traces. So many
    as were `refused` before they became any of these are counted with the rejected ones of the hour.
    """
    reported, rejected = _read(calls, partial(read_call, now=now))
    outcomes, rejected_tasks = _read(tasks, read_task)
    if not (calls or tasks or spans or refused):
        return Ingested(0, 0, ())
    own = masker()
    with _turn():
        masked = _named(mask_calls(reported, own))
        context = _named(mask_spans(spans, own))
        stored = store(
            Batch(
                agent_id=agent_id,
                environment_id=environment_id,
                source=source,
                calls=masked,
                spans=context,
                tasks=outcomes,
                repeated=len(reported) - len(masked),
                rejected=len(rejected) + refused,
                key_id=own.key_id,
                now=now,
            )
        )
    return Ingested(
        stored.accepted, stored.duplicates, rejected, rejected_tasks, stored.spans, stored.dropped
    )


def _named(rows: Iterable[Row]) -> dict[Any, Row]:
    """The rows by their names, in their order; of several with one name the first."""
    named: dict[Any, Row] = {}
    for row in rows:
        named.setdefault(row.name, row)
    return named


@contextmanager
def _turn() -> Iterator[None]:
    """One of the batches that this process takes at a time; raises Busy instead of letting them pile up."""
    with _held(_places, 0), _held(_turns, PATIENCE):
        try:
            yield
        except (InterfaceError, OperationalError) as fault:
            log.warning("A batch of calls was not taken: %s", fault)
            raise Busy from fault


@contextmanager
def _held(places: threading.Semaphore, patience: float) -> Iterator[None]:
    if not places.acquire(timeout=patience):
        raise Busy
    try:
        yield
    finally:
        places.release()


def _read(
    batch: Sequence[object], read: Callable[[object], Read]
) -> tuple[list[Read], tuple[Rejection, ...]]:
    """What can be read of the batch, and why the rest cannot."""
    found: list[Read] = []
    rejected: list[Rejection] = []
    for index, raw in enumerate(batch):
        try:
            found.append(read(raw))
        except BadCall as problem:
            rejected.append(Rejection(index, problem.code, str(problem)))
    return found, tuple(rejected)


def readable_calls(powers: Powers) -> QuerySet[Call]:
    """The calls that the user may read: an analyst's teams and environments, a publisher's own skills."""
    calls = Call.objects.all()
    allowed = Call.objects.none()
    for right in powers.rights:
        if right.role not in {Role.ANALYST, Role.PUBLISHER}:
            continue
        part = calls
        if right.team_id is not None:
            part = part.filter(skill__team_id=right.team_id)
        elif right.role == Role.PUBLISHER:
            part = part.filter(skill__isnull=False)
        if right.environment_id is not None:
            part = part.filter(environment_id=right.environment_id)
        allowed = allowed | part
    return allowed


def readable_spans(powers: Powers, trace_ids: Collection[str]) -> QuerySet[ContextSpan]:
    """The spans of context of these traces that the user may read: those beside a call that they may read.

    That call is of the same agent and environment, for a trace's id is whatever an agent says.
    """
    # Asked for first: SQLite would look for it among all calls of the agent, for each span.
    beside = readable_calls(powers).filter(trace_id__in=trace_ids)
    theirs = Q(pk__in=())
    for trace, agent, environment in beside.values_list("trace_id", "agent", "environment").distinct():
        theirs |= Q(trace_id=trace, agent=agent, environment=environment)
    return ContextSpan.objects.filter(theirs)
