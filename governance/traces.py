"""Calls come in: typed, masked, and only then written; each once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from catalog.access import Powers
from catalog.models import SERVED, Release, Role, Skill, Version
from catalog.resolution import folder_of
from catalog.snapshots import ARMS
from governance.calls import BadCall, Reported, Task, read_call, read_task
from governance.masks import masker, stored_id
from governance.models import Call, CallDetail, ContextSpan, SubjectTag, TaskOutcome
from governance.models.traces import Source
from governance.otlp import Span
from governance.storable import storable

MOST_CALLS = 1000


@dataclass(frozen=True, slots=True)
class Rejection:
    """A call (or task) of a batch that was not taken, and why."""

    index: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a batch: `spans` and `dropped` are the spans of context kept, and those over the bounds."""

    accepted: int
    duplicates: int
    rejected: tuple[Rejection, ...]
    rejected_tasks: tuple[Rejection, ...] = ()
    spans: int = 0
    dropped: int = 0


def ingest(
    *,
    calls: Sequence[object],
    agent_id: UUID,
    environment_id: UUID,
    now: datetime,
    tasks: Sequence[object] = (),
    spans: Sequence[Span] = (),
    source: Source = Source.REST,
) -> Ingested:
    """Take a batch; a call that is there already is a duplicate, a bad one is rejected by itself.

    `calls` and `tasks` are entries of `POST /api/v1/traces` (contract), `spans` the context of their traces.
    """
    reported, rejected = _read(calls, read_call)
    outcomes, rejected_tasks = _read(tasks, read_task)
    with transaction.atomic():
        accepted = _write(reported, agent_id=agent_id, environment_id=environment_id, now=now)
        _write_tasks(outcomes, agent_id=agent_id, environment_id=environment_id, now=now)
    return Ingested(accepted, len(reported) - accepted, rejected, rejected_tasks)


Read = TypeVar("Read")


def _read(
    batch: Sequence[object], read: Callable[[object], Read]
) -> tuple[list[Read], tuple[Rejection, ...]]:
    """What can be read of the batch, and why the rest cannot."""
    found: list[Read] = []
    rejected: list[Rejection] = []
    for index, raw in enumerate(batch):
        try:
            found.append(read(raw))
        except BadCall as problem:
            rejected.append(Rejection(index, problem.code, str(problem)))
    return found, tuple(rejected)


def _write(reported: Sequence[Reported], *, agent_id: UUID, environment_id: UUID, now: datetime) -> int:
    """Insert the calls that are new; answers how many."""
    masked: dict[str, tuple[dict[str, Any], dict[str, Any], frozenset[Any]]] = {}
    for one in reported:
        call, detail, tags = _mask(one)
        masked.setdefault(call["call_id"], (call, detail, tags))
    known = _Known(environment_id, [call for call, _, _ in masked.values()])
    rows = [
        Call(agent_id=agent_id, environment_id=environment_id, received_at=now, **call, **known.refer(call))
        # In one order, so that two batches with the same calls do not lock each other out.
        for _, (call, _, _) in sorted(masked.items())
    ]
    before = _ids(agent_id, environment_id, masked)
    Call.objects.bulk_create([row for row in rows if row.call_id not in before], ignore_conflicts=True)
    ids = _ids(agent_id, environment_id, masked)
    fresh = {call_id: pk for call_id, pk in ids.items() if call_id not in before}
    # A call that another request has just written has its details from there.
    fresh = _without_details(fresh)
    CallDetail.objects.bulk_create(
        CallDetail(call_id=pk, **masked[call_id][1]) for call_id, pk in fresh.items()
    )
    SubjectTag.objects.bulk_create(
        SubjectTag(call_id=pk, hash=tag.hash, kind=tag.kind, key_id=masker().key_id)
        for call_id, pk in fresh.items()
        for tag in masked[call_id][2]
    )
    return len(fresh)


def _ids(agent_id: UUID, environment_id: UUID, call_ids: Mapping[str, object]) -> dict[str, int]:
    calls = Call.objects.filter(agent_id=agent_id, environment_id=environment_id, call_id__in=call_ids)
    return dict(calls.values_list("call_id", "pk"))


