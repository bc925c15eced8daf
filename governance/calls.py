"""Reading one reported call: every field typed and bounded, the problem named where one is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.utils.dateparse import parse_datetime

from governance.models.traces import Kind, Outcome, Stage
from governance.storable import storable
from governance.times import FURTHEST_AHEAD, LONGEST_MS

MOST_TOKENS = 10**12
# `values` of an enumeration is made anew each time.
_OUTCOMES, _STAGES, _KINDS = Outcome.values, Stage.values, Kind.values
STAGES_WITHOUT_SKILL = {Stage.INTENT, Stage.SELECTION}


class BadCall(Exception):
    """A call that cannot be taken: `code` names the kind of problem, the text the field and mend."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Reported:
    """A call as an agent reported it, typed and not yet masked.

    `row` holds the columns of `Call` that the agent decides, `detail` those of `CallDetail`.
    """

    row: dict[str, Any]
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Task:
    """A task's outcome as an agent reported it, typed and not yet masked."""

    task_id: str
    trace_id: str
    completed: bool
    calls: int
    replans: int


def read_task(raw: object) -> Task:
    """Type one entry of `tasks`; raises BadCall. Unknown fields are left out."""
    if not isinstance(raw, Mapping):
        raise BadCall("task-invalid", "A task is an object.")
    task_id, completed = _text(raw, "task_id", 200), _switch(raw, "completed")
    if not task_id:
        raise BadCall("task-id-missing", "task_id is missing; give each task an id of its own.")
    if completed is None:
        raise BadCall("completed-missing", "completed is missing; give true or false.")
    return Task(
        task_id=task_id,
        trace_id=_text(raw, "trace_id", 200),
        completed=completed,
        calls=_number(raw, "calls", 0, 1_000_000) or 0,
        replans=_number(raw, "replans", 0, 1_000_000) or 0,
    )


def read_call(raw: object, *, now: datetime) -> Reported:
    """Type one entry of `POST /api/v1/traces`; raises BadCall. Unknown fields are left out."""
    if not isinstance(raw, Mapping):
        raise BadCall("call-invalid", "A call is an object.")
    call_id = _text(raw, "call_id", 200)
    if not call_id:
        raise BadCall("call-id-missing", "call_id is missing; give each call an id of its own.")
    outcome = _choice(raw, "outcome", _OUTCOMES)
    stage = _choice(raw, "failed_stage", _STAGES, default="")
    if not outcome:
        raise BadCall("outcome-missing", "outcome is missing; give ok or error.")
    if stage and outcome == Outcome.OK:
        raise BadCall("stage-without-error", "failed_stage is given though outcome is ok.")
    skill = _text(raw, "skill", 200)
    if not skill and stage not in STAGES_WITHOUT_SKILL:
        raise BadCall(
            "skill-missing", "skill is missing; it may be absent where failed_stage is intent or selection."
        )
    row: dict[str, Any] = {
        "call_id": call_id,
        "trace_id": _text(raw, "trace_id", 200) or call_id,
        "parent_id": _text(raw, "parent_id", 200),
        "session_id": _text(raw, "session_id", 200),
        "skill_text": skill,
        "version_text": _text(raw, "version", 255),
        "kind": _choice(raw, "kind", _KINDS, default=Kind.CALLED),
        "attempt": _number(raw, "attempt", 1, 1_000_000) or 1,
        "fallback_for": _text(raw, "fallback_for", 200),
        "replanned": bool(_switch(raw, "replanned")),
        "model": _text(raw, "model", 200),
        "outcome": outcome,
        "failed_stage": stage,
        "error_code": _text(raw, "error_code", 200),
        "retryable": _switch(raw, "retryable"),
        "started_at": _time(raw, "started_at"),
        "duration_ms": _duration(raw, "duration_ms"),
        "input_tokens": _number(raw, "input_tokens", 0, MOST_TOKENS),
        "output_tokens": _number(raw, "output_tokens", 0, MOST_TOKENS),
        "cost": _cost(raw),
        "currency": _currency(raw),
        "cache_hit": _switch(raw, "cache_hit"),
    }
    if row["started_at"] > now + FURTHEST_AHEAD:
        raise BadCall(
            "clock-ahead", "started_at is more than a day ahead of the server's time; set the agent's clock."
        )
    if row["cost"] is not None and not row["currency"]:
        raise BadCall("currency-missing", "currency is missing beside cost; give a code such as EUR.")
    return Reported(row=row, detail=_detail(raw))


