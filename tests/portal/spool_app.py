"""A Celery application over the spool in SPOOL_FOLDER, for workers that the tests start and kill."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_init

from portal import spool
from portal.celery import recover_spool, use_own_logging

# The portal's own application does not run here: neither its log nor its folder is meant.
setup_logging.disconnect(use_own_logging)
worker_init.disconnect(recover_spool)
spool.register()
FOLDER = Path(os.environ.get("SPOOL_FOLDER", "unset"))
RUNS = FOLDER.parent / "runs"

app = Celery("spool_app", broker="spool://", set_as_current=False, fixups=[])
app.conf.update(
    broker_transport_options={"folder": str(FOLDER)},
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    worker_prefetch_multiplier=4,
    timezone="UTC",
)


@worker_init.connect
def put_back(**kwargs: Any) -> None:
    """As the portal's own application does."""
    spool.recover(FOLDER)


@app.task(name="note")  # type: ignore[untyped-decorator, unused-ignore]
def note(number: int, seconds: float = 0.0) -> None:
    """Take some time, then write down that this number was done, when."""
    time.sleep(seconds)
    with RUNS.open("a") as file:
        file.write(f"{number} {time.time()}\n")
