"""Runs of jobs: one for each job and period, however often a message or a scheduler asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from catalog.models import JobRun

LEASE = timedelta(minutes=30)


def run_once(
    *, name: str, period: str, work: Callable[[], Mapping[str, Any]], now: datetime
) -> Mapping[str, Any] | None:
    """Do the work unless it is done, or being done, for this period; answers its result.

    None means that there was nothing to do. A run whose lease has ended without a result is done
    again, so the work has to bear being begun twice.
    """
    if not _lease(name, period, now):
        return None
    result = work()
    JobRun.objects.filter(name=name, period=period).update(finished_at=now, result=dict(result))
    return result


def _lease(name: str, period: str, now: datetime) -> bool:
    try:
        with transaction.atomic():
            JobRun.objects.create(name=name, period=period, started_at=now, leased_until=now + LEASE)
    except IntegrityError:
        stale = JobRun.objects.filter(name=name, period=period, finished_at=None, leased_until__lt=now)
        return bool(stale.update(started_at=now, leased_until=now + LEASE))
    return True
