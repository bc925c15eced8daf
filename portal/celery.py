"""The Celery application: tasks live in `tasks.py` of each app, settings in `CELERY_*`."""

from __future__ import annotations

import logging
import logging.config
import os
import warnings
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_init
from django.conf import settings

from portal import spool

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
spool.register()

# It warns of root because of pickled messages; ours are JSON.
warnings.filterwarnings("ignore", message=r"\s*You're running the worker with superuser privileges")

app = Celery("quartermaster")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@app.on_after_configure.connect
def use_spool(sender: Celery, **kwargs: Any) -> None:
    """Without Redis, messages are files in SPOOL_DIR."""
    if not settings.REDIS_URL:
        sender.conf.broker_transport_options = {"folder": str(settings.SPOOL_DIR)}


@worker_init.connect
def recover_spool(**kwargs: Any) -> None:
    """Before a worker starts, put back what a dead one had taken."""
    if not settings.REDIS_URL:
        count = spool.recover(settings.SPOOL_DIR)
        if count:
            logging.getLogger(__name__).warning("Put back %d messages of a worker that died.", count)


class WithoutValues(logging.Filter):
    """Leaves arguments, results and messages of exceptions out of Celery's log: they may hold personal data."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record; none is dropped."""
        if isinstance(record.args, dict):
            record.args = {
                name: "" if name in {"return_value", "args", "kwargs", "exc", "traceback"} else value
                for name, value in record.args.items()
            }
        if record.exc_info and record.exc_info[0]:
            record.msg = f"{record.getMessage().rstrip()} {describe(record.exc_info[1])}"
            record.args = ()
            record.exc_info = record.exc_text = None
        return True


def describe(error: BaseException | None) -> str:
    """The type of an exception and the places it came through, without its message or any source line."""
    places = []
    traceback = error.__traceback__ if error else None
    while traceback:
        code = traceback.tb_frame.f_code
        places.append(f"{Path(code.co_filename).name}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return f"{type(error).__name__} at {' > '.join(places[-8:])}"


for name in ("celery.app.trace", "celery.worker.request", "celery.worker.strategy"):
    logging.getLogger(name).addFilter(WithoutValues())


@setup_logging.connect
def use_own_logging(**kwargs: Any) -> None:
    """Celery writes through LOGGING, as the portal does, and sets nothing up itself."""
    logging.config.dictConfig(settings.LOGGING)
