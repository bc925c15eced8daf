"""A message that wakes a worker soon after something was written to the journal.

It is sent from the thread that writes notes, every two seconds at most: no request waits for the
broker, and where the message is lost the scheduler sends one each minute.
"""

from __future__ import annotations

import logging
import threading

from celery import current_app

from catalog import background, journal

TASK = "governance.tasks.tell"
# Seconds for Redis; the other transport waits for nobody, and knows none of these.
IMPATIENT = {"socket_connect_timeout": 2, "socket_timeout": 2, "max_retries": 0}
log = logging.getLogger(__name__)

_written = threading.Event()


def note() -> None:
    """Remember that there is something to tell."""
    _written.set()
    background.wake()


def send() -> None:
    """Send the message where there is something to tell; without a broker the minute has to do."""
    if not _written.is_set():
        return
    _written.clear()
    try:
        # A connection of its own, that does not wait: the pool's would try until the broker is back.
        with current_app.connection_for_write(transport_options=IMPATIENT) as connection:
            current_app.send_task(TASK, expires=60, retry=False, connection=connection)
    except Exception as fault:  # noqa: BLE001 (each transport has errors of its own)
        log.warning("The worker was not woken for notices (%s); it looks each minute.", type(fault).__name__)


background.register("message to the worker", send)
journal.call_after(note)
