"""Clocks of agents that are off: what gives them away, in words."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from governance.models import Call, ContextSpan
from governance.times import LONGEST_MS

# Batches wait at the agent, and clocks of machines drift by seconds: neither is worth a word.
TOLERANCE = timedelta(minutes=2)
# A batch that waits longer than this waits for somebody to look at the clock, or at the agent.
LATE = timedelta(hours=2)


def ahead_by(one: Call | ContextSpan) -> timedelta:
    """How far the agent's clock is ahead at least: nothing can end after it came in. Zero where nothing shows."""
    return _ahead(_ended(one), one.received_at)


def clock_text(one: Call | ContextSpan) -> str:
    """What is wrong with the clock of the agent that sent it, or seems to be; "" where nothing is."""
    return text_of(_ended(one), one.received_at)


def text_of(ended: datetime, received: datetime) -> str:
    """The same of something that ended then by the agent's clock, and came in then by ours."""
    ahead = _ahead(ended, received)
    if ahead:
        return _("The agent's clock is %(time)s ahead.") % {"time": in_words(ahead)}
    late = received - ended
    if late > LATE:
        return _("It came in %(time)s after it ended: it was sent late, or the agent's clock is behind.") % {
            "time": in_words(late)
        }
    return ""


def _ended(one: Call | ContextSpan) -> datetime:
    return one.started_at + timedelta(milliseconds=min(one.duration_ms, LONGEST_MS))


def _ahead(ended: datetime, received: datetime) -> timedelta:
    ahead = ended - received
    return ahead if ahead > TOLERANCE else timedelta(0)


def in_words(length: timedelta) -> str:
    """A length of time in its largest unit, rounded."""
    minutes = round(length.total_seconds() / 60)
    if minutes < 60:
        return _("%(n)d min") % {"n": minutes}
    if minutes < 48 * 60:
        return _("%(n)d h") % {"n": round(minutes / 60)}
    days = round(minutes / (24 * 60))
    return ngettext("%(n)d day", "%(n)d days", days) % {"n": days}