def _detail(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "user_intent": _text(raw, "user_intent", 20_000),
        "candidates": _list(raw, "candidates"),
        "selection_reason": _text(raw, "selection_reason", 20_000),
        "parameters": raw.get("parameters"),
        "output": raw.get("output"),
        "spans": [_span(span) for span in _list(raw, "spans")],
    }


def _span(raw: object) -> dict[str, Any]:
    if not isinstance(raw, Mapping):
        raise BadCall("span-invalid", "A span is an object with span_id, name, start_ms and duration_ms.")
    attributes = raw.get("attributes")
    if attributes is not None and not isinstance(attributes, Mapping):
        raise BadCall("span-invalid", "attributes of a span is an object.")
    return {
        "span_id": _text(raw, "span_id", 200),
        "parent_id": _text(raw, "parent_id", 200),
        "name": _text(raw, "name", 300),
        "start_ms": _duration(raw, "start_ms"),
        "duration_ms": _duration(raw, "duration_ms"),
        "attributes": dict(attributes or {}),
    }


def _text(raw: Mapping[str, Any], name: str, longest: int) -> str:
    value = raw.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadCall("field-invalid", f"{name} is not text.")
    if len(value) > longest:
        raise BadCall("field-too-long", f"{name} has {len(value)} characters; at most {longest} are taken.")
    return value


def _choice(raw: Mapping[str, Any], name: str, values: list[str], default: str = "") -> str:
    value = raw.get(name)
    if value is None or value == "":
        return default
    if value not in values:
        raise BadCall("field-invalid", f"{name} is not one of {', '.join(values)}.")
    return str(value)


def _number(raw: Mapping[str, Any], name: str, least: int, most: int) -> int | None:
    value = raw.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadCall("field-invalid", f"{name} is not a whole number from {least} to {most}.")
    return int(value)


def _duration(raw: Mapping[str, Any], name: str) -> int:
    """Whole milliseconds; fractions are rounded."""
    value = raw.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadCall("field-invalid", f"{name} is not a number of milliseconds.")
    # False for NaN and infinity as well.
    if not 0 <= value <= LONGEST_MS:
        raise BadCall("field-invalid", f"{name} is not between 0 and {LONGEST_MS} milliseconds.")
    return int(round(value))  # noqa: RUF046 (mypy knows no more than Any here)


def _switch(raw: Mapping[str, Any], name: str) -> bool | None:
    value = raw.get(name)
    if value is not None and not isinstance(value, bool):
        raise BadCall("field-invalid", f"{name} is neither true nor false.")
    return value


def _list(raw: Mapping[str, Any], name: str) -> list[Any]:
    value = raw.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > 1000:
        raise BadCall("field-invalid", f"{name} is not a list of at most 1,000 entries.")
    return value


def _time(raw: Mapping[str, Any], name: str) -> datetime:
    value = raw.get(name)
    try:
        moment = parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.year < 1971 or moment.year > 9000:
        raise BadCall("field-invalid", f"{name} is not a time such as 2026-11-30T12:00:00Z.")
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


def _currency(raw: Mapping[str, Any]) -> str:
    """In capitals, which may be more characters than the column has; it is not masked, so it is made storable here."""
    return str(storable(_text(raw, "currency", 3))).upper()[:3]


def _cost(raw: Mapping[str, Any]) -> Decimal | None:
    value = raw.get("cost")
    if value is None:
        return None
    try:
        cost = Decimal("NaN") if isinstance(value, bool) else Decimal(str(value))
        cost = cost.quantize(Decimal("0.00000001"))
    except InvalidOperation:
        # Also for infinities and for more digits than a decimal of Python's holds.
        cost = Decimal("NaN")
    if not cost.is_finite() or not 0 <= cost < 10**10:
        raise BadCall("field-invalid", 'cost is not a decimal string such as "0.0042".')
    return cost
