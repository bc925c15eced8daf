"""Agents of the user's teams, and tokens: those of agents and the user's own. A secret is shown once."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, Max, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, retarget, trigger_client_event

from catalog.access import NotAllowed
from catalog.agents import NameTaken, create_agent
from catalog.models import Agent, Environment, Team, Token
from catalog.tokens import AGENT_SCOPES, USER_SCOPES, BadToken, issue_token, revoke_token
from catalog.visibility import teams_to_publish_for, visible_agents, visible_skills
from governance.models import Call
from portal import access
from portal.forms.agents import AgentForm, TokenForm
from portal.fragments import render_part, wants_part

MOST_AGENTS = 200
MOST_TOKENS = 100


@require_safe
def agent_list(request: HttpRequest) -> HttpResponse:
    """The agents that this user manages."""
    now = timezone.now()
    living = Q(tokens__revoked_at=None, tokens__expires_at__gt=now)
    # By id, as they came in: an index finds the last one of each agent.
    calls = Call.objects.filter(agent=OuterRef("pk")).order_by("-pk")
    agents = (
        visible_agents(access.powers(request))
        .select_related("team")
        .annotate(
            token_count=Count("tokens", filter=living),
            last_used_at=Max("tokens__last_used_at"),
            last_call_at=Subquery(calls.values("received_at")[:1]),
        )
        .prefetch_related(
            Prefetch(
                "tokens",
                Token.objects.filter(revoked_at=None, expires_at__gt=now).select_related("environment"),
            )
        )
        .order_by("name")
    )
    found = list(agents[: MOST_AGENTS + 1])
    context = {
        "agents": [
            (agent, _environments_of(agent), _later(agent.last_used_at, agent.last_call_at))
            for agent in found[:MOST_AGENTS]
        ],
        "more": len(found) > MOST_AGENTS,
        "may_create": bool(_teams(request)),
    }
    return render(request, "agents/agent_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def agent_create(request: HttpRequest) -> HttpResponse:
    """Register an agent for a team."""
    teams, powers = _teams(request), access.powers(request)
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
    """An agent: its limits and its tokens."""
    agent = access.agent_read(request, name)
    return render_part(request, "agents/agent_detail.html", "tokens", _agent_context(request, agent))


@require_POST
@never_cache
def agent_token_issue(request: HttpRequest, name: str) -> HttpResponse:
    """Issue a token of the agent; the answer alone holds its secret."""
    agent = access.agent_read(request, name)
    if not access.powers(request).may_manage_agents(agent.team):
        raise Http404(name)
    form = TokenForm(request.POST, scopes=AGENT_SCOPES, of_agent=True)
    return _issue(request, form, agent=agent)


@require_safe
def token_list(request: HttpRequest) -> HttpResponse:
    """The user's own tokens, for REST in their name."""
    return render_part(request, "agents/token_list.html", "tokens", _own_context(request))


@require_POST
@never_cache
def token_issue(request: HttpRequest) -> HttpResponse:
    """Issue a token that acts for the user; the answer alone holds its secret."""
    return _issue(request, TokenForm(request.POST, scopes=_own_scopes(request)), agent=None)


@require_POST
def token_revoke(request: HttpRequest, token_id: UUID) -> HttpResponse:
    """End a token of the user, or of an agent that they manage; a second time changes nothing."""
    managed = visible_agents(access.powers(request))
    token = (
        Token.objects.filter(Q(user=request.user) | Q(agent__in=managed), pk=token_id)
        .select_related("agent", "user")
        .first()
    )
    if token is None:
        raise Http404(str(token_id))
    revoke_token(token=token, actor=access.actor(request), now=timezone.now())
    messages.success(request, _("The token %(prefix)s… is revoked.") % {"prefix": token.prefix})
    address = ("agent-detail", token.agent.name) if token.agent else ("token-list",)
    return redirect(*address)


def _issue(request: HttpRequest, form: TokenForm, *, agent: Agent | None) -> HttpResponse:
    """The secret in a dialog or on a page of its own; what is wrong with the form in its place."""
    template = "agents/agent_detail.html" if agent else "agents/token_list.html"
    context = _agent_context(request, agent) if agent else _own_context(request)
    if form.is_valid():
        data = form.cleaned_data
        try:
            token, secret = issue_token(
                actor=access.actor(request),
                scopes=data["scopes"],
                now=timezone.now(),
                agent=agent,
                environment=data.get("environment"),
                user=None if agent else access.actor(request).user,
                name=data["name"],
                days=data["days"],
            )
        except BadToken as problem:
            form.add_error(None, str(problem))
        else:
            return _show_secret(request, token, secret)
    if wants_part(request):
        answer = render(request, "agents/token_form.html", {**context, "form": form}, status=422)
        return reswap(retarget(answer, "#token-form"), "outerHTML")
    return render(request, template, {**context, "form": form, "asked": True}, status=422)


def _show_secret(request: HttpRequest, token: Token, secret: str) -> HttpResponse:
    context = {"token": token, "secret": secret}
    if not wants_part(request):
        return render(request, "agents/token_issue.html", context)
    answer = render(request, "agents/secret.html", context)
    return trigger_client_event(answer, "token-changed")


def _agent_context(request: HttpRequest, agent: Agent) -> dict[str, object]:
    form = TokenForm(scopes=AGENT_SCOPES, checked=("feed", "traces:write"), of_agent=True)
    return {
        "agent": agent,
        "tokens": _newest(agent.tokens.all()),
        "limits": {
            "skills": list(agent.skills.order_by("name")[:MOST_TOKENS]),
            "sets": list(agent.sets.all()),
        },
        "form": form,
        "now": timezone.now(),
        "may_issue": access.powers(request).may_manage_agents(agent.team),
    }


def _own_context(request: HttpRequest) -> dict[str, object]:
    own = Token.objects.filter(user=access.actor(request).user)
    form = TokenForm(scopes=_own_scopes(request), checked=("read",))
    return {"tokens": _newest(own), "form": form, "now": timezone.now(), "may_issue": True}


def _newest(tokens: QuerySet[Token]) -> list[Token]:
    return list(tokens.select_related("environment").order_by("-created_at")[:MOST_TOKENS])


def _own_scopes(request: HttpRequest) -> list[str]:
    """The scopes that can mean something for this user: a scope cuts a token's rights, and gives none."""
    powers = access.powers(request)
    useful = {
        "publish": powers.is_publisher,
        "release": powers.is_publisher or powers.is_approver,
        "traces:read": powers.reads_some_traces,
        "evaluations:write": powers.is_publisher,
        "admin": powers.is_admin,
    }
    return [scope for scope in USER_SCOPES if useful.get(scope, True)]


def _teams(request: HttpRequest) -> QuerySet[Team]:
    """The teams whose agents this user manages."""
    powers = access.powers(request)
    return Team.objects.all() if powers.is_admin else teams_to_publish_for(powers)


def _later(*moments: datetime | None) -> datetime | None:
    return max((moment for moment in moments if moment), default=None)


def _environments_of(agent: Agent) -> list[Environment]:
    held = {token.environment for token in agent.tokens.all() if token.environment}
    return sorted(held, key=lambda environment: environment.order)
