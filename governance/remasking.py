"""What is stored is masked again: after a rule was made, or a kind switched on again (spec 6.2).

A run begins SETTLE after it was asked for: by then every process masks by the rules of now, and what was on its way
under those of before is written.

One run at a time, a row with its progress. Each batch is one transaction with the progress, under the lock of the
row: two workers share the work, and who takes up a dead one's work goes on with what is left. What a mask stands for
already stays; only what changes is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import models, transaction
from django.db.models import Max
from uuid_utils.compat import uuid7

from catalog import access, journal
from catalog.journal import Actor
from catalog.models import JobRun
from governance import masks
from governance.erasures import SETTLE
from governance.masking import Masked, Masker
from governance.masking_rules import REFUSAL
from governance.models import Call, CallDetail, ContextSpan, SubjectTag, TaskOutcome
from governance.removal import breathe
from governance.storable import storable

NAME = "remask"
BATCH = 200
# A run of the worker; the next one goes on. The scheduler asks each minute.
LONGEST_RUN = timedelta(minutes=10)
STAGES = ("calls", "spans", "tasks")
_MODELS: dict[str, type[models.Model]] = {"calls": Call, "spans": ContextSpan, "tasks": TaskOutcome}
# The columns that an agent writes freely; others hold words of ours.
_CALL = (
    *("call_id", "trace_id", "parent_id", "session_id", "skill_text", "version_text"),
    *("fallback_for", "model", "error_code"),
)
_DETAIL = ("user_intent", "candidates", "selection_reason", "parameters", "output", "spans")
_SPAN = ("trace_id", "span_id", "parent_id", "name")
_TASK = ("task_id", "trace_id")
# Two of one agent and environment may not have the same.
_UNIQUE = {"calls": "call_id", "spans": "span_id", "tasks": "task_id"}

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: rows that it has looked at and changed, and per cent of the ids that there are."""

    seen: int
    changed: int
    percent: int
    finished_at: datetime | None


def request_remasking(*, actor: Actor, now: datetime) -> Progress:
    """Have all that is stored masked by the rules of now; one that is under way begins again. Raises NotAllowed."""
    with transaction.atomic():
        journal.lock_head()
        access.require(actor, lambda powers: powers.is_admin, REFUSAL)
        result = {"after": dict.fromkeys(STAGES, 0), "last": None, "seen": 0, "changed": 0}
        run = JobRun.objects.filter(name=NAME, finished_at=None).order_by("pk").last()
        if run is None:
            run = JobRun(name=NAME, period=str(uuid7()), owner=uuid7())
        run.started_at, run.leased_until, run.result = now, now, result
        run.save()
        journal.append(actor=actor, verb="masking.again", target="masking", now=now)
    return _progress(run)


def latest() -> Progress | None:
    """The run that is under way, or the last one; None where there was none."""
    run = JobRun.objects.filter(name=NAME).order_by("pk").last()
    return _progress(run) if run else None


def remask_due(*, clock: Clock, until: datetime) -> bool:
    """Go on with the run that was asked for, until the time is up; answers whether it ended."""
    while clock() < until:
        more = _batch(clock())
        if more is not True:
            return more is False
        breathe()
    return False


def _batch(now: datetime) -> bool | None:
    """One batch; False where it was the last one, None where there is no run that has begun."""
    with transaction.atomic():
        due = JobRun.objects.filter(name=NAME, finished_at=None, started_at__lte=now - SETTLE)
        run = due.select_for_update().order_by("pk").last()
        if run is None:
            return None
        progress: dict[str, Any] = run.result or {}
        progress["last"] = progress["last"] or _last_ids()
        stage = next((one for one in STAGES if progress["after"][one] < progress["last"][one]), None)
        if stage is None:
            run.finished_at = now
        else:
            rows = _rows(stage, progress["after"][stage], progress["last"][stage])
            progress["after"][stage] = rows[-1].pk if rows else progress["last"][stage]
            progress["seen"] += len(rows)
            progress["changed"] += _remask(stage, rows)
            run.result = progress
        run.save()
    return stage is not None


