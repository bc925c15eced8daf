"""The callers that a form offers to name: agents, teams and tags that the user may know of."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.access import Powers
from catalog.models import Team
from catalog.visibility import visible_agents

MOST = 40


@dataclass(frozen=True, slots=True)
class Offered:
    """Names to choose from, each list in order and cut at `MOST`; others can be typed."""

    agents: tuple[str, ...]
    teams: tuple[str, ...]
    tags: tuple[str, ...]


def callers_offered(powers: Powers) -> Offered:
    """The agents that the user works with, every team, and the tags of those agents; two queries."""
    rows = list(visible_agents(powers).order_by("name").values_list("name", "tags")[:MOST])
    tags = sorted({str(tag) for _name, held in rows for tag in held or ()})
    teams = Team.objects.order_by("slug").values_list("slug", flat=True)[:MOST]
    return Offered(tuple(name for name, _tags in rows), tuple(teams), tuple(tags[:MOST]))
