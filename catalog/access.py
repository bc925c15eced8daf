"""Who may do what: one predicate for each right of spec 4.5, for pages, API and protocols alike.

`powers_of(user)` reads a user's grants once; its methods answer without the database. A change is
checked again inside its own transaction by the domain function that makes it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import FilteredRelation, Q, QuerySet
from django.utils import timezone

from catalog.journal import Actor
from catalog.models import Environment, Grant, Release, Role, Skill, Team, User


class NotAllowed(Exception):
    """The actor lacks the right; the text says which, and who has it."""


@dataclass(frozen=True, slots=True)
class Right:
    """A role for one team or all (None), in one environment or all (None).

    `lent_by` is who lent it to the user for a time, None for a right of the user's own.
    """

    role: str
    team_id: UUID | None = None
    environment_id: UUID | None = None
    may_override: bool = False
    lent_by: UUID | None = None

    def covers(self, role: Role, *, team_id: UUID | None, environment_id: UUID | None) -> bool:
        """Whether it gives the role for this team and environment (None: for any)."""
        return (
            self.role == role
            and (team_id is None or self.team_id in {None, team_id})
            and (environment_id is None or self.environment_id in {None, environment_id})
        )


@dataclass(frozen=True)
class Powers:
    """What one user may do. `givers` has the powers of those who lent some of their rights."""

    user_id: UUID | None
    rights: tuple[Right, ...] = ()
    givers: Mapping[UUID, Powers] = field(default_factory=dict)

    def _has(self, role: Role, *, team_id: UUID | None = None, environment_id: UUID | None = None) -> bool:
        """Whether some grant gives the role for this team and environment (None: for any)."""
        return any(
            right.covers(role, team_id=team_id, environment_id=environment_id) for right in self.rights
        )

    @property
    def own(self) -> tuple[Right, ...]:
        """The rights that are the user's own, not lent."""
        return tuple(right for right in self.rights if right.lent_by is None)

    @property
    def team_ids(self) -> frozenset[UUID]:
        """The teams that the user belongs to: those that a grant of their own names."""
        return frozenset(right.team_id for right in self.own if right.team_id)

    @property
    def is_admin(self) -> bool:
        """Policies, teams, grants, agents, masking, audit log; approves nothing by it.

        The role is for the whole instance: a grant for one team or environment gives none of it.
        """
        return any(
            right.role == Role.ADMIN and right.team_id is None and right.environment_id is None
            for right in self.rights
        )

    @property
    def is_publisher(self) -> bool:
        """Publishes for some team."""
        return self._has(Role.PUBLISHER)

    @property
    def is_approver(self) -> bool:
        """Approves somewhere."""
        return self._has(Role.APPROVER)

    @property
    def sees_every_skill(self) -> bool:
        """Administrators, and whoever approves or analyses for all teams, see team-only skills."""
        return self.is_admin or any(
            right.team_id is None and right.role in {Role.APPROVER, Role.ANALYST, Role.PUBLISHER}
            for right in self.rights
        )

    def may_see(self, skill: Skill) -> bool:
        """A skill that is there, and shown to everyone signed in, to the user's team or to the user."""
        if skill.deleted_at is not None or self.user_id is None:
            return False
        return (
            skill.visibility == Skill.Visibility.ORGANISATION
            or self.sees_every_skill
            or skill.team_id in self.seen_team_ids
            or skill.owner_id == self.user_id
        )

    @property
    def seen_team_ids(self) -> frozenset[UUID]:
        """The teams whose own skills the user sees: theirs, and those for which a right was lent."""
        return frozenset(right.team_id for right in self.rights if right.team_id)

    def may_publish(self, team: Team) -> bool:
        """Publish, propose, withdraw, yank, transfer, deprecate: a publisher of the owning team."""
        return self._has(Role.PUBLISHER, team_id=team.pk)

    def may_propose(self, skill: Skill, environment: Environment) -> bool:
        """Propose a release: a publisher of the owning team, for that environment."""
        return self._has(Role.PUBLISHER, team_id=skill.team_id, environment_id=environment.pk)

    def may_decide(self, release: Release) -> bool:
        """Approve or reject: an approver there who neither proposed nor published (four eyes)."""
        return bool(self.deciding_for(release))

    def deciding_for(self, release: Release) -> tuple[UUID, ...]:
        """Whose right to decide on the release the user may use: their own first, then lent ones.

        Neither the user nor who lent the right proposed the release or published its version; where
        the policy wants approvers from outside, neither publishes for the owning team.
        """
        involved = {release.proposer_id, release.version.publisher_id}
        holders = dict.fromkeys(right.lent_by or self.user_id for right in self._approving(release))
        return tuple(
            holder
            for holder in sorted(holders, key=lambda one: (one != self.user_id, str(one)))
            if holder and not involved & {self.user_id, holder} and self._is_outside(holder, release)
        )

    def _approving(self, release: Release) -> Iterator[Right]:
        team, where = release.skill.team_id, release.environment_id
        return (
            right for right in self.rights if right.covers(Role.APPROVER, team_id=team, environment_id=where)
        )

    def _is_outside(self, holder: UUID, release: Release) -> bool:
        """Whether user and holder of the right are outsiders to the owning team, where that is asked for."""
        both = (self, self.givers.get(holder, self))
        return not release.environment.outside_approval or not any(
            one.may_publish(release.skill.team) for one in both
        )

    def may_override(self, release: Release) -> bool:
        """Override a gate: with that right beside the role approver, and four eyes as for a decision."""
        involved = {release.proposer_id, release.version.publisher_id}
        return self.may_break_glass(release) and self.user_id not in involved

    def may_break_glass(self, release: Release) -> bool:
        """Serve what lacks approvals: an approver there with that right, whoever proposed; never a lent one."""
        return any(right.may_override and right.lent_by is None for right in self._approving(release))

    def is_approver_of(self, release: Release) -> bool:
        """An approver for the release's team and environment, whoever proposed it."""
        return any(self._approving(release))

    def may_start(self, release: Release) -> bool:
        """Start or advance: who may decide; where the policy says so the owning team as well."""
        owner = release.environment.owner_may_start and self.may_propose(release.skill, release.environment)
        return owner or self.may_decide(release)

    def may_stop(self, release: Release) -> bool:
        """Halt or roll back: who may switch the skill off there."""
        return self.may_switch_off(release.skill, release.environment)

    def may_switch_off(self, skill: Skill, environment: Environment) -> bool:
        """Switch off, name a fallback: an approver there, or a publisher of the owning team."""
        return self.may_propose(skill, environment) or self._has(
            Role.APPROVER, team_id=skill.team_id, environment_id=environment.pk
        )

    def may_withdraw(self, release: Release) -> bool:
        """Withdraw a proposal: a publisher of the owning team."""
        return self.may_propose(release.skill, release.environment)

    def may_manage_agents(self, team: Team, environment: Environment | None = None) -> bool:
        """Agents of a team, and their tokens in the environment: its publishers there, and administrators."""
        where = environment.pk if environment else None
        return self.is_admin or self._has(Role.PUBLISHER, team_id=team.pk, environment_id=where)

    @property
    def reads_some_traces(self) -> bool:
        """Analysts read traces; publishers those of their own team's skills."""
        return self._has(Role.ANALYST) or self.is_publisher