def _last_ids() -> dict[str, int]:
    return {
        stage: model._base_manager.aggregate(last=Max("pk"))["last"] or 0 for stage, model in _MODELS.items()
    }


def _rows(stage: str, after: int, last: int) -> list[Any]:
    rows: models.QuerySet[Any] = (
        _MODELS[stage]._base_manager.filter(pk__gt=after, pk__lte=last).order_by("pk")
    )
    return list(rows.select_related("detail")[:BATCH] if stage == "calls" else rows[:BATCH])


def _remask(stage: str, rows: Sequence[Any]) -> int:
    """Mask these rows; answers how many changed."""
    # Those of this moment: one that was asked for again is for rules that have just been made.
    masks.forget_cached()
    own = masks.masker()
    found = own.mask_each([_payload(stage, row) for row in rows])
    changed, tags = 0, []
    for row, masked in zip(rows, found, strict=True):
        if not _write(stage, row, masked, own):
            continue
        changed += 1
        if stage != "tasks":
            owner = {"call_id" if stage == "calls" else "span_id": row.pk}
            tags += [
                SubjectTag(**owner, hash=tag.hash, kind=tag.kind, key_id=own.key_id) for tag in masked.tags
            ]
    SubjectTag.objects.bulk_create(tags, ignore_conflicts=True)
    return changed


def _payload(stage: str, row: Any) -> dict[str, Any]:
    """The row in the shape in which it was masked when it came in."""
    if stage == "calls":
        detail = getattr(row, "detail", None)
        return {"row": _values(row, _CALL), "detail": _values(detail, _DETAIL) if detail else {}}
    if stage == "spans":
        return {"row": _values(row, _SPAN), "attributes": row.attributes}
    return {"row": _values(row, _TASK)}


def _values(row: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _write(stage: str, row: Any, masked: Masked, own: Masker) -> bool:
    """Write what changed of a row and its payload; answers whether anything did."""
    told = storable(masked.value)
    columns = {name: _kept(row, name, text, own) for name, text in told["row"].items()}
    if stage == "spans":
        columns["attributes"] = told["attributes"]
    changed = {name: value for name, value in columns.items() if getattr(row, name) != value}
    unique = _UNIQUE[stage]
    if unique in changed and _is_taken(row, unique, changed):
        changed[unique] = f"{changed[unique][:150]}~{row.pk}"
    if changed:
        type(row)._base_manager.filter(pk=row.pk).update(**changed)
    detail = getattr(row, "detail", None) if stage == "calls" else None
    payload = {
        name: value for name, value in told.get("detail", {}).items() if getattr(detail, name) != value
    }
    if payload:
        CallDetail.objects.filter(pk=row.pk).update(**payload)
    return bool(changed or payload)


def _kept(row: Any, name: str, text: str, own: Masker) -> str:
    """What of a masked text is kept in a column, as if it came in now."""
    before = getattr(row, name)
    if name in masks.IDS and text != before:
        return masks.settled_id(own, before, text)
    return text[: _length(row, name)]


def _is_taken(row: Any, unique: str, changed: dict[str, Any]) -> bool:
    """Whether another row of the agent there has the name already."""
    same = {unique: changed[unique], "agent_id": row.agent_id, "environment_id": row.environment_id}
    if unique == "span_id":
        same["trace_id"] = changed.get("trace_id", row.trace_id)
    return bool(type(row)._base_manager.filter(**same).exclude(pk=row.pk).exists())


def _length(row: Any, name: str) -> int | None:
    length: int | None = row._meta.get_field(name).max_length
    return length


def _progress(run: JobRun) -> Progress:
    told: dict[str, Any] = run.result or {}
    done, whole = (sum((told.get(part) or {}).values()) for part in ("after", "last"))
    percent = 100 if run.finished_at else min(99, 100 * done // max(whole, 1))
    return Progress(told.get("seen", 0), told.get("changed", 0), percent, run.finished_at)
