"""The tokens of an agent or a user as a page lists them: those that work, and the ended ones folded away."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from catalog.access import Powers
from catalog.models import Agent, Environment, Token

MOST_WORKING, MOST_ENDED = 100, 50


@dataclass(frozen=True, slots=True)
class Held:
    """A token; `mine` where the user of the page may rotate and revoke it."""

    token: Token
    mine: bool


@dataclass(frozen=True, slots=True)
class Holdings:
    """The newest tokens that work, the newest that are ended, and how many of these there are."""

    working: tuple[Held, ...]
    ended: tuple[Token, ...]
    ended_count: int

    @property
    def all_mine(self) -> bool:
        """Whether the user may end all that work."""
        return all(held.mine for held in self.working)


def holdings_of(tokens: QuerySet[Token], *, powers: Powers, now: datetime, agent: Agent | None) -> Holdings:
    """The tokens of an agent, or the user's own; three queries."""
    works = Q(revoked_at=None, expires_at__gt=now)
    rows = tokens.select_related("environment", "replaced_by").order_by("-created_at", "-pk")
    ended = rows.exclude(works)
    return Holdings(
        working=tuple(Held(one, is_mine(powers, one, agent)) for one in rows.filter(works)[:MOST_WORKING]),
        ended=tuple(ended[:MOST_ENDED]),
        ended_count=ended.count(),
    )


def environments_to_issue_for(powers: Powers, agent: Agent) -> QuerySet[Environment]:
    """The environments for which the user may issue tokens of the agent."""
    found = Environment.objects.all()
    ids = [one.pk for one in found if powers.may_manage_agents(agent.team, one)]
    return found.filter(pk__in=ids)


def is_mine(powers: Powers, token: Token, agent: Agent | None) -> bool:
    """Whether the user may rotate and revoke a token of the agent; their own (None) they may."""
    return agent is None or (
        agent.retired_at is None and powers.may_manage_agents(agent.team, token.environment)
    )
