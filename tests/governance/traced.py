"""Traces of people for the tests of retention and erasure, reported as agents report them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from catalog.models import Agent, JournalEntry
from governance.models import Call, CallDetail, ContextSpan, SubjectTag, TaskOutcome
from governance.otlp.records import Span
from governance.traces import Ingested, ingest
from tests import make

ANNA, BORIS = "anna@example.org", "boris@example.org"
PHONE = "+49 30 1234567"


def call(call_id: str, *, trace: str, intent: str = "", **fields: Any) -> dict[str, Any]:
    """A call as an agent reports it."""
    return {
        "call_id": call_id,
        "trace_id": trace,
        "skill": "refund-check",
        "version": "1.0.0",
        "outcome": "ok",
        "duration_ms": 12,
        "user_intent": intent,
        **fields,
    }


def span(span_id: str, *, trace: str, **attributes: Any) -> Span:
    """A span that concerns no skill."""
    return Span(trace, span_id, "", "chat", False, make.NOW, 40, attributes)


def task(task_id: str, *, trace: str) -> dict[str, Any]:
    """The outcome of a task."""
    return {"task_id": task_id, "trace_id": trace, "completed": True, "calls": 1}


def report(
    agent: Agent,
    *calls: dict[str, Any],
    spans: Iterable[Span] = (),
    tasks: Iterable[dict[str, Any]] = (),
    now: datetime = make.NOW,
    environment: str = "production",
) -> Ingested:
    """Let the agent report, at `now` by the server's clock."""
    taken = ingest(
        calls=[{"started_at": now.isoformat(), **one} for one in calls],
        spans=list(spans),
        tasks=list(tasks),
        agent_id=agent.pk,
        environment_id=make.environment(environment).pk,
        now=now,
    )
    assert not taken.rejected, taken.rejected
    assert not taken.rejected_tasks, taken.rejected_tasks
    return taken


def kept() -> dict[str, list[str]]:
    """What there is, by its names."""
    return {
        "calls": sorted(Call.objects.values_list("call_id", flat=True)),
        "spans": sorted(ContextSpan.objects.values_list("span_id", flat=True)),
        "tasks": sorted(TaskOutcome.objects.values_list("task_id", flat=True)),
    }


def is_sound() -> bool:
    """Each call has its payload, and nothing is left of what is gone."""
    calls, spans = (set(model.objects.values_list("pk", flat=True)) for model in (Call, ContextSpan))
    details = set(CallDetail.objects.values_list("call_id", flat=True))
    tags = set(SubjectTag.objects.values_list("call_id", "span_id"))
    return (
        details == calls
        and {one for one, _ in tags} <= calls | {None}
        and {one for _, one in tags} <= spans | {None}
    )


def told(verb: str) -> list[Any]:
    """What the entries of this verb say."""
    return list(JournalEntry.objects.filter(verb=verb).order_by("n").values_list("after", flat=True))
