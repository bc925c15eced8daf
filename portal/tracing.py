"""Traces as their pages list them: what was asked for, and pages by key (newest first)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from catalog.resolution import folder_of
from governance.masks import masker
from governance.models import Call

PAGE_SIZE = 50
# A text is looked for in no index; without a start of its own the search ends here.
SEARCH_DAYS = 30


@dataclass(frozen=True, slots=True)
class CallPage:
    """Calls, newest first, and the cursors of the neighbouring pages ("" where there is none)."""

    calls: tuple[Call, ...]
    newer: str
    older: str


def filter_calls(calls: QuerySet[Call], asked: Mapping[str, Any], *, now: datetime) -> QuerySet[Call]:
    """The calls that match the cleaned fields of a `TraceFilter`."""
    if asked.get("environment"):
        calls = calls.filter(environment=asked["environment"])
    if asked.get("skill"):
        name = asked["skill"]
        calls = calls.filter(Q(skill__folder=folder_of(name)) | Q(skill=None, skill_text=name))
    if asked.get("agent"):
        calls = calls.filter(agent__name=asked["agent"])
    for field, column in (("outcome", "outcome"), ("stage", "failed_stage")):
        if asked.get(field):
            calls = calls.filter(**{column: asked[field]})
    since = asked.get("since")
    if asked.get("q"):
        calls = _search(calls, asked["q"])
        since = since or now - timedelta(days=SEARCH_DAYS)
    if since:
        calls = calls.filter(started_at__gte=since)
    if asked.get("until"):
        calls = calls.filter(started_at__lte=asked["until"])
    return calls


def _search(calls: QuerySet[Call], text: str) -> QuerySet[Call]:
    """By trace id, skill or error; masked as the calls were, so that a personal value finds its mask."""
    masked = str(masker().mask_text(text).value)
    return calls.filter(
        Q(trace_id=masked) | Q(skill_text__icontains=masked) | Q(error_code__icontains=masked)
    )


def page_of(calls: QuerySet[Call], *, before: str = "", after: str = "", size: int = PAGE_SIZE) -> CallPage:
    """A page by key: the calls just older than `before`, just newer than `after`, or the newest.

    A cursor that cannot be read counts as none.
    """
    related = calls.select_related("agent", "environment", "skill", "version")
    newer_than = _read(after)
    older_than = None if newer_than else _read(before)
    if newer_than:
        moment, pk = newer_than
        later = related.filter(Q(started_at__gt=moment) | Q(started_at=moment, pk__gt=pk))
        found = list(later.order_by("started_at", "pk")[: size + 1])
        more, rows = len(found) > size, list(reversed(found[:size]))
        return CallPage(tuple(rows), _write(rows[:1]) if more else "", _write(rows[-1:]) or before)
    if older_than:
        moment, pk = older_than
        related = related.filter(Q(started_at__lt=moment) | Q(started_at=moment, pk__lt=pk))
    found = list(related.order_by("-started_at", "-pk")[: size + 1])
    rows = found[:size]
    return CallPage(
        tuple(rows),
        _write(rows[:1]) if older_than else "",
        _write(rows[-1:]) if len(found) > size else "",
    )


def trace_id_of(text: str) -> str:
    """A trace id as it is stored: masked and cut, as every text that agents sent was."""
    return str(masker().mask_text(text).value)[:200]


def _write(rows: list[Call]) -> str:
    return f"{_micros(rows[0].started_at)}-{rows[0].pk}" if rows else ""


def _micros(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _read(cursor: str) -> tuple[datetime, int] | None:
    micros, _, pk = cursor.partition("-")
    if not (micros.isascii() and micros.isdigit() and pk.isascii() and pk.isdigit() and len(cursor) < 40):
        return None
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(micros)), min(int(pk), 2**62)
    except OverflowError:
        return None
