"""Who may do what: one predicate for each right of spec 4.5, for pages, API and protocols alike.

`powers_of(user)` reads a user's grants once; its methods answer without the database. A change is
checked again inside its own transaction by the domain function that makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from catalog.journal import Actor
from catalog.models import Agent, Environment, Grant, Release, Role, Skill, Team, User, Version


class NotAllowed(Exception):
    """The actor lacks the right; the text says which, and who has it."""


@dataclass(frozen=True, slots=True)
class Right:
    """A role for one team or all (None), in one environment or all (None)."""

    role: str
    team_id: UUID | None = None
    environment_id: UUID | None = None
    may_override: bool = False


@dataclass(frozen=True)
class Powers:
    """What one user may do."""

    user_id: UUID | None
    rights: tuple[Right, ...] = ()

    def _has(self, role: Role, *, team_id: UUID | None = None, environment_id: UUID | None = None) -> bool:
        """Whether some grant gives the role for this team and environment (None: for any)."""
        return any(
            right.role == role
            and (team_id is None or right.team_id in {None, team_id})
            and (environment_id is None or right.environment_id in {None, environment_id})
            for right in self.rights
        )

    @property
    def team_ids(self) -> frozenset[UUID]:
        """The teams that the user belongs to: those that a grant names."""
        return frozenset(right.team_id for right in self.rights if right.team_id)

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
            or skill.team_id in self.team_ids
            or skill.owner_id == self.user_id
        )

    def may_publish(self, team: Team) -> bool:
        """Publish, propose, withdraw, yank, transfer, deprecate: a publisher of the owning team."""
        return self._has(Role.PUBLISHER, team_id=team.pk)

    def may_propose(self, skill: Skill, environment: Environment) -> bool:
        """Propose a release: a publisher of the owning team, for that environment."""
        return self._has(Role.PUBLISHER, team_id=skill.team_id, environment_id=environment.pk)

    def may_decide(self, release: Release) -> bool:
        """Approve or reject: an approver there who neither proposed nor published (four eyes)."""
        return self.is_approver_of(release) and self.user_id not in {
            release.proposer_id,
            release.version.publisher_id,
        }

    def is_approver_of(self, release: Release) -> bool:
        """An approver for the release's team and environment, whoever proposed it."""
        return self._has(Role.APPROVER, team_id=release.skill.team_id, environment_id=release.environment_id)

    def may_start(self, release: Release) -> bool:
        """Start or advance: who may decide; where the policy says so the owning team as well."""
        owner = release.environment.owner_may_start and self.may_propose(release.skill, release.environment)
        return owner or self.may_decide(release)

    def may_stop(self, release: Release) -> bool:
        """Halt, roll back, switch off: an approver there, or a publisher of the owning team."""
        return self.is_approver_of(release) or self.may_propose(release.skill, release.environment)

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


def powers_of(user: User | AnonymousUser | None) -> Powers:
    """What the user may do now. A superuser is an administrator; someone signed out may nothing."""
    if not isinstance(user, User) or not user.is_active:
        return Powers(None)
    rights = tuple(
        Right(*row)
        for row in Grant.objects.filter(user=user).values_list(
            "role", "team_id", "environment_id", "may_override"
        )
    )
    if user.is_superuser:
        rights += (Right(Role.ADMIN),)
    return Powers(user.pk, rights)


def require(actor: Actor, may: Callable[[Powers], bool], refusal: str) -> None:
    """Raise NotAllowed with the refusal unless the actor may, as of now; the system may."""
    if not actor.is_system and not may(powers_of(actor.user)):
        raise NotAllowed(refusal)


def visible_skills(powers: Powers) -> QuerySet[Skill]:
    """The skills that `Powers.may_see` allows, as a query."""
    skills = Skill.objects.filter(deleted_at=None)
    if powers.user_id is None:
        return skills.none()
    if powers.sees_every_skill:
        return skills
    return skills.filter(
        Q(visibility=Skill.Visibility.ORGANISATION)
        | Q(team_id__in=powers.team_ids)
        | Q(owner_id=powers.user_id)
    )


def visible_versions(powers: Powers) -> QuerySet[Version]:
    """The versions of visible skills, revoked ones too: their page says what happened."""
    return Version.objects.filter(skill__in=visible_skills(powers))


def visible_releases(powers: Powers) -> QuerySet[Release]:
    """The releases of visible skills."""
    return Release.objects.filter(skill__in=visible_skills(powers))


def visible_agents(powers: Powers) -> QuerySet[Agent]:
    """The agents of the teams that the user publishes for; administrators see all."""
    agents = Agent.objects.filter(retired_at=None)
    if powers.is_admin:
        return agents
    if any(right.role == Role.PUBLISHER and right.team_id is None for right in powers.rights):
        return agents
    teams = {right.team_id for right in powers.rights if right.role == Role.PUBLISHER}
    return agents.filter(team_id__in=teams)


def teams_to_publish_for(powers: Powers) -> QuerySet[Team]:
    """The teams that the user may publish for."""
    rights = [right for right in powers.rights if right.role == Role.PUBLISHER]
    if any(right.team_id is None for right in rights):
        return Team.objects.all()
    return Team.objects.filter(pk__in={right.team_id for right in rights})


def releases_to_decide(powers: Powers) -> QuerySet[Release]:
    """The visible releases that `Powers.may_decide` allows, whatever state they are in."""
    return (
        visible_releases(powers)
        .filter(_within(powers, Role.APPROVER))
        .exclude(proposer_id=powers.user_id)
        .exclude(version__publisher_id=powers.user_id)
    )


def releases_to_start(powers: Powers) -> QuerySet[Release]:
    """The visible releases that `Powers.may_start` allows, whatever state they are in."""
    own = Q(environment__owner_may_start=True) & _within(powers, Role.PUBLISHER)
    decided = releases_to_decide(powers).values("pk")
    return visible_releases(powers).filter(own | Q(pk__in=decided))


def _within(powers: Powers, role: Role) -> Q:
    """Releases of the teams and environments for which some grant gives the role."""
    scope = Q(pk__in=())
    for right in powers.rights:
        if right.role == role:
            named = {"skill__team_id": right.team_id, "environment_id": right.environment_id}
            part = Q(**{name: value for name, value in named.items() if value})
            scope |= part or Q(pk__isnull=False)
    return scope
