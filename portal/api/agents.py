"""Agents by REST: registered, limited, transferred and retired."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.agents import Limits, create_agent, retire_agent, settle_agent, told_of, transfer_agent
from catalog.models import Agent, Risk, SkillSet, Team, Token
from catalog.visibility import visible_agents, visible_skills
from portal import access
from portal.agent_limits import find_skills
from portal.api.authentication import actor_of, ask_scope
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import agents as examples
from portal.api.fields import Fields
from portal.api.idempotency import once
from portal.api.paging import page_of
from portal.presence import seen_at, with_presence

LONGEST_DESCRIPTION = 2000
WRITES = ("publish", "admin")


@described(
    "agents",
    "The agents of the teams that the token's owner publishes for, by name; administrators see all.",
    answers={200: "AgentPage"},
    problems=(400,),
    query={"team": "The short name of a team.", "retired": "true: those that are retired.", **CURSOR},
)
@described(
    "agent_create",
    "Register an agent; what is named limits it, and what is absent or empty is no limit. Publishers of "
    "the team, and administrators.",
    method="POST",
    sent={"application/json": "MakeAgent"},
    answers={201: "Agent"},
    problems=(400, 409, 415, 422),
    examples=examples.AGENT_MADE,
    once=True,
)
@endpoint({"GET": "read", "POST": WRITES})
@once
def agent_list(request: Request) -> Response:
    """The agents, and a new one."""
    if request.method == "POST":
        return Response(show_agent(_create(request)), status=201)
    asked = request.query_params
    rows = visible_agents(access.powers(request), with_retired=True)
    rows = rows.filter(retired_at__isnull=asked.get("retired") not in {"true", "1"})
    if team := asked.get("team"):
        rows = rows.filter(team__slug=team)
    return Response(page_of(request, _with_parts(rows), key="name", show=show_agent))


@described(
    "agent",
    "One agent; a retired one too.",
    answers={200: "Agent"},
    problems=(404,),
    examples=examples.AGENT_SHOWN,
)
@described(
    "agent_change",
    "Change what is named; its feed follows at the next poll. Publishers of the team wherever a token of "
    "the agent works, and administrators.",
    method="PATCH",
    sent={"application/json": "ChangeAgent"},
    answers={200: "Agent"},
    problems=(400, 404, 409, 415, 422),
    examples=examples.AGENT_CHANGED,
    once=True,
)
@endpoint({"GET": "read", "PATCH": WRITES})
@once
def agent_detail(request: Request, name: str) -> Response:
    """One agent, and a change of it."""
    agent = access.agent_read(request, name)
    if request.method == "PATCH":
        ask_scope(request, agent.team)
        fields = Fields(request.data)
        limits = _limits(request, fields, agent)
        fields.check()
        settle_agent(agent=agent, limits=limits, actor=actor_of(request), now=timezone.now())
    return Response(show_agent(_fresh(agent)))


@described(
    "agent_transfer",
    "Give an agent to another team, with its tokens: who publishes for both teams, and administrators.",
    method="POST",
    sent={"application/json": "Transfer"},
    answers={200: "Agent"},
    problems=(400, 404, 409, 415, 422),
    once=True,
)
@endpoint({"POST": WRITES})
@once
def agent_transfer(request: Request, name: str) -> Response:
    """Give an agent to another team."""
    agent, fields = access.agent_read(request, name), Fields(request.data)
    slug, reason = fields.text("team", needed=True, longest=64), fields.reason()
    team = _team(slug)
    ask_scope(request, agent.team, team)
    transfer_agent(agent=agent, team=team, actor=actor_of(request), reason=reason, now=timezone.now())
    return Response(show_agent(_fresh(agent)))


@described(
    "agent_retire",
    "End an agent: its tokens are refused within two seconds, and its name stays taken. A second time "
    "changes nothing. Publishers of the team wherever a token of the agent works, and administrators.",
    method="POST",
    sent={"application/json": "Reason"},
    answers={200: "Agent"},
    problems=(400, 404, 409, 415, 422),
    once=True,
)
@endpoint({"POST": WRITES})
@once
def agent_retire(request: Request, name: str) -> Response:
    """End an agent."""
    agent = access.agent_read(request, name)
    ask_scope(request, agent.team)
    reason = Fields(request.data).reason()
    retire_agent(agent=agent, actor=actor_of(request), reason=reason, now=timezone.now())
    return Response(show_agent(_fresh(agent)))


def show_agent(agent: Agent) -> dict[str, Any]:
    """An agent as the API answers it."""
    places = {token.environment for token in agent.tokens.all() if token.environment}
    return {
        "name": agent.name,
        "team": agent.team.slug,
        **told_of(agent),
        "environments": [one.name for one in sorted(places, key=lambda one: one.order)],
        "created_at": agent.created_at,
        "last_seen_at": seen_at(agent),
        "retired_at": agent.retired_at,
    }


def _with_parts(agents: QuerySet[Agent]) -> QuerySet[Agent]:
    """The agents with what `show_agent` reads of them."""
    working = Token.objects.filter(revoked_at=None, expires_at__gt=timezone.now())
    return (
        with_presence(agents)
        .select_related("team")
        .prefetch_related("skills", "sets", Prefetch("tokens", working.select_related("environment")))
    )


def _fresh(agent: Agent) -> Agent:
    return _with_parts(Agent.objects.all()).get(pk=agent.pk)


def _create(request: Request) -> Agent:
    fields = Fields(request.data)
    name, slug = fields.text("name", needed=True, longest=64), fields.text("team", needed=True, longest=64)
    limits = _limits(request, fields, None)
    fields.check()
    team = _team(slug)
    ask_scope(request, team)
    agent = create_agent(
        name=name,
        team=team,
        description=limits.description or "",
        tags=limits.tags or (),
        skills=limits.skills or (),
        sets=limits.sets or (),
        skill_tags=limits.skill_tags or (),
        highest_risk=limits.highest_risk or Risk.HIGH.value,
        template=limits.template or "",
        actor=actor_of(request),
        now=timezone.now(),
    )
    return _fresh(agent)


def _limits(request: Request, fields: Fields, agent: Agent | None) -> Limits:
    """What the body names; what is wrong is noted in `fields`."""
    names = fields.names("skills")
    skills, missing = find_skills(names or (), visible=visible_skills(access.powers(request)), agent=agent)
    if missing:
        fields.wrong("skills", f"There is no skill named {missing[0]!r}.")
    slugs = fields.names("sets")
    sets = list(SkillSet.objects.filter(slug__in=slugs or ()))
    if unknown := [slug for slug in slugs or () if slug not in {one.slug for one in sets}]:
        fields.wrong("sets", f"There is no set {unknown[0]!r}.")
    return Limits(
        description=fields.prose("description", longest=LONGEST_DESCRIPTION)
        if fields.has("description")
        else None,
        tags=fields.names("tags"),
        skills=None if names is None else skills,
        sets=None if slugs is None else sets,
        skill_tags=fields.names("skill_tags"),
        highest_risk=fields.choice("highest_risk", Risk.values),
        template=fields.verbatim("template") if fields.has("template") else None,
    )


def _team(slug: str) -> Team:
    team = Team.objects.filter(slug=slug).first()
    if team is None:
        raise Problem("team-unknown", f"There is no team {slug!r}.", status=422)
    return team
