"""Erasure: all traces of one subject go, in batches, whoever dies on the way (spec 6.5).

A trace that holds a tag of the subject, in a call or in a span of context, goes whole: its calls, their payloads and
tags, its spans, the outcomes of its tasks.

An erasure begins SETTLE after it was asked for, when whatever was on its way then is written. So everything that
came in before the request is gone when it is done, and so is what came in with the subject's tag before it ended;
what comes later is there again, for nothing is kept by which it could be refused.

Each batch is one transaction with its counts, under the lock of the erasure's row: two workers share the work, none
counts twice, and who takes up a dead one's work goes on with what is left.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, Max

from catalog import access, journal
from catalog.journal import Actor
from catalog.models import Environment
from governance.erasure_batches import Way, is_tagged, take_batch
from governance.masks import known_keys
from governance.models import Erasure, SubjectTag
from governance.removal import breathe
from governance.subjects import Subject

# Longer than a report takes from its receipt to its commit.
SETTLE = timedelta(minutes=1)
# A run of the worker; the next one goes on. The scheduler asks each minute.
LONGEST_RUN = timedelta(minutes=10)
LONGEST_REASON = 500
MOST_DUE = 100
REFUSAL = "Traces of a subject are erased by administrators."

State = Erasure.State
Clock = Callable[[], datetime]


def request_erasure(*, subject: Subject, reason: str, actor: Actor, now: datetime) -> Erasure:
    """Ask for all traces of the subject to be deleted; raises NotAllowed for all but administrators.

    `reason` is kept in the audit log: the caller has masked it (`subjects.without_value`).
    """
    access.require(actor, lambda powers: powers.is_admin, REFUSAL)
    if actor.user is None:
        raise access.NotAllowed(REFUSAL)
    with transaction.atomic():
        made = Erasure.objects.create(
            tags=subject.packed(),
            reason=reason.strip()[:LONGEST_REASON],
            requested_by=actor.user,
            requested_at=now,
        )
        told = {"masks": subject.masks, "reason": made.reason}
        journal.append(actor=actor, verb="erasure.request", target=_target(made.pk), after=told, now=now)
    return made


def subject_of(erasure: Erasure) -> Subject:
    """The subject; after the end with no more of its hashes than masks show."""
    return Subject.unpack(erasure.tags)


def begins_at(erasure: Erasure) -> datetime:
    """From when on its traces go."""
    return erasure.requested_at + SETTLE


def longest_retention() -> timedelta:
    """The longest time that any environment keeps its traces, under the policies of today."""
    return timedelta(days=Environment.objects.aggregate(days=Max("retention_days"))["days"] or 0)


def lost_until(erasure: Erasure, retention: timedelta) -> datetime | None:
    """By when retention will have taken what nobody can search, where that is the longest; None for nothing."""
    if not erasure.lost or erasure.finished_at is None:
        return None
    return erasure.finished_at + retention


def erase_due(*, clock: Clock, until: datetime) -> int:
    """Go on with the erasures that are due, the oldest first, until the time is up; answers how many ended.

    It may be asked at any time, by several at once: one that another worker holds just then is left to it.
    """
    due = Erasure.objects.exclude(state=State.DONE).filter(requested_at__lte=clock() - SETTLE)
    ended = 0
    for row in list(due.order_by("requested_at", "pk")[:MOST_DUE]):
        ended += _erase(row.pk, Way(subject_of(row).hashes), clock, until)
    return ended


def _erase(pk: UUID, way: Way, clock: Clock, until: datetime) -> bool:
    """Take batch after batch away; whether the erasure ended."""
    while clock() < until:
        took = _erase_batch(pk, way)
        if took is None:
            return False
        if not took and _finish(pk, way.hashes, clock()):
            return True
        breathe()
    return False


def _erase_batch(pk: UUID, way: Way) -> bool | None:
    """One batch; False where nothing was left, None where another worker has the erasure, or had it."""
    with transaction.atomic():
        if _hold(pk) is None:
            return None
        gone = take_batch(way)
        if gone is not None:
            Erasure.objects.filter(pk=pk).update(
                state=State.RUNNING,
                traces=F("traces") + gone.traces,
                calls=F("calls") + gone.calls,
                spans=F("spans") + gone.spans,
                tasks=F("tasks") + gone.tasks,
            )
    return gone is not None


def _finish(pk: UUID, hashes: list[str], now: datetime) -> bool:
    """End the erasure unless something came meanwhile; what is kept of the hashes is what masks show."""
    lost = SubjectTag.objects.exclude(key_id__in=known_keys()).count()
    with transaction.atomic():
        row = _hold(pk)
        if row is None or is_tagged(hashes):
            return False
        subject = subject_of(row)
        row.state, row.lost, row.finished_at = State.DONE, lost, now
        row.tags = subject.shortened().packed()
        row.save(update_fields=["state", "lost", "finished_at", "tags"])
        counts = {name: getattr(row, name) for name in ("traces", "calls", "spans", "tasks", "lost")}
        told = {"masks": subject.masks, **counts}
        system = Actor.system("scheduler")
        journal.append(actor=system, verb="erasure.finish", target=_target(pk), after=told, now=now)
    return True


def _hold(pk: UUID) -> Erasure | None:
    """The erasure, locked for this transaction, unless it is done or held."""
    rows = Erasure.objects.select_for_update(skip_locked=True, no_key=True)
    return rows.filter(pk=pk).exclude(state=State.DONE).first()


def _target(pk: UUID) -> str:
    return f"erasure {pk}"
