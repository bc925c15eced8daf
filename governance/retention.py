"""Retention: what came in longer ago than an environment's policy keeps it goes (spec 6.5).

Age is counted from `received_at`, by the server's clock: an agent's may be wrong. Counters (`Intake`, `ReadCount`)
stay, for they hold nothing of anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.dateparse import parse_datetime

from catalog import jobs
from catalog.models import Environment, JobRun
from governance.models import Call, ContextSpan, TaskOutcome
from governance.removal import BATCH, breathe, remove_calls, remove_spans, remove_tasks

# Spans of context wait so long for a call of their trace.
CALL_WITHIN = timedelta(hours=24)
# Well within the lease of a job: what is left is for the next hour.
LONGEST_RUN = timedelta(minutes=15)
MOST_COUNTED = 100_000

Clock = Callable[[], datetime]
Remove = Callable[[Sequence[int]], int]


@dataclass(frozen=True, slots=True)
class Expired:
    """What a run took away: calls, spans and tasks past their time, and `orphans`, spans whose trace had no call.

    `looked_until`: spans received before have been asked for their calls. `finished` is false where the time ended
    first.
    """

    calls: int
    spans: int
    tasks: int
    orphans: int
    looked_until: datetime | None
    finished: bool


def expire_once(*, environment: Environment, clock: Clock) -> Expired | None:
    """Expire in one environment, once an hour however many ask; None where that is done or being done.

    A run that ended on the way is taken up by the next: what is gone is not there to be found again.
    """
    now, name = clock(), f"expire {environment.name}"
    made: list[Expired] = []

    def work() -> dict[str, Any]:
        made.append(
            expire(
                environment=environment,
                looked_until=_looked_until(name),
                clock=clock,
                until=now + LONGEST_RUN,
            )
        )
        return _told(made[0])

    jobs.run_once(name=name, period=f"{now:%Y-%m-%dT%H}", work=work, clock=clock)
    return made[0] if made else None


def expire(
    *, environment: Environment, clock: Clock, until: datetime, looked_until: datetime | None = None
) -> Expired:
    """Take away what is past its time, a batch a transaction, until all of it is gone or the time is up.

    `looked_until` is that of the run before: spans from before then have their calls, or are gone.
    """
    now = clock()
    before = now - timedelta(days=environment.retention_days)
    old = {"environment": environment, "received_at__lt": before}
    calls, all_calls = _take(Call.objects.filter(**old), remove_calls, clock, until)
    spans, all_spans = _take(ContextSpan.objects.filter(**old), remove_spans, clock, until)
    tasks, all_tasks = _take(TaskOutcome.objects.filter(**old), remove_tasks, clock, until)
    orphans, looked = _take_orphans(environment, now - CALL_WITHIN, looked_until, clock, until)
    finished = all_calls and all_spans and all_tasks and looked == now - CALL_WITHIN
    return Expired(calls, spans, tasks, orphans, looked, finished)


def count_past(*, environment: Environment, retention_days: int, now: datetime) -> int:
    """How many calls another retention would take away, counted up to MOST_COUNTED."""
    before = now - timedelta(days=retention_days)
    old = Call.objects.filter(environment=environment, received_at__lt=before)
    return old.order_by("received_at")[:MOST_COUNTED].count()


def _take(rows: QuerySet[Any], remove: Remove, clock: Clock, until: datetime) -> tuple[int, bool]:
    """Take the rows away, the oldest first; answers how many, and whether that was all."""
    count, last = 0, None
    while clock() < until:
        with transaction.atomic():
            # What an erasure holds goes by it, or in the next hour: nobody waits for the other.
            ahead = (rows if last is None else rows.filter(received_at__gte=last)).select_for_update(
                skip_locked=True
            )
            found = list(ahead.order_by("received_at").values_list("pk", "received_at")[:BATCH])
            count += remove([pk for pk, _ in found])
        if len(found) < BATCH:
            return count, True
        # Behind the place that was come to: what is gone still lies in the index for a while.
        last = found[-1][1]
        breathe()
    return count, False


def _take_orphans(
    environment: Environment, before: datetime, since: datetime | None, clock: Clock, until: datetime
) -> tuple[int, datetime | None]:
    """Take away the spans received until `before` of traces without any call; answers also how far it came."""
    spans = ContextSpan.objects.filter(environment=environment, received_at__lt=before)
    called = Call.objects.filter(
        trace_id=OuterRef("trace_id"), agent=OuterRef("agent_id"), environment=OuterRef("environment_id")
    )
    count, mark, last = 0, since, 0
    while clock() < until:
        ahead = spans
        if mark is not None:
            ahead = spans.filter(received_at__gte=mark).exclude(received_at=mark, pk__lte=last)
        with transaction.atomic():
            found = list(
                ahead.order_by("received_at", "pk")
                .annotate(has_call=Exists(called))
                .values_list("pk", "received_at", "has_call")[:BATCH]
            )
            alone = [pk for pk, _, has_call in found if not has_call]
            held = ContextSpan.objects.filter(pk__in=alone).order_by("pk").select_for_update(skip_locked=True)
            count += remove_spans(list(held.values_list("pk", flat=True)))
        if len(found) < BATCH:
            return count, before
        last, mark = found[-1][0], found[-1][1]
        breathe()
    return count, mark


def _looked_until(name: str) -> datetime | None:
    """How far the last run that finished had come among the spans."""
    runs = JobRun.objects.filter(name=name, finished_at__isnull=False).order_by("-period")
    result = runs.values_list("result", flat=True).first() or {}
    return parse_datetime(result.get("looked_until") or "") if isinstance(result, dict) else None


def _told(done: Expired) -> dict[str, Any]:
    """The run as its row keeps it."""
    return {
        "calls": done.calls,
        "spans": done.spans,
        "tasks": done.tasks,
        "orphans": done.orphans,
        "looked_until": done.looked_until.isoformat() if done.looked_until else "",
        "finished": done.finished,
    }
