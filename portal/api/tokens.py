"""Tokens by REST: those of agents, and the caller's own. A secret is answered once, and kept nowhere."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Environment, Token
from catalog.rotation import LONGEST_OVERLAP, OVERLAP_HOURS, rotate_token
from catalog.tokens import AGENT_SCOPES, DAYS, LONGEST_DAYS, USER_SCOPES, issue_token, revoke_token
from portal import access
from portal.api.authentication import actor_of, ask_scope, bearer_of
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.examples import agents as examples
from portal.api.fields import Fields
from portal.api.idempotency import ShownOnce, once
from portal.api.paging import page_of

LONGEST_NAME = 120


@described(
    "agent_tokens",
    "The tokens of an agent, newest first; ended ones too.",
    answers={200: "TokenPage"},
    problems=(400, 404),
    query=CURSOR,
)
@described(
    "agent_token_issue",
    "Issue a token of an agent in an environment. Its `secret` stands in this answer alone: the same "
    "Idempotency-Key again gets null. Publishers of the team there, and administrators.",
    method="POST",
    sent={"application/json": "IssueToken"},
    answers={201: "IssuedToken"},
    problems=(400, 404, 409, 415, 422),
    examples=examples.TOKEN_ISSUED,
    once=True,
)
@endpoint({"GET": "read", "POST": ("publish", "admin")})
@once
def agent_tokens(request: Request, name: str) -> Response:
    """The tokens of an agent, and a new one."""
    agent = access.agent_read(request, name)
    if request.method != "POST":
        rows = Token.objects.filter(agent=agent).select_related("agent", "environment", "user")
        return Response(page_of(request, rows, key="-created_at", show=show_token))
    ask_scope(request, agent.team)
    fields = Fields(request.data)
    environment = _environment(fields)
    scopes = fields.names("scopes", choices=AGENT_SCOPES) or ()
    title = fields.prose("name", longest=LONGEST_NAME)
    days = fields.number("days", least=1, most=LONGEST_DAYS)
    if not scopes:
        fields.wrong("scopes", f"scopes is missing; give some of {', '.join(AGENT_SCOPES)}.")
    fields.check()
    token, secret = issue_token(
        actor=actor_of(request),
        agent=agent,
        environment=environment,
        scopes=scopes,
        name=title,
        days=DAYS if days is None else days,
        now=timezone.now(),
    )
    return _show_secret(token, secret)


@described(
    "tokens",
    "The caller's own tokens, newest first; ended ones too.",
    answers={200: "TokenPage"},
    problems=(400,),
    query=CURSOR,
)
@endpoint({"GET": "read"})
def token_list(request: Request) -> Response:
    """The caller's own tokens."""
    own = Token.objects.filter(user=request.user.pk).select_related("agent", "environment", "user")
    return Response(page_of(request, own, key="-created_at", show=show_token))


@described(
    "token_rotate",
    "Issue a token of the same terms in place of one, which works for `overlap_hours` (0 to "
    f"{LONGEST_OVERLAP}, {OVERLAP_HOURS} where absent) still. The `secret` stands in this answer alone. A "
    "token is replaced once. One's own, by a token with all of its scopes; those of an agent as for issuing.",
    method="POST",
    sent={"application/json": "RotateToken"},
    answers={201: "IssuedToken"},
    problems=(400, 404, 409, 415, 422),
    examples=examples.TOKEN_ROTATED,
    once=True,
)
@endpoint({"POST": USER_SCOPES})
@once
def token_rotate(request: Request, token_id: UUID) -> Response:
    """A new secret in place of an old one."""
    token = _token(request, token_id)
    fields = Fields(request.data)
    overlap = fields.number("overlap_hours", least=0, most=LONGEST_OVERLAP)
    days = fields.number("days", least=1, most=LONGEST_DAYS)
    fields.check()
    fresh, secret = rotate_token(
        token=token,
        actor=actor_of(request),
        now=timezone.now(),
        overlap_hours=OVERLAP_HOURS if overlap is None else overlap,
        days=days,
    )
    return _show_secret(fresh, secret)


@described(
    "token_revoke",
    "End a token now; it is refused within two seconds. A second time changes nothing. Who may rotate it.",
    method="POST",
    sent={"application/json": "Nothing"},
    answers={200: "Token"},
    problems=(400, 404, 409, 415, 422),
    once=True,
)
@endpoint({"POST": USER_SCOPES})
@once
def token_revoke(request: Request, token_id: UUID) -> Response:
    """End a token."""
    token = _token(request, token_id)
    revoke_token(token=token, actor=actor_of(request), now=timezone.now())
    token.refresh_from_db(fields=["revoked_at"])
    return Response(show_token(token))


def show_token(token: Token) -> dict[str, Any]:
    """A token as the API answers it; nothing of its secret but the beginning."""
    return {
        "id": str(token.pk),
        "name": token.name,
        "prefix": token.prefix,
        "agent": token.agent.name if token.agent else None,
        "environment": token.environment.name if token.environment else None,
        "user": token.user.username if token.user else None,
        "scopes": token.scopes,
        "state": _state_of(token),
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "last_used_at": token.last_used_at,
        "revoked_at": token.revoked_at,
        "replaced_by": str(token.replaced_by_id) if token.replaced_by_id else None,
    }


def _show_secret(token: Token, secret: str) -> ShownOnce:
    shown = show_token(token)
    headers = {"Cache-Control": "no-store"}
    return ShownOnce(
        {**shown, "secret": secret}, again={**shown, "secret": None}, status=201, headers=headers
    )


def _state_of(token: Token) -> str:
    if token.revoked_at is not None:
        return "revoked"
    if token.expires_at <= timezone.now():
        return "expired"
    return "replaced" if token.replaced_by_id else "valid"


def _token(request: Request, token_id: UUID) -> Token:
    """A token that the caller may change, so far as scopes say."""
    token = access.token_read(request, token_id)
    if token.agent is not None:
        ask_scope(request, token.agent.team)
    elif lacking := sorted(set(token.scopes) - bearer_of(request).scopes):
        # Else a token of one scope would get hold of all that its owner has.
        raise PermissionDenied(f"The token lacks the scope {' and '.join(lacking)} of the one to be changed.")
    return token


def _environment(fields: Fields) -> Environment | None:
    name = fields.text("environment", needed=True, longest=64)
    found = Environment.objects.filter(name=name).first()
    if name and found is None:
        known = ", ".join(Environment.objects.values_list("name", flat=True))
        fields.wrong("environment", f"There is no environment {name!r}; there are {known}.")
    return found
