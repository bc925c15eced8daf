"""Runs of jobs: one for each job and period, however often a message or a scheduler asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from uuid_utils.compat import uuid7

from catalog.models import JobRun

LEASE = timedelta(minutes=30)


def run_once(
    *, name: str, period: str, work: Callable[[], Mapping[str, Any]], clock: Callable[[], datetime]
) -> Mapping[str, Any] | None:
    """Do the work unless it is done, or being done, for this period; answers its result.

    None means that there was nothing to do. A run that failed, or whose lease has ended without a
    result, is done again when somebody asks, so the work has to bear being begun twice. A run that
    outlives its lease does not write over the one that took its place.
    """
    owner = uuid7()
    if not _lease(name, period, owner, clock()):
        return None
    mine = JobRun.objects.filter(name=name, period=period, owner=owner)
    try:
        result = work()
    except Exception:
        mine.update(leased_until=clock())
        raise
    mine.update(finished_at=clock(), result=dict(result))
    return result


def _lease(name: str, period: str, owner: UUID, now: datetime) -> bool:
    lease = {"owner": owner, "started_at": now, "leased_until": now + LEASE}
    try:
        with transaction.atomic():
            JobRun.objects.create(name=name, period=period, **lease)
    except IntegrityError:
        stale = JobRun.objects.filter(name=name, period=period, finished_at=None, leased_until__lte=now)
        return bool(stale.update(**lease))
    return True
