"""Agents of the user's teams: what they are, are limited to and are served, and their end."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db.models import Count, Prefetch, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.access import NotAllowed
from catalog.agents import (
    NameTaken,
    Retired,
    create_agent,
    environments_of,
    may_settle_agent,
    retire_agent,
    settle_agent,
    transfer_agent,
)
from catalog.models import Agent, Environment, Team, Token
from catalog.tokens import AGENT_SCOPES
from catalog.visibility import teams_to_manage, visible_agents, visible_skills
from catalog.withholding import account_for
from portal import access
from portal.forms.agents import AgentForm, AgentTransferForm, LimitsForm, RetireForm
from portal.forms.tokens import TokenForm
from portal.fragments import render_part
from portal.holdings import environments_to_issue_for, holdings_of
from portal.presence import seen_at, with_presence

MOST_AGENTS = 200
MOST_NAMED = 100


@require_safe
def agent_list(request: HttpRequest) -> HttpResponse:
    """The agents that this user manages; `?retired=1` those that are retired."""
    now, retired = timezone.now(), request.GET.get("retired") == "1"
    working = Q(revoked_at=None, expires_at__gt=now)
    seen = visible_agents(access.powers(request), with_retired=True)
    agents = (
        with_presence(seen.filter(retired_at__isnull=not retired))
        .select_related("team")
        .annotate(
            token_count=Count(
                "tokens", filter=Q(tokens__revoked_at=None, tokens__expires_at__gt=now), distinct=True
            )
        )
        .prefetch_related(Prefetch("tokens", Token.objects.filter(working).select_related("environment")))
        .order_by("name")
    )
    found = list(agents[: MOST_AGENTS + 1])
    context = {
        "agents": [(agent, _environments_of(agent), seen_at(agent)) for agent in found[:MOST_AGENTS]],
        "more": len(found) > MOST_AGENTS,
        "retired": retired,
        "has_retired": retired or seen.exclude(retired_at=None).exists(),
        "may_create": bool(teams_to_manage(access.powers(request))),
    }
    return render(request, "agents/agent_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def agent_create(request: HttpRequest) -> HttpResponse:
    """Register an agent for a team."""
    powers = access.powers(request)
    teams = teams_to_manage(powers)
    form = AgentForm(
        request.POST if request.method == "POST" else None, teams=teams, skills=visible_skills(powers)
    )
    if not teams:
        return render(request, "agents/agent_create.html", {}, status=403)
    if request.method != "POST":
        return render(request, "agents/agent_create.html", {"form": form})
    if form.is_valid():
        try:
            agent = create_agent(**form.cleaned_data, actor=access.actor(request), now=timezone.now())
        except NameTaken as clash:
            form.add_error("name", str(clash))
        except NotAllowed as refusal:
            form.add_error("team", str(refusal))
        else:
            messages.success(
                request, _("%(name)s is registered. Issue its first token.") % {"name": agent.name}
            )
            return redirect("agent-detail", agent.name)
    status = 403 if form.has_error("team", "invalid_choice") else 422
    return render(request, "agents/agent_create.html", {"form": form}, status=status)


@require_safe
def agent_detail(request: HttpRequest, name: str) -> HttpResponse:
    """An agent: its limits, what it is served by them, and its tokens."""
    agent = access.agent_read(request, name)
    return render_part(request, "agents/agent_detail.html", "tokens", agent_context(request, agent))


@require_http_methods(["GET", "HEAD", "POST"])
def agent_settings(request: HttpRequest, name: str) -> HttpResponse:
    """What the agent is limited to; and the forms of transfer and retirement."""
    agent = _settled(request, name)
    if request.method != "POST":
        return _show_settings(request, agent)
    form = LimitsForm(request.POST, skills=visible_skills(access.powers(request)), agent=agent)
    if not form.is_valid():
        return _show_settings(request, agent, status=422, form=form)
    settle_agent(agent=agent, limits=form.limits, actor=access.actor(request), now=timezone.now())
    told = _("The settings of %(name)s are saved. Its feed follows at the next poll.")
    messages.success(request, told % {"name": agent.name})
    return redirect("agent-detail", agent.name)


@require_POST
def agent_transfer(request: HttpRequest, name: str) -> HttpResponse:
    """Give the agent to another team."""
    agent = _settled(request, name)
    form = AgentTransferForm(request.POST, teams=_other_teams(request, agent))
    if not form.is_valid():
        return _show_settings(request, agent, status=422, transfer_form=form)
    team: Team = form.cleaned_data["team"]
    reason, now = form.cleaned_data["reason"], timezone.now()
    transfer_agent(agent=agent, team=team, actor=access.actor(request), reason=reason, now=now)
    messages.success(
        request, _("%(name)s belongs to %(team)s now.") % {"name": agent.name, "team": team.name}
    )
    return redirect("agent-detail", agent.name)


@require_POST
def agent_retire(request: HttpRequest, name: str) -> HttpResponse:
    """End the agent and its tokens."""
    agent = _settled(request, name)
    form = RetireForm(request.POST, agent=agent)
    if not form.is_valid():
        return _show_settings(request, agent, status=422, retire_form=form)
    reason, now = form.cleaned_data["reason"], timezone.now()
    retire_agent(agent=agent, actor=access.actor(request), reason=reason, now=now)
    messages.success(request, _("%(name)s is retired. Its name is never given again.") % {"name": agent.name})
    return redirect("agent-list")


def agent_context(request: HttpRequest, agent: Agent) -> dict[str, Any]:
    """What the page of an agent shows; its tokens are a part of it."""
    now, powers = timezone.now(), access.powers(request)
    environments = environments_to_issue_for(powers, agent)
    form = TokenForm(scopes=AGENT_SCOPES, checked=("feed", "traces:write"), environments=environments)
    return {
        "agent": agent,
        "holdings": holdings_of(agent.tokens.all(), powers=powers, now=now, agent=agent),
        "limits": {
            "skills": list(agent.skills.order_by("name")[:MOST_NAMED]),
            "sets": list(agent.sets.all()),
        },
        "accounts": () if agent.retired_at else _accounts(agent, now),
        "seen": seen_at(with_presence(Agent.objects.all()).get(pk=agent.pk)),
        "form": form,
        "now": now,
        "may_issue": agent.retired_at is None and bool(environments),
        "may_settle": agent.retired_at is None and may_settle_agent(powers, agent, now),
    }


def _accounts(agent: Agent, now: datetime) -> list[Any]:
    """What the agent is served, for each environment where a token of it works."""
    return [account_for(agent, environment) for environment in environments_of(agent, now)]


def _settled(request: HttpRequest, name: str) -> Agent:
    """The agent, for who may change it; raises NotAllowed."""
    agent, powers = access.agent_read(request, name), access.powers(request)
    if agent.retired_at is not None:
        told = _("%(name)s is retired; nothing of it changes any more.")
        raise Retired(told % {"name": agent.name})
    if not may_settle_agent(powers, agent, timezone.now()):
        told = _("This needs the role publisher in %(team)s wherever a token of the agent works.")
        raise NotAllowed(told % {"team": agent.team.name})
    return agent


def _show_settings(request: HttpRequest, agent: Agent, *, status: int = 200, **forms: Any) -> HttpResponse:
    """The page; a form that was sent comes back with what is wrong in it."""
    teams = _other_teams(request, agent)
    context = {
        "agent": agent,
        "form": LimitsForm(skills=visible_skills(access.powers(request)), agent=agent),
        "transfer_form": AgentTransferForm(teams=teams),
        "retire_form": RetireForm(agent=agent),
        "may_transfer": bool(teams),
        **forms,
    }
    return render(request, "agents/agent_settings.html", context, status=status)


def _other_teams(request: HttpRequest, agent: Agent) -> QuerySet[Team]:
    return teams_to_manage(access.powers(request)).exclude(pk=agent.team_id)


def _environments_of(agent: Agent) -> list[Environment]:
    held = {token.environment for token in agent.tokens.all() if token.environment}
    return sorted(held, key=lambda environment: environment.order)
