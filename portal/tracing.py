"""Calls as pages and the API list them: what was asked for, and pages by key (newest first)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Q, QuerySet

from catalog.resolution import folder_of
from governance.masks import stored_ids
from governance.models import Call

PAGE_SIZE = 50
# A text is looked for in no index; without a start of its own the search ends here.
SEARCH_DAYS = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for among the calls; "" and None ask for nothing.

    `until` is the first moment that is not wanted any more.
    """

    text: str = ""
    skill: str = ""
    version: str = ""
    environment: str = ""
    agent: str = ""
    outcome: str = ""
    stage: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def search_days(self) -> int:
        """How many days a search for the text goes back; 0 where it has a start of its own, or is none."""
        return SEARCH_DAYS if self.text and not self.since else 0


@dataclass(frozen=True, slots=True)
class CallPage:
    """Calls, newest first, and the cursors of the neighbouring pages ("" where there is none)."""

    calls: tuple[Call, ...]
    newer: str
    older: str


def filter_calls(calls: QuerySet[Call], asked: Asked, *, now: datetime) -> QuerySet[Call]:
    """The calls that match. What was masked on the way in is found by what it was, under former keys too."""
    exact = {
        "environment__name": asked.environment,
        "agent__name": asked.agent,
        "outcome": asked.outcome,
        "failed_stage": asked.stage,
    }
    calls = calls.filter(**{column: value for column, value in exact.items() if value})
    if asked.version:
        calls = calls.filter(version_text__in=stored_ids("version_text", asked.version))
    if asked.skill:
        named = stored_ids("skill_text", asked.skill)
        calls = calls.filter(Q(skill__folder=folder_of(asked.skill)) | Q(skill=None, skill_text__in=named))
    if asked.text:
        calls = _search(calls, asked.text)
    since = asked.since
    if asked.search_days:
        since = (min(asked.until, now) if asked.until else now) - timedelta(days=asked.search_days)
    if since:
        calls = calls.filter(started_at__gte=since)
    if asked.until:
        calls = calls.filter(started_at__lt=asked.until)
    return calls


def _search(calls: QuerySet[Call], text: str) -> QuerySet[Call]:
    """By the trace's id, or a part of the skill, the error or the intent."""
    found = Q(trace_id__in=trace_ids_of(text))
    for column in ("skill_text", "error_code", "user_intent"):
        path = "detail__user_intent" if column == "user_intent" else column
        for stored in stored_ids(column, text):
            found |= Q(**{f"{path}__icontains": stored})
    return calls.filter(found)


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


def trace_ids_of(text: str) -> list[str]:
    """A trace id as it is stored under each key that the instance knows: mostly one."""
    return stored_ids("trace_id", text)


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
