"""Tokens of agents, and the user's own: issued, replaced, ended. A secret is shown once."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, retarget, trigger_client_event

from catalog.access import NotAllowed
from catalog.models import Agent, Token
from catalog.rotation import ask_rotatable, life_of, revoke_tokens_of, rotate_token
from catalog.tokens import AGENT_SCOPES, USER_SCOPES, BadToken, issue_token, revoke_token
from portal import access
from portal.forms.tokens import RotateForm, TokenForm
from portal.fragments import render_part, wants_part
from portal.holdings import environments_to_issue_for, holdings_of, is_mine
from portal.views.agents import agent_context


@require_POST
@never_cache
def agent_token_issue(request: HttpRequest, name: str) -> HttpResponse:
    """Issue a token of the agent; the answer alone holds its secret."""
    agent = access.agent_read(request, name)
    environments = environments_to_issue_for(access.powers(request), agent)
    return _issue(request, TokenForm(request.POST, scopes=AGENT_SCOPES, environments=environments), agent)


@require_POST
def agent_tokens_revoke(request: HttpRequest, name: str) -> HttpResponse:
    """End every token of the agent."""
    agent = access.agent_read(request, name)
    count = revoke_tokens_of(agent=agent, actor=access.actor(request), now=timezone.now())
    told = ngettext("%(n)d token of %(name)s is revoked.", "%(n)d tokens of %(name)s are revoked.", count)
    messages.success(request, told % {"n": count, "name": agent.name})
    return redirect("agent-detail", agent.name)


@require_safe
def token_list(request: HttpRequest) -> HttpResponse:
    """The user's own tokens, for REST in their name."""
    return render_part(request, "agents/token_list.html", "tokens", _own_context(request))


@require_POST
@never_cache
def token_issue(request: HttpRequest) -> HttpResponse:
    """Issue a token that acts for the user; the answer alone holds its secret."""
    return _issue(request, TokenForm(request.POST, scopes=_own_scopes(request)), agent=None)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def token_rotate(request: HttpRequest, token_id: UUID) -> HttpResponse:
    """Issue a token of the same terms in place of one; the answer alone holds its secret."""
    token = access.token_read(request, token_id)
    if not is_mine(access.powers(request), token, token.agent):
        raise NotAllowed(_("Tokens of this agent there are for the publishers of its team."))
    form = RotateForm(request.POST if request.method == "POST" else None, initial={"days": life_of(token)})
    try:
        if request.method == "POST" and form.is_valid():
            fresh, secret = rotate_token(
                token=token, actor=access.actor(request), now=timezone.now(), **form.cleaned_data
            )
            return _show_secret(request, fresh, secret, replaced=token)
        ask_rotatable(token, timezone.now())
    except BadToken as refusal:
        return _show_form(request, token, status=409, refusal=str(refusal))
    return _show_form(request, token, status=422 if form.is_bound else 200, form=form)


@require_POST
def token_revoke(request: HttpRequest, token_id: UUID) -> HttpResponse:
    """End a token of the user, or of an agent that they manage; a second time changes nothing."""
    token = access.token_read(request, token_id)
    revoke_token(token=token, actor=access.actor(request), now=timezone.now())
    messages.success(request, _("The token %(prefix)s… is revoked.") % {"prefix": token.prefix})
    address = ("agent-detail", token.agent.name) if token.agent else ("token-list",)
    return redirect(*address)


def _issue(request: HttpRequest, form: TokenForm, agent: Agent | None) -> HttpResponse:
    """The secret in a dialog or on a page of its own; what is wrong with the form in its place."""
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
    template = "agents/agent_detail.html" if agent else "agents/token_list.html"
    context = agent_context(request, agent) if agent else _own_context(request)
    if wants_part(request):
        answer = render(request, "agents/token_form.html", {**context, "form": form}, status=422)
        return reswap(retarget(answer, "#token-form"), "outerHTML")
    return render(request, template, {**context, "form": form, "asked": True}, status=422)


def _show_form(request: HttpRequest, token: Token, *, status: int, **context: Any) -> HttpResponse:
    """The form that replaces a token, or why it cannot be; in the dialog or on a page of its own."""
    template = "agents/rotate_form.html" if wants_part(request) else "agents/token_rotate.html"
    answer = render(request, template, {"token": token, **context}, status=status)
    return retarget(reswap(answer, "innerHTML"), "#rotate-token") if wants_part(request) else answer


def _show_secret(
    request: HttpRequest, token: Token, secret: str, replaced: Token | None = None
) -> HttpResponse:
    context = {"token": token, "secret": secret, "replaced": replaced}
    if replaced is not None:
        replaced.refresh_from_db(fields=["expires_at"])
    if not wants_part(request):
        return render(request, "agents/token_issue.html", context)
    answer = render(request, "agents/secret.html", context)
    return trigger_client_event(answer, "token-changed")


def _own_context(request: HttpRequest) -> dict[str, object]:
    now, powers = timezone.now(), access.powers(request)
    own = Token.objects.filter(user=access.actor(request).user)
    return {
        "holdings": holdings_of(own, powers=powers, now=now, agent=None),
        "form": TokenForm(scopes=_own_scopes(request), checked=("read",)),
        "now": now,
        "may_issue": True,
    }


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
