"""Calls as an agent reports them, for the pages that show them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from catalog.models import Agent
from governance.traces import ingest
from tests import make


def report(agent: Agent, *calls: dict[str, Any], environment: str = "production") -> None:
    """Let the agent report calls, a minute apart, the first one the oldest."""
    start = timezone.now() - timedelta(hours=1)
    full = [
        {
            "call_id": f"{environment}-{n}",
            "trace_id": f"trace-{n}",
            "skill": "refund-check",
            "version": "1.0.0",
            "outcome": "ok",
            "started_at": (start + timedelta(minutes=n)).isoformat(),
            "duration_ms": 1200,
            **call,
        }
        for n, call in enumerate(calls)
    ]
    taken = ingest(
        calls=full,
        agent_id=agent.pk,
        environment_id=make.environment(environment).pk,
        now=timezone.now(),
    )
    assert not taken.rejected, taken.rejected