def _without_details(fresh: Mapping[str, int]) -> dict[str, int]:
    taken = set(CallDetail.objects.filter(call_id__in=fresh.values()).values_list("call_id", flat=True))
    return {call_id: pk for call_id, pk in fresh.items() if pk not in taken}


def _mask(one: Reported) -> tuple[dict[str, Any], dict[str, Any], frozenset[Any]]:
    """Both halves of a call, masked: the ids too, for nobody knows what an agent takes for an id."""
    texts = {name: value for name, value in one.row.items() if isinstance(value, str)}
    result = masker().mask({"row": texts, "detail": one.detail})
    # JSON inside a text is read too, and may hold what no database takes.
    masked = storable(result.value)
    row = {**one.row, **masked["row"]}
    for name, field in ((f.name, f) for f in Call._meta.fields):
        if isinstance(row.get(name), str) and field.max_length:
            row[name] = row[name][: field.max_length]
    return row, masked["detail"], frozenset(result.tags)


class _Known:
    """Which of the reported names and versions exist, looked up once for a batch."""

    def __init__(self, environment_id: UUID, calls: Sequence[Mapping[str, Any]]) -> None:
        folders = {folder_of(call["skill_text"]) for call in calls if call["skill_text"]}
        self.skills = dict(Skill.objects.filter(folder__in=folders).values_list("folder", "pk"))
        texts = {call["version_text"] for call in calls if call["version_text"]}
        self.versions = {
            (skill, version): pk
            for skill, version, pk in Version.objects.filter(
                skill__in=self.skills.values(), version__in=texts
            ).values_list("skill_id", "version", "pk")
        }
        served = Release.objects.filter(
            environment_id=environment_id,
            skill__in=self.skills.values(),
            state__in=SERVED,
        ).values_list("version_id", "pk", "state")
        self.releases = {version: (pk, state) for version, pk, state in served}

    def refer(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Foreign keys of the call: nulls where the agent named what nobody knows."""
        skill = self.skills.get(folder_of(call["skill_text"]))
        version = self.versions.get((skill, call["version_text"])) if skill else None
        release, state = self.releases.get(version, (None, "")) if version else (None, "")
        told = {"skill_id": skill, "version_id": version, "release_id": release}
        return {**told, "arm": ARMS.get(state, "")}


def _write_tasks(tasks: Sequence[Task], *, agent_id: UUID, environment_id: UUID, now: datetime) -> None:
    rows = [
        TaskOutcome(
            agent_id=agent_id,
            environment_id=environment_id,
            task_id=stored_id("task_id", task.task_id),
            trace_id=stored_id("trace_id", task.trace_id),
            completed=task.completed,
            calls=task.calls,
            replans=task.replans,
            received_at=now,
        )
        for task in tasks
    ]
    rows.sort(key=lambda row: row.task_id)
    TaskOutcome.objects.bulk_create(rows, ignore_conflicts=True)


def readable_calls(powers: Powers) -> QuerySet[Call]:
    """The calls that the user may read: an analyst's teams and environments, a publisher's own skills."""
    calls = Call.objects.all()
    allowed = Call.objects.none()
    for right in powers.rights:
        if right.role not in {Role.ANALYST, Role.PUBLISHER}:
            continue
        part = calls
        if right.team_id is not None:
            part = part.filter(skill__team_id=right.team_id)
        elif right.role == Role.PUBLISHER:
            part = part.filter(skill__isnull=False)
        if right.environment_id is not None:
            part = part.filter(environment_id=right.environment_id)
        allowed = allowed | part
    return allowed


def readable_spans(powers: Powers) -> QuerySet[ContextSpan]:
    """The spans of context that the user may read: those of a trace of which they may read some call.

    That call is of the same agent and environment, for a trace's id is whatever an agent says.
    """
    beside = readable_calls(powers).filter(
        trace_id=OuterRef("trace_id"),
        environment_id=OuterRef("environment_id"),
        agent_id=OuterRef("agent_id"),
    )
    return ContextSpan.objects.filter(Exists(beside))
