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

from catalog import access, background, journal
from catalog.journal import Actor
from catalog.models import Agent, Environment, Token, User

AGENT_SCOPES = ("feed", "traces:write", "evaluations:write")
USER_SCOPES = ("read", "publish", "release", "traces:read", "evaluations:write", "admin")
DAYS = 90
LONGEST_DAYS = 365
# A revocation is obeyed everywhere within two seconds (architecture, Feed).
CACHE_SECONDS = 1.0
CACHE_SIZE = 10_000
USE_NOTED = timedelta(minutes=1)


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
    agent that is retired or an account that is closed; NotAllowed where the actor does not manage the
    agent in that environment, or is not the user: whoever held another's token would act in that one's name.
    """
    if (agent is None) == (user is None) or (agent is None) != (environment is None):
        raise BadToken("A token is of an agent in one environment, or of a user.")
    check_terms(AGENT_SCOPES if agent else USER_SCOPES, scopes, days)
    with transaction.atomic():
        ask_to_hold(actor, agent=agent, environment=environment, user=user)
        token, secret = make_token(
            Token(name=name, agent=agent, environment=environment, user=user, scopes=sorted(set(scopes))),
            days=days,
            now=now,
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


def make_token(terms: Token, *, days: int, now: datetime) -> tuple[Token, str]:
    """Save a row of these terms with a new secret; for a caller that has checked terms and right."""
    secret = f"qm_{secrets.token_urlsafe(32)}"
    terms.prefix, terms.sha256 = secret[:8], digest_of(secret)
    terms.created_at, terms.expires_at = now, now + timedelta(days=days)
    terms.save(force_insert=True)
    return terms, secret


def revoke_token(*, token: Token, actor: Actor, now: datetime) -> None:
    """End a token now; it is refused everywhere within two seconds. A second time changes nothing.

    Raises NotAllowed for all but the user, who manages the agent there, and administrators.
    """
    with transaction.atomic():
        _ask_to_revoke(actor, token)
        if Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
            journal.append(
                actor=actor,
                verb="token.revoke",
                target=f"token {token.prefix}",
                after={"of": str(token.agent or token.user)},
                now=now,
            )
    forget_token(token)


def forget_token(token: Token) -> None:
    """Have this process look the token up anew; others do within a second."""
    with _lock:
        _known.pop(token.sha256, None)


def check_terms(allowed: Sequence[str], scopes: Sequence[str], days: int) -> None:
    """Raise BadToken for none or other scopes than the allowed ones, and for a life out of bounds."""
    unknown = sorted(set(scopes) - set(allowed))
    if unknown or not scopes:
        raise BadToken(
            f"The scopes of this token are {', '.join(allowed)}; {', '.join(unknown) or 'none'} was asked for."
        )
    if not 1 <= days <= LONGEST_DAYS:
        raise BadToken(f"A token lives 1 to {LONGEST_DAYS} days; {days} was asked for.")


def ask_to_hold(
    actor: Actor, *, agent: Agent | None, environment: Environment | None, user: User | None
) -> None:
    """Lock whose token it is to be, and raise NotAllowed or BadToken where the actor may not get its secret."""
    if agent is not None:
        # Locked, so that it is neither retired nor transferred meanwhile.
        fresh = (
            Agent.objects.select_for_update(no_key=True, of=("self",)).select_related("team").get(pk=agent.pk)
        )
        _ask_to_manage(actor, fresh, environment)
        if fresh.retired_at is not None:
            raise BadToken(f"The agent {fresh.name} is retired; its tokens are refused.")
    elif user is not None:
        if actor.user != user and not actor.is_system:
            raise access.NotAllowed("A token of a person is made by that person.")
        if not User.objects.select_for_update(no_key=True).filter(pk=user.pk, is_active=True).exists():
            raise BadToken(f"The account of {user.username} is closed; its tokens are refused.")


def _ask_to_manage(actor: Actor, agent: Agent, environment: Environment | None) -> None:
    refusal = f"Tokens of {agent.name} there are for the publishers of {agent.team.name}."
    access.require(actor, lambda powers: powers.may_manage_agents(agent.team, environment), refusal)


def _ask_to_revoke(actor: Actor, token: Token) -> None:
    if token.agent_id is not None:
        agent = Agent.objects.select_related("team").get(pk=token.agent_id)
        _ask_to_manage(actor, agent, token.environment)
    elif actor.user != token.user:
        refusal = "Tokens of somebody else are ended by administrators."
        access.require(actor, lambda powers: powers.is_admin, refusal)


def read_token(secret: str, *, now: datetime) -> Bearer | None:
    """Whom the token speaks for, or None where it is unknown, expired or revoked.

    The answer is up to a second old. That it was used is noted, and written once a minute.
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
    if bearer is None or bearer.expires_at <= now:
        return None
    _note_use(bearer.token_id, now)
    return bearer


def digest_of(secret: str) -> str:
    """What is kept of a token."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


_known: dict[str, tuple[Bearer | None, datetime]] = {}
_used: dict[UUID, datetime] = {}
_written: dict[UUID, datetime] = {}
_lock = threading.Lock()


def forget_cached() -> None:
    """Empty this process's memory of tokens."""
    with _lock:
        for memory in (_known, _used, _written):
            memory.clear()


def write_uses() -> int:
    """Write when tokens were last used; answers of how many. On a fault nothing is lost, and it raises."""
    with _lock:
        uses = dict(sorted(_used.items()))
        _used.clear()
    try:
        rows = [Token(pk=token_id, last_used_at=now) for token_id, now in uses.items()]
        Token.objects.bulk_update(rows, ["last_used_at"], batch_size=100)
    except Exception:
        with _lock:
            _used.update({**uses, **_used})
        raise
    with _lock:
        if len(_written) >= CACHE_SIZE:
            _written.clear()
        _written.update(uses)
    return len(uses)


background.register("uses of tokens", write_uses)


def _note_use(token_id: UUID, now: datetime) -> None:
    written = _written.get(token_id)
    if written is None or now - written >= USE_NOTED:
        with _lock:
            _used[token_id] = now
        background.wake()


def _look_up(digest: str, *, now: datetime) -> Bearer | None:
    token = (
        Token.objects.filter(sha256=digest, revoked_at=None, expires_at__gt=now)
        .select_related("agent", "user")
        .first()
    )
    if token is None or (token.agent and token.agent.retired_at) or (token.user and not token.user.is_active):
        return None
    return Bearer(
        token_id=token.pk,
        scopes=frozenset(token.scopes),
        expires_at=token.expires_at,
        agent_id=token.agent_id,
        environment_id=token.environment_id,
        user_id=token.user_id,
    )
