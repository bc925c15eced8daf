"""Log lines without personal data: every message and every traceback passes the masker."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, ProgrammingError
from django.http import HttpRequest

from governance.masks import masker_at_hand

LONGEST = 500
MOST_CHAINED = 5
# What these quote are names of code, files and tables; any other quotes what it was given.
ABOUT_CODE = (
    AttributeError,
    ImportError,
    ImproperlyConfigured,
    NameError,
    OSError,
    OperationalError,
    ProgrammingError,
)
UNMASKED = "A record of {} (line {}) could not be masked and is left out: {}."
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|“[^”\n]*”")


class Masked(logging.Filter):
    """Masks what a record says; its arguments and its traceback are folded into the text first."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always lets the record through; one that cannot be masked says where it is from, and nothing of its own."""
        try:
            text = _masked(record)
        except Exception as fault:  # noqa: BLE001 (whatever it is, who writes to the log goes on)
            text = UNMASKED.format(record.name, record.lineno, type(fault).__name__)
        record.msg, record.args = text, None
        record.exc_info = record.exc_text = None
        return True


def told_of(fault: BaseException) -> str:
    """The places that a fault came through, and what it says, without what it quotes: that was somebody's value.

    A password in quotes has no name beside it by which a masker could know it. Of a message the first line alone is
    told: PostgreSQL puts the row into those below.
    """
    parts = []
    for one, link in _chain(fault):
        places = "".join(traceback.format_tb(one.__traceback__))
        parts.append(f"{link}Traceback (most recent call last):\n{places}{type(one).__name__}{_said(one)}")
    return "\n".join(reversed(parts))


def route_of(request: object) -> str:
    """The pattern that an address matched: the address itself may hold a secret, as a link to a password does."""
    match = getattr(request, "resolver_match", None)
    return f"/{match.route}" if match else "An address"


def mask_handlers(logger: str) -> None:
    """Let what a logger with handlers of its own writes pass the masker too."""
    for handler in logging.getLogger(logger).handlers:
        handler.addFilter(Masked())


def _masked(record: logging.LogRecord) -> str:
    if isinstance(request := getattr(record, "request", None), HttpRequest):
        record.args = _without_path(record.args, request)
    text = record.getMessage()
    if record.exc_info and record.exc_info[1]:
        text = f"{text}\n{told_of(record.exc_info[1])}"
    masked: str = masker_at_hand().mask_text(text).value
    return masked


def _without_path(args: Any, request: HttpRequest) -> Any:
    """The arguments of a message of Django's, which names the path."""
    if not isinstance(args, tuple):
        return args
    return tuple(route_of(request) if one == request.path else one for one in args)


def _said(fault: BaseException) -> str:
    line = str(fault).strip().partition("\n")[0]
    if not isinstance(fault, ABOUT_CODE):
        line = _QUOTED.sub("'…'", line)
    return f": {line[:LONGEST]}" if line else ""


def _chain(fault: BaseException) -> Iterator[tuple[BaseException, str]]:
    """The fault and those before it, the last first, each with a line on what it came of."""
    one: BaseException | None = fault
    for _ in range(MOST_CHAINED):
        if one is None:
            return
        cause = one.__cause__
        before = None if cause is None and one.__suppress_context__ else cause or one.__context__
        link = "" if before is None else "While that was handled:\n" if cause is None else "That led to:\n"
        yield one, link
        one = before