def powers_of(user: User | AnonymousUser | None, *, now: datetime | None = None) -> Powers:
    """What the user may do at `now` (now, where it is not given), by their grants and what is lent to them.

    A superuser is an administrator; someone signed out may nothing. One query.
    """
    if not isinstance(user, User) or not user.is_active:
        return Powers(None)
    return powers_of_all([user], now=now or timezone.now())[user.pk]


def powers_of_all(users: Collection[User], *, now: datetime) -> dict[UUID, Powers]:
    """What each of these active users may do at `now`, by their ids. One query."""
    rows: defaultdict[UUID, list[Any]] = defaultdict(list)
    for grant, taker, *row in _grants_for(users, now):
        holder = row[0]
        rows[holder].append((grant, *row))
        if taker is not None:
            rows[taker].append((grant, *row))
    return {user.pk: _powers(user, rows[user.pk]) for user in users}


def _powers(user: User, rows: Iterable[tuple[Any, ...]]) -> Powers:
    """The powers by the grants of the user, and by those of who lends them some."""
    own: dict[int | UUID, Right] = {0: Right(Role.ADMIN)} if user.is_superuser else {}
    given: defaultdict[UUID, set[Right]] = defaultdict(set)
    lent: set[Right] = set()
    for grant, holder, role, team, where, may_override, *scope in rows:
        right = Right(role, team, where, may_override)
        if holder == user.pk:
            own[grant] = right
            continue
        given[holder].add(right)
        if role == Role.APPROVER and (part := cut(right, holder, *scope)):
            lent.add(part)
    givers = {holder: Powers(holder, tuple(rights)) for holder, rights in given.items()}
    return Powers(user.pk, (*own.values(), *sorted(lent, key=str)), givers)


def _grants_for(users: Collection[User], now: datetime) -> QuerySet[Grant, tuple[Any, ...]]:
    """The grants of the users and, with taker, team and environment of the loan, of who lends them rights now.

    A grant of a user who lends it to another of them comes once for each loan.
    """
    loan = "user__delegations_given"
    in_force = {"starts_at__lte": now, "ends_at__gt": now, "ended_at": None, "taker__in": users}
    condition = Q(**{f"{loan}__{name}": value for name, value in in_force.items()})
    return (
        Grant.objects.annotate(loan=FilteredRelation(loan, condition=condition))
        .filter(Q(user__in=users) | Q(loan__isnull=False, user__is_active=True))
        .order_by("pk")
        .values_list(
            "pk",
            "loan__taker_id",
            "user_id",
            "role",
            "team_id",
            "environment_id",
            "may_override",
            "loan__team_id",
            "loan__environment_id",
        )
    )


def cut(right: Right, giver: UUID, team: UUID | None, where: UUID | None) -> Right | None:
    """What a loan for a team and an environment (None: for all) passes on of a right; None for nothing."""
    if (team and right.team_id not in {None, team}) or (where and right.environment_id not in {None, where}):
        return None
    return Right(right.role, team or right.team_id, where or right.environment_id, lent_by=giver)


def require(
    actor: Actor, may: Callable[[Powers], bool], refusal: str, *, now: datetime | None = None
) -> None:
    """Raise NotAllowed with the refusal unless the actor may, at `now`; the system may."""
    if not actor.is_system and not may(powers_of(actor.user, now=now)):
        raise NotAllowed(refusal)
