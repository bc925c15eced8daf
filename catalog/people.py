"""Teams, accounts and grants: made by administrators and by the commands, each with its entry."""

from __future__ import annotations

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify

from catalog import journal
from catalog.journal import Actor
from catalog.models import Environment, Grant, Role, Team, User


def ensure_team(*, slug: str, actor: Actor, now: datetime, name: str = "") -> Team:
    """The team of this slug, made where it is missing; raises ValueError where nothing of it is a slug."""
    clean = slugify(slug)
    if not clean or len(clean) > 64:
        raise ValueError(f"{slug!r} is no name of a team; use at most 64 of a-z, 0-9, - and _.")
    with transaction.atomic():
        team, made = Team.objects.get_or_create(
            slug=clean, defaults={"name": name or slug.replace("-", " ").capitalize()}
        )
        if made:
            journal.append(
                actor=actor,
                verb="team.create",
                target=f"team {team.slug}",
                after={"name": team.name},
                now=now,
            )
    return team


def ensure_user(*, username: str, actor: Actor, now: datetime, password: str | None = None) -> User:
    """The account of this name, made where it is missing; without a password nobody can sign in to it.

    Raises ValueError for what is no user name.
    """
    try:
        User._meta.get_field("username").run_validators(username)
    except ValidationError as fault:
        raise ValueError(f"{username} is no user name: {' '.join(fault.messages)}") from fault
    with transaction.atomic():
        user = User.objects.filter(username=username).first()
        if user is None:
            user = User.objects.create_user(username=username, password=password)
            journal.append(actor=actor, verb="user.create", target=f"user {username}", now=now)
    return user


def ensure_grant(
    *,
    user: User,
    role: Role,
    actor: Actor,
    now: datetime,
    team: Team | None = None,
    environment: Environment | None = None,
    may_override: bool = False,
) -> Grant:
    """The grant, made where it is missing; no team or environment means all of them.

    Raises ValueError for an administrator of a part: the role is for the whole instance.
    """
    if role == Role.ADMIN and (team or environment):
        raise ValueError("An administrator is one of the whole instance; name no team and no environment.")
    with transaction.atomic():
        grant, made = Grant.objects.get_or_create(
            user=user, role=role, team=team, environment=environment, defaults={"may_override": may_override}
        )
        if made:
            journal.append(
                actor=actor,
                verb="grant.create",
                target=f"user {user.username}",
                after={
                    "role": role.value,
                    "team": team.slug if team else None,
                    "environment": environment.name if environment else None,
                    "may_override": may_override,
                },
                now=now,
            )
    return grant
