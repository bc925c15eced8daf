"""Jobs for the worker; each is one call to the floor below, and may come twice."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from catalog import jobs, upkeep
from governance import approvals


@shared_task
def sweep(**_: object) -> None:
    """Once a day: remove bytes that nothing refers to."""
    now = timezone.now()

    def work() -> dict[str, int]:
        swept = upkeep.sweep(now=now)
        return {"rows": swept.rows, "files": swept.files}

    jobs.run_once(name="sweep", period=f"{now:%Y-%m-%d}", work=work, clock=timezone.now)


@shared_task
def forget(**_: object) -> None:
    """Once an hour: close proposals that nobody decided, and forget answered requests."""
    now = timezone.now()

    def work() -> dict[str, int]:
        return {"expired": approvals.expire_proposals(now=now), "forgotten": upkeep.forget(now=now)}

    jobs.run_once(name="forget", period=f"{now:%Y-%m-%dT%H}", work=work, clock=timezone.now)
