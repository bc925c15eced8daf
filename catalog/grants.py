"""Grants: who has which role, for which team and environment. Administrators give and take them.

Nobody takes away the last administrator: whoever might do so locks the accounts of all of them first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from catalog import access, journal
from catalog.journal import Actor
from catalog.models import Environment, Grant, Role, Team, User

REFUSAL = "Roles are given and taken by administrators."
WHOLE = Q(role=Role.ADMIN, team=None, environment=None)


class BadGrant(ValueError):
    """There is no such grant; the text says why."""


class LastAdministrator(Exception):
    """Without this administrator nobody could give roles."""

    def __init__(self, person: User) -> None:
        super().__init__(f"{person} is the last administrator; make another one first.")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A grant that is asked for: a role for one team or all (None), in one environment or all (None).

    Where `may_override` is None, what a grant says of it stays, and a new one has no such right.
    """

    role: Role
    team: Team | None = None
    environment: Environment | None = None
    may_override: bool | None = None

    def check(self) -> None:
        """Raise BadGrant for an administrator of a part, and for an override without the role approver."""
        if self.role == Role.ADMIN and (self.team or self.environment):
            raise BadGrant("An administrator is one of the whole instance; name no team and no environment.")
        if self.may_override and self.role != Role.APPROVER:
            raise BadGrant("The right to override a gate stands beside the role approver alone.")


def give_grant(*, user: User, wanted: Wanted, actor: Actor, now: datetime) -> Grant:
    """The grant, made where it is missing and changed where its right to override is another.

    Raises NotAllowed for all but administrators, and BadGrant, also for a closed account.
    """
    wanted.check()
    with transaction.atomic():
        person = lock_accounts([user])[user.pk]
        access.require(actor, lambda powers: powers.is_admin, REFUSAL)
        if not person.is_active:
            raise BadGrant(f"The account of {person.username} is closed; open it first.")
        grant, made = Grant.objects.get_or_create(
            user=person,
            role=wanted.role,
            team=wanted.team,
            environment=wanted.environment,
            defaults={"may_override": bool(wanted.may_override)},
        )
        before = None if made else _told(grant)
        if not made and wanted.may_override is not None:
            grant.may_override = wanted.may_override
            grant.save(update_fields=["may_override"])
        if before != _told(grant):
            _tell(grant, "grant.create", actor, now, before=before, after=_told(grant))
    return grant


def take_grant(*, grant: Grant, actor: Actor, now: datetime) -> None:
    """Take a grant away; a second time changes nothing. Raises NotAllowed and LastAdministrator."""
    with transaction.atomic():
        lock_accounts([grant.user], with_administrators=True)
        access.require(actor, lambda powers: powers.is_admin, REFUSAL)
        drop_grant(grant=grant, actor=actor, now=now)


def drop_grant(*, grant: Grant, actor: Actor, now: datetime) -> None:
    """Remove a grant for a caller that has checked the right and locked the accounts.

    Raises LastAdministrator.
    """
    fresh = Grant.objects.filter(pk=grant.pk).select_related("user", "team", "environment").first()
    if fresh is None:
        return
    before = _told(fresh)
    fresh.delete()
    if fresh.role == Role.ADMIN:
        ask_for_another(fresh.user)
    _tell(fresh, "grant.remove", actor, now, before=before)


def ask_for_another(person: User) -> None:
    """Raise LastAdministrator where nobody can give roles any more: a caller holds the accounts' locks."""
    if not administrators().exists():
        raise LastAdministrator(person)


def administrators() -> QuerySet[User]:
    """Who can give roles: active accounts with the role for the whole instance, and active superusers."""
    by_role = Q(pk__in=Grant.objects.filter(WHOLE).values("user_id"))
    return User.objects.filter(Q(is_superuser=True) | by_role, is_active=True)


def lock_accounts(users: Iterable[User], *, with_administrators: bool = False) -> dict[UUID, User]:
    """Lock accounts until the transaction ends, in the order of their ids; answers them as they are now.

    They are the first lock that a change takes (`docs/architecture.md`, Locks). `with_administrators`
    adds theirs, so that two who take each other's role come one after the other.
    """
    wanted = Q(pk__in=[user.pk for user in users])
    if with_administrators:
        wanted |= Q(is_superuser=True) | Q(pk__in=Grant.objects.filter(WHOLE).values("user_id"))
    locked = User.objects.select_for_update(no_key=True).filter(wanted).order_by("pk")
    return {user.pk: user for user in locked}


def _told(grant: Grant) -> dict[str, Any]:
    return {
        "role": str(grant.role),
        "team": grant.team.slug if grant.team else None,
        "environment": grant.environment.name if grant.environment else None,
        "may_override": grant.may_override,
    }


def _tell(
    grant: Grant,
    verb: str,
    actor: Actor,
    now: datetime,
    *,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None = None,
) -> None:
    target = f"user {grant.user.username}"
    journal.append(actor=actor, verb=verb, target=target, before=before, after=after, now=now)
