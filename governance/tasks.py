"""Jobs for the worker; each is one call to the floor below, and may come twice."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from catalog import jobs, rescans, upkeep
from catalog.journal import Actor
from catalog.models import Environment
from governance import approvals, erasures, mail, notices, remasking, retention, rollouts


@shared_task
def sweep(**_: object) -> None:
    """Once a day: remove bytes that nothing refers to, and look over the tables."""
    now = timezone.now()

    def work() -> dict[str, int]:
        swept = upkeep.sweep(now=now)
        upkeep.look_over()
        return {"rows": swept.rows, "files": swept.files}

    jobs.run_once(name="sweep", period=f"{now:%Y-%m-%d}", work=work, clock=timezone.now)


@shared_task
def forget(**_: object) -> None:
    """Once an hour: close proposals that nobody decided, and forget answered requests and old notices."""
    now = timezone.now()

    def work() -> dict[str, int]:
        return {
            "expired": approvals.expire_proposals(now=now),
            "forgotten": upkeep.forget(now=now) + notices.forget_old(now=now),
        }

    jobs.run_once(name="forget", period=f"{now:%Y-%m-%dT%H}", work=work, clock=timezone.now)


@shared_task
def steps(**_: object) -> None:
    """Each minute: move the canaries whose step has lasted long enough; each step is taken once."""
    rollouts.move_due(now=timezone.now())


@shared_task
def tell(**_: object) -> None:
    """Soon after something was written, and each minute: make the notices of it."""
    notices.spread(now=timezone.now())


@shared_task
def post(**_: object) -> None:
    """Each minute: send the notices that are to go by mail."""
    mail.send_due(now=timezone.now())


# Well within the lease of a job: what is left is for the next hour.
LONGEST_RESCAN = timedelta(minutes=20)


@shared_task
def rescan(**_: object) -> None:
    """Once an hour: scan again what older rules have judged; nothing where there is none."""
    now = timezone.now()

    def work() -> dict[str, int]:
        run = rescans.rescan_catalog(
            limits=settings.LIMITS,
            actor=Actor.system("scheduler"),
            clock=timezone.now,
            until=now + LONGEST_RESCAN,
        )
        return {"scanned": run.scanned, "changed": run.changed}

    jobs.run_once(name="rescan", period=f"{now:%Y-%m-%dT%H}", work=work, clock=timezone.now)


@shared_task
def expire(**_: object) -> None:
    """Once an hour: take away the traces that the policies of their environments keep no longer."""
    for environment in Environment.objects.all():
        retention.expire_once(environment=environment, clock=timezone.now)


@shared_task
def erase(**_: object) -> None:
    """Each minute: go on with the erasures of subjects that are asked for and not done."""
    erasures.erase_due(clock=timezone.now, until=timezone.now() + erasures.LONGEST_RUN)


@shared_task
def remask(**_: object) -> None:
    """Each minute: go on masking what is stored by the rules of now, where somebody asked for it."""
    remasking.remask_due(clock=timezone.now, until=timezone.now() + remasking.LONGEST_RUN)
