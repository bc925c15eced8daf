"""What came in from agents, by REST."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from portal import access
from portal.api.described import described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import intake as examples
from portal.intake import MOST_AGENTS, Reports, may_read, telemetry_of


@described(
    "intake",
    "What came in from each agent and environment in the last 24 hours and seven days, by how it was reported, "
    f"and the agents that have never reported: of the first {MOST_AGENTS} agents by name that the caller may know "
    "of. `clock` says in words what is wrong with an agent's clock, by its last batch.",
    answers={200: "Intake"},
    examples=examples.INTAKE,
)
@endpoint({"GET": "traces:read"})
def intake(request: Request) -> Response:
    """What came in."""
    powers = access.powers(request)
    if not may_read(powers):
        raise Problem("role-needed", "Analysts, publishers and administrators see what came in.", status=403)
    found = telemetry_of(powers, now=timezone.now())
    return Response(
        {
            "reports": [_show(one) for one in found.reports],
            "silent": [
                {"agent": one.agent.name, "team": one.agent.team.slug, "reads": one.reads}
                for one in found.silent
            ],
            "more": found.more,
        }
    )


def _show(one: Reports) -> dict[str, Any]:
    return {
        "agent": one.agent.name,
        "team": one.agent.team.slug,
        "environment": one.environment.name,
        "last_at": one.last_at,
        "clock": one.clock or None,
        "sources": [
            {"source": way.source.value, "day": asdict(way.day), "week": asdict(way.week)}
            for way in one.sources
        ],
    }
