"""What a sample agent does around its calls: the spans of its runs, and of the model's turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from governance.otlp import Span


def surround(calls: Sequence[dict[str, Any]], agent: str) -> dict[str, list[Span]]:
    """Spans of the agent around the calls of each trace: its run, and a turn of the model before each first try."""
    traces: dict[str, list[dict[str, Any]]] = {}
    for call in calls:
        traces.setdefault(call["trace_id"], []).append(call)
    return {trace: around(trace, some, agent) for trace, some in traces.items()}


def around(trace: str, calls: Sequence[dict[str, Any]], agent: str) -> list[Span]:
    """The spans of one trace; calls without a parent get theirs among them."""
    begin = min(start_of(call) for call in calls) - timedelta(milliseconds=1400)
    whole = max(end_of(call) for call in calls) + timedelta(milliseconds=300) - begin
    about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent}
    spans = [Span(trace, f"{trace}-run", "", f"invoke_agent {agent}", False, begin, in_ms(whole), about)]
    for n, call in enumerate(
        call for call in calls if call.get("kind", "called") == "called" and not call.get("parent_id")
    ):
        turn = Span(
            trace,
            f"{trace}-turn-{n}",
            f"{trace}-run",
            f"chat {call['model']}",
            False,
            start_of(call) - timedelta(milliseconds=1200),
            1100,
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": call["model"],
                "gen_ai.input.messages": call.get("user_intent", ""),
            },
        )
        spans.append(turn)
    for call in calls:
        call["parent_id"] = call.get("parent_id") or f"{trace}-run"
    return spans


def start_of(call: Mapping[str, Any]) -> datetime:
    """When a call began."""
    return datetime.fromisoformat(call["started_at"])


def end_of(call: Mapping[str, Any]) -> datetime:
    """When a call was over."""
    return start_of(call) + timedelta(milliseconds=call["duration_ms"])


def in_ms(length: timedelta) -> int:
    """Whole milliseconds."""
    return length // timedelta(milliseconds=1)
