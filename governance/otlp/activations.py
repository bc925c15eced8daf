"""Log records that tell of a skill: the event `skill_activated`, as Claude Code emits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import orjson

from governance.otlp.acts import NAMES, VERSIONS, named_skill
from governance.otlp.calls import SESSIONS, origin_of
from governance.otlp.records import Odd, SentLog, record_id
from governance.otlp.values import MOST_ATTRIBUTES, bounded, first_of, place_in_time, text_of

EVENTS = {"skill_activated", "claude_code.skill_activated"}
TAKEN = frozenset({*NAMES, *VERSIONS, *SESSIONS})
Digest = Callable[[bytes], str]


def is_activation(record: SentLog) -> bool:
    """Whether the name of the event, `event.name` or the body says so."""
    told: Sequence[Any] = (record.name, record.attributes.get("event.name"), record.body)
    return any(isinstance(one, str) and one.strip() in EVENTS for one in told)


def activation_of(record: SentLog, now: datetime, digest: Digest) -> dict[str, Any]:
    """The record as a call that loaded a skill; raises Odd where it names none.

    A record has no id: a digest of all that tells it from others is one, so that what is sent again is known.
    """
    skill = named_skill(record.attributes)
    if not skill:
        raise Odd("its skill_activated event has no attribute gen_ai.skill.name or skill.name")
    started_at, _ = place_in_time(record.at, 0, now)
    kept = {
        name: bounded(value)
        for name, value in list(record.attributes.items())[:MOST_ATTRIBUTES]
        if name not in TAKEN
    }
    call_id = f"log-{digest(_identity(record))[:40]}"
    return {
        "call_id": call_id,
        "trace_id": record.trace_id if record.trace_id.strip("0") else "",
        "parent_id": record_id(record.trace_id, record.span_id) if record.span_id.strip("0") else "",
        "session_id": text_of(first_of(record.attributes, *SESSIONS)),
        "skill": skill,
        "version": text_of(first_of(record.attributes, *VERSIONS)),
        "kind": "loaded",
        "outcome": "ok",
        "started_at": started_at.isoformat(),
        "duration_ms": 0,
        "spans": [
            {
                "span_id": call_id,
                "name": "skill_activated",
                "start_ms": 0,
                "duration_ms": 0,
                "attributes": kept | origin_of(record.origin),
            }
        ],
    }


def _identity(record: SentLog) -> bytes:
    told = [record.trace_id, record.span_id, record.at, record.name, record.body, record.attributes]
    return orjson.dumps(told, default=str, option=orjson.OPT_SORT_KEYS)
