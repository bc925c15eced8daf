"""Tokens after they are issued: a new secret in place of an old one, and the end of all tokens of an agent."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from catalog import journal
from catalog.journal import Actor
from catalog.models import Agent, Token
from catalog.tokens import (
    LONGEST_DAYS,
    BadToken,
    ask_to_hold,
    check_terms,
    forget_token,
    make_token,
    revoke_token,
)

# For how long both secrets work: time to hand the new one out.
OVERLAP_HOURS, LONGEST_OVERLAP = 24, 168


class NotRotatable(BadToken):
    """A token is revoked, expired or replaced already."""


def rotate_token(
    *,
    token: Token,
    actor: Actor,
    now: datetime,
    overlap_hours: int = OVERLAP_HOURS,
    days: int | None = None,
) -> tuple[Token, str]:
    """Issue a token of the same terms in place of this one, which works for the overlap still.

    Without `days` the new one lives as long as the old one was to. Raises BadToken for an overlap
    outside 0–168 hours, a life outside 1–365 days, and an agent or account that is no more, NotRotatable
    for a token that is revoked, expired or replaced, and NotAllowed as `issue_token` does.
    """
    if not 0 <= overlap_hours <= LONGEST_OVERLAP:
        raise BadToken(f"An overlap has 0 to {LONGEST_OVERLAP} hours; {overlap_hours} was asked for.")
    life = life_of(token) if days is None else days
    with transaction.atomic():
        ask_to_hold(actor, agent=token.agent, environment=token.environment, user=token.user)
        old = Token.objects.select_for_update(no_key=True, of=("self",)).get(pk=token.pk)
        ask_rotatable(old, now)
        check_terms(old.scopes, old.scopes, life)
        terms = Token(
            name=old.name,
            agent=token.agent,
            environment=token.environment,
            user=token.user,
            scopes=old.scopes,
        )
        new, secret = make_token(terms, days=life, now=now)
        before = old.expires_at
        old.replaced_by, old.expires_at = new, min(before, now + timedelta(hours=overlap_hours))
        old.save(update_fields=["replaced_by", "expires_at"])
        journal.append(
            actor=actor,
            verb="token.rotate",
            target=f"token {old.prefix}",
            before={"expires_at": before},
            after={
                "of": str(new.agent or new.user),
                "expires_at": old.expires_at,
                "replaced_by": new.prefix,
                "new_expires_at": new.expires_at,
            },
            now=now,
        )
    forget_token(old)
    return new, secret


def revoke_tokens_of(*, agent: Agent, actor: Actor, now: datetime) -> int:
    """End every token of the agent that works; answers how many. Raises NotAllowed where one is not the actor's."""
    with transaction.atomic():
        # A token that is issued meanwhile waits for this, and is not one of them.
        Agent.objects.select_for_update(no_key=True, of=("self",)).get(pk=agent.pk)
        found = lock_working(agent, now)
        for token in found:
            revoke_token(token=token, actor=actor, now=now)
    return len(found)


def working_tokens(agent: Agent, now: datetime) -> QuerySet[Token]:
    """The tokens of the agent that are neither revoked nor expired, oldest first."""
    rows = Token.objects.filter(agent=agent, revoked_at=None, expires_at__gt=now)
    return rows.select_related("agent__team", "environment", "user").order_by("pk")


def lock_working(agent: Agent, now: datetime) -> list[Token]:
    """The same, locked before the first entry is written: whoever ends one of them meanwhile waits, or is done."""
    return list(working_tokens(agent, now).select_for_update(no_key=True, of=("self",)))


def life_of(token: Token) -> int:
    """For how many days the token was issued."""
    return min(max((token.expires_at - token.created_at).days, 1), LONGEST_DAYS)


def ask_rotatable(token: Token, now: datetime) -> None:
    """Raise NotRotatable for a token that is revoked, expired or replaced."""
    if token.revoked_at is not None:
        state = "revoked"
    elif token.expires_at <= now:
        state = "expired"
    elif token.replaced_by_id is not None:
        state = "replaced already"
    else:
        return
    raise NotRotatable(f"The token {token.prefix}… is {state}; issue a new one.")
