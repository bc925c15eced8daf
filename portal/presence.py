"""When agents were last seen: a token of theirs was used, or a call came in."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Max, OuterRef, QuerySet, Subquery

from catalog.models import Agent
from governance.models import Call


def with_presence(agents: QuerySet[Agent]) -> QuerySet[Agent]:
    """The agents with what `seen_at` reads of them."""
    # An index finds the latest one of each agent.
    calls = Call.objects.filter(agent=OuterRef("pk")).order_by("-started_at", "-pk")
    return agents.annotate(
        last_used_at=Max("tokens__last_used_at"), last_call_at=Subquery(calls.values("received_at")[:1])
    )


def seen_at(agent: Agent) -> datetime | None:
    """When the agent of `with_presence` was last seen, None for never."""
    moments = (getattr(agent, "last_used_at", None), getattr(agent, "last_call_at", None))
    return max((moment for moment in moments if moment), default=None)
