"""What a user sees and may work on, as queries: each says of many rows what `Powers` says of one."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q, QuerySet

from catalog.access import Powers, Right
from catalog.models import Agent, Release, Role, Skill, Team, Version


def visible_skills(powers: Powers) -> QuerySet[Skill]:
    """The skills that `Powers.may_see` allows, as a query."""
    skills = Skill.objects.filter(deleted_at=None)
    if powers.user_id is None:
        return skills.none()
    if powers.sees_every_skill:
        return skills
    return skills.filter(
        Q(visibility=Skill.Visibility.ORGANISATION)
        | Q(team_id__in=powers.seen_team_ids)
        | Q(owner_id=powers.user_id)
    )


def visible_versions(powers: Powers) -> QuerySet[Version]:
    """The versions of visible skills, revoked ones too: their page says what happened."""
    return Version.objects.filter(skill__in=visible_skills(powers))


def visible_releases(powers: Powers) -> QuerySet[Release]:
    """The releases of visible skills."""
    return Release.objects.filter(skill__in=visible_skills(powers))


def visible_agents(powers: Powers, *, with_retired: bool = False) -> QuerySet[Agent]:
    """The agents of the teams that the user publishes for; administrators see all."""
    agents = Agent.objects.all() if with_retired else Agent.objects.filter(retired_at=None)
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


def teams_to_manage(powers: Powers) -> QuerySet[Team]:
    """The teams that the user may register agents for, and give skills to."""
    return Team.objects.all() if powers.is_admin else teams_to_publish_for(powers)


def releases_to_decide(powers: Powers) -> QuerySet[Release]:
    """The visible releases that `Powers.may_decide` allows, whatever state they are in."""
    scope = Q(pk__in=())
    for right in powers.rights:
        if right.role == Role.APPROVER:
            scope |= _part(right) & _by_others(powers, right.lent_by)
    mine = visible_releases(powers).filter(scope)
    return mine.exclude(proposer_id=powers.user_id).exclude(version__publisher_id=powers.user_id)


def _by_others(powers: Powers, giver: UUID | None) -> Q:
    """Releases that neither the user nor the giver of the right is too near to (`Powers.deciding_for`)."""
    near = Q(environment__outside_approval=True) & _published_by(powers)
    if giver is not None:
        near |= Q(proposer_id=giver) | Q(version__publisher_id=giver)
        near |= Q(environment__outside_approval=True) & _published_by(powers.givers[giver])
    return ~near


def _published_by(powers: Powers) -> Q:
    teams = {right.team_id for right in powers.rights if right.role == Role.PUBLISHER}
    return Q() if None in teams else Q(skill__team_id__in=teams)


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
            scope |= _part(right)
    return scope


def _part(right: Right) -> Q:
    """The releases of the right's team and environment."""
    named = {"skill__team_id": right.team_id, "environment_id": right.environment_id}
    part = Q(**{name: value for name, value in named.items() if value})
    return part or Q(pk__isnull=False)
