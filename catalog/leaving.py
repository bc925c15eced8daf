"""Leaving: an account is closed, or a person leaves a team; what they held goes, and is told one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from catalog import access, journal
from catalog.delegations import close_delegation, open_delegations
from catalog.grants import administrators, ask_for_another, drop_grant, lock_accounts
from catalog.journal import Actor
from catalog.models import Delegation, Environment, Grant, Role, Skill, Team, Token, User
from catalog.ownership import NotOfTheTeam, part_from, people_of
from catalog.tokens import revoke_token

REFUSAL = "Accounts are closed and opened by administrators."


class NotClosable(ValueError):
    """An account cannot be closed, opened or left so; the text says why."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """What goes when a person leaves: altogether, or one team."""

    grants: tuple[Grant, ...]
    tokens: tuple[Token, ...]
    delegations: tuple[Delegation, ...]
    skills: tuple[Skill, ...]
    owned: tuple[Skill, ...]
    last_administrator: bool = False

    @property
    def teams(self) -> tuple[Team, ...]:
        """The teams whose skills lose their owner."""
        return tuple({skill.team_id: skill.team for skill in self.owned}.values())

    @property
    def maintained(self) -> tuple[Skill, ...]:
        """The skills that lose a co-maintainer."""
        kept = {skill.pk for skill in self.owned}
        return tuple(skill for skill in self.skills if skill.pk not in kept)


def look_ahead(*, person: User, now: datetime, team: Team | None = None) -> Leaving:
    """What closing the account, or leaving the team, would take away; changes nothing."""
    where = Q(team=team) if team else Q()
    grants = person.grants.filter(where).select_related("user", "team", "environment")
    skills = tuple(_skills_of(person, where))
    return Leaving(
        grants=tuple(grants.order_by("role", "team__name", "environment__order")),
        tokens=() if team else _tokens_of(person, now),
        delegations=_delegations_of(person, now, team),
        skills=skills,
        owned=tuple(skill for skill in skills if skill.owner_id == person.pk),
        last_administrator=team is None and _is_last(person),
    )


def close_account(
    *,
    person: User,
    actor: Actor,
    reason: str,
    now: datetime,
    heirs: Mapping[UUID, User] | None = None,
) -> Leaving:
    """Close an account: it cannot sign in, its tokens end, its grants and delegations go.

    `heirs` names, by team, who owns the skills of that team from then on; a skill of another team
    stands without owner. Answers what went. Raises NotAllowed, LastAdministrator, NotOfTheTeam for an
    heir who does not belong to the team, and NotClosable for an account that is closed.
    """
    heirs = heirs or {}
    with transaction.atomic():
        accounts = lock_accounts([person, *heirs.values()], with_administrators=True)
        fresh = accounts[person.pk]
        access.require(actor, lambda powers: powers.is_admin, REFUSAL)
        if not fresh.is_active:
            raise NotClosable(f"The account of {fresh.username} is closed already.")
        administered = administrators().filter(pk=fresh.pk).exists()
        gone = _part(fresh, None, heirs, actor, reason, now)
        _shut(fresh)
        if administered:
            ask_for_another(fresh)
        _tell(fresh, "user.close", actor, now, {"reason": reason})
    return gone


def open_account(*, person: User, actor: Actor, now: datetime) -> User:
    """Open a closed account, without grants and without a password. Raises NotAllowed and NotClosable."""
    with transaction.atomic():
        fresh = lock_accounts([person])[person.pk]
        access.require(actor, lambda powers: powers.is_admin, REFUSAL)
        if fresh.is_active:
            raise NotClosable(f"The account of {fresh.username} is open.")
        fresh.is_active = True
        fresh.save(update_fields=["is_active"])
        _tell(fresh, "user.open", actor, now, None)
    return fresh


def leave_team(
    *, person: User, team: Team, actor: Actor, now: datetime, reason: str = "", heir: User | None = None
) -> Leaving:
    """Take a person's grants for a team, and their part in its skills; `heir` owns them from then on.

    Raises NotAllowed for all but the person and administrators, NotOfTheTeam for the heir, and
    NotClosable where the person has no grant for the team.
    """
    with transaction.atomic():
        fresh = lock_accounts([person, *([heir] if heir else [])], with_administrators=True)[person.pk]
        if actor.user != person:
            access.require(actor, lambda powers: powers.is_admin, "A team is left by the person who leaves.")
        if not fresh.grants.filter(team=team).exists():
            raise NotClosable(f"{fresh} does not belong to {team.name}.")
        return _part(fresh, team, {team.pk: heir} if heir else {}, actor, reason, now)


def _part(
    person: User, team: Team | None, heirs: Mapping[UUID, User], actor: Actor, reason: str, now: datetime
) -> Leaving:
    """Take away what leaving takes, each with its entry; the locks come in the order of the docs."""
    list(Environment.objects.select_for_update(no_key=True).order_by("order"))
    list(_skills_of(person, Q(team=team) if team else Q()).select_for_update(of=("self",), no_key=True))
    list(Token.objects.select_for_update(no_key=True).filter(user=person).order_by("pk"))
    gone = look_ahead(person=person, now=now, team=team)
    _check_heirs(person, heirs)
    for token in gone.tokens:
        revoke_token(token=token, actor=actor, now=now)
    for delegation in gone.delegations:
        close_delegation(delegation=delegation, actor=actor, now=now)
    for skill in gone.skills:
        heir = heirs.get(skill.team_id)
        part_from(skill=skill, person=person, heir=heir, actor=actor, reason=reason, now=now)
    for grant in gone.grants:
        drop_grant(grant=grant, actor=actor, now=now)
    return gone


def _skills_of(person: User, where: Q) -> QuerySet[Skill]:
    maintained = Skill.maintainers.through.objects.filter(user=person).values("skill_id")
    mine = Q(owner=person) | Q(pk__in=maintained)
    rows = Skill.objects.filter(mine, where, deleted_at=None)
    return rows.select_related("team", "owner").order_by("pk")


def _tokens_of(person: User, now: datetime) -> tuple[Token, ...]:
    rows = Token.objects.filter(user=person, revoked_at=None, expires_at__gt=now)
    return tuple(rows.select_related("agent", "user").order_by("pk"))


def _delegations_of(person: User, now: datetime, team: Team | None) -> tuple[Delegation, ...]:
    mine = Q(giver=person, team=team) if team else Q(giver=person) | Q(taker=person)
    rows = Delegation.objects.filter(mine, open_delegations(now))
    if team and person.grants.filter(role=Role.APPROVER, team=None).exists():
        # Still lent, by a right for all teams.
        return ()
    return tuple(rows.select_related("giver", "taker", "team", "environment").order_by("pk"))


def _is_last(person: User) -> bool:
    return list(administrators().values_list("pk", flat=True)[:2]) == [person.pk]


def _check_heirs(person: User, heirs: Mapping[UUID, User]) -> None:
    for team in Team.objects.filter(pk__in=heirs):
        heir = heirs[team.pk]
        if heir.pk == person.pk or not people_of(team).filter(pk=heir.pk).exists():
            raise NotOfTheTeam(f"{heir.username} cannot take over the skills of {team.name}: name a member.")


def _shut(person: User) -> None:
    """No sign-in, no session, no link: sessions and links hang on the password that goes."""
    person.is_active = person.is_superuser = person.is_staff = False
    person.set_unusable_password()
    person.save(update_fields=["is_active", "is_superuser", "is_staff", "password"])


def _tell(person: User, verb: str, actor: Actor, now: datetime, after: dict[str, str] | None) -> None:
    journal.append(actor=actor, verb=verb, target=f"user {person.username}", after=after, now=now)
