"""Bearer tokens of agents and people: shown once, kept as a digest, never without an end."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

from django.db import transaction

from catalog import access, journal
from catalog.journal import Actor
from catalog.models import Agent, Environment, Token, User

AGENT_SCOPES = ("feed", "traces:write", "evaluations:write")
USER_SCOPES = ("read", "publish", "release", "traces:read", "evaluations:write", "admin")
DAYS = 90
LONGEST_DAYS = 365
# A revocation is obeyed everywhere within two seconds (architecture, Feed).
CACHE_SECONDS = 1.0
CACHE_SIZE = 10_000


class BadToken(Exception):
    """A token cannot be made as asked; the text says why."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whom a valid token speaks for: an agent in an environment, or a user."""

    token_id: UUID
    scopes: frozenset[str]
    expires_at: datetime
    agent_id: UUID | None = None
    environment_id: UUID | None = None
    user_id: UUID | None = None


def issue_token(
    *,
    actor: Actor,
    scopes: Sequence[str],
    now: datetime,
    agent: Agent | None = None,
    environment: Environment | None = None,
    user: User | None = None,
    name: str = "",
    days: int = DAYS,
) -> tuple[Token, str]:
    """Make a token of an agent in an environment, or of a user; answers the row and the secret.

    Raises BadToken for a scope that its kind does not have, for a life outside 1–365 days and for an
    agent that is retired; NotAllowed where the actor does not manage the agent, or is not the user.
    """
    if (agent is None) == (user is None) or (agent is None) != (environment is None):
        raise BadToken("A token is of an agent in one environment, or of a user.")
    if agent is not None and agent.retired_at is not None:
        raise BadToken(f"The agent {agent.name} is retired; its tokens are refused.")
    _ask(actor, agent=agent, user=user)
    allowed = AGENT_SCOPES if agent else USER_SCOPES
    unknown = sorted(set(scopes) - set(allowed))
    if unknown or not scopes:
        raise BadToken(
            f"The scopes of this token are {', '.join(allowed)}; {', '.join(unknown) or 'none'} was asked for."
        )
    if not 1 <= days <= LONGEST_DAYS:
        raise BadToken(f"A token lives 1 to {LONGEST_DAYS} days; {days} was asked for.")
    secret = f"qm_{secrets.token_urlsafe(32)}"
    with transaction.atomic():
        token = Token.objects.create(
            name=name,
            prefix=secret[:8],
            sha256=digest_of(secret),
            agent=agent,
            environment=environment,
            user=user,
            scopes=sorted(set(scopes)),
            created_at=now,
            expires_at=now + timedelta(days=days),
        )
        journal.append(
            actor=actor,
            verb="token.issue",
            target=f"token {token.prefix}",
            after={
                "of": str(agent or user),
                "environment": environment.name if environment else None,
                "scopes": token.scopes,
                "expires_at": token.expires_at,
            },
            now=now,
        )
    return token, secret


def revoke_token(*, token: Token, actor: Actor, now: datetime) -> None:
    """End a token now; it is refused everywhere within two seconds. A second time changes nothing.

    Raises NotAllowed as `issue_token` does.
    """
    _ask(actor, agent=token.agent, user=token.user)
    with transaction.atomic():
        if Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
            journal.append(
                actor=actor,
                verb="token.revoke",
                target=f"token {token.prefix}",
                after={"of": str(token.agent or token.user)},
                now=now,
            )
    with _lock:
        _known.pop(token.sha256, None)


def _ask(actor: Actor, *, agent: Agent | None, user: User | None) -> None:
    if actor.user is None or (user is not None and user.pk == actor.user.pk):
        return
    powers = access.powers_of(actor.user)
    if agent is not None and not powers.may_manage_agents(agent.team):
        raise access.NotAllowed(f"Tokens of {agent.name} are for the publishers of {agent.team.name}.")
    if user is not None and not powers.is_admin:
        raise access.NotAllowed("Tokens of somebody else are for administrators.")


def read_token(secret: str, *, now: datetime) -> Bearer | None:
    """Whom the token speaks for, or None where it is unknown, expired or revoked.

    The answer is up to a second old. The minute in which a token was last used is noted.
    """
    digest = digest_of(secret)
    known = _known.get(digest)
    if known is None or (now - known[1]).total_seconds() >= CACHE_SECONDS or now < known[1]:
        known = (_look_up(digest, now=now), now)
        with _lock:
            if len(_known) >= CACHE_SIZE:
                _known.clear()
            _known[digest] = known
    bearer = known[0]
    return bearer if bearer and bearer.expires_at > now else None


def digest_of(secret: str) -> str:
    """What is kept of a token."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


_known: dict[str, tuple[Bearer | None, datetime]] = {}
_lock = threading.Lock()


def forget_cached() -> None:
    """Empty this process's memory of tokens."""
    with _lock:
        _known.clear()


def _look_up(digest: str, *, now: datetime) -> Bearer | None:
    token = (
        Token.objects.filter(sha256=digest, revoked_at=None, expires_at__gt=now)
        .select_related("agent", "user")
        .first()
    )
    if token is None or (token.agent and token.agent.retired_at) or (token.user and not token.user.is_active):
        return None
    if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
        Token.objects.filter(pk=token.pk).update(last_used_at=now)
    return Bearer(
        token_id=token.pk,
        scopes=frozenset(token.scopes),
        expires_at=token.expires_at,
        agent_id=token.agent_id,
        environment_id=token.environment_id,
        user_id=token.user_id,
    )
