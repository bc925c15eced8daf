"""Who an agent is to a gray release, and what it is limited to (spec 4.3, 4.6)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef

from catalog.models import Agent, Skill
from catalog.rollout import Cohort
from catalog.snapshots import RANKS, Served


@dataclass(frozen=True, slots=True)
class Limits:
    """What agents may be served: a team's eyes, `folders` of skills by name, set and tag (None: all), and a rank of risk."""

    team_id: UUID
    folders: frozenset[str] | None
    highest_rank: int

    def allow(self, served: Served) -> bool:
        """Whether an agent of these limits may be served this."""
        if served.team_alone not in {None, self.team_id}:
            return False
        return served.rank <= self.highest_rank and (self.folders is None or served.folder in self.folders)


@dataclass(frozen=True, slots=True)
class Profile:
    """An agent: its name, the slug of its team and its tags, by which a canary names it, and its limits."""

    name: str
    team: str
    tags: frozenset[str]
    limits: Limits

    def is_named_by(self, cohort: Cohort) -> bool:
        """Whether the gray release of this cohort names the agent."""
        return cohort.holds(agent=self.name, team=self.team, tags=self.tags)


def read_profile(agent_id: UUID, before: Profile | None = None) -> Profile:
    """The agent as it is now; `before` itself where nothing has changed.

    One query for an agent without limits, two else.
    """
    by_skill, by_set = (through.objects.filter(agent=OuterRef("pk")) for through in _THROUGH)
    found = Agent.objects.select_related("team").annotate(by_skill=Exists(by_skill), by_set=Exists(by_set))
    agent = found.get(pk=agent_id)
    folders = _folders_of(agent, by_skill=agent.by_skill, by_set=agent.by_set)
    limits = Limits(agent.team_id, folders, RANKS[agent.highest_risk])
    profile = Profile(agent.name, agent.team.slug, frozenset(agent.tags), limits)
    return before if before == profile else profile


_THROUGH = (Agent.skills.through, Agent.sets.through)


def _folders_of(agent: Agent, *, by_skill: bool, by_set: bool) -> frozenset[str] | None:
    """The skills that the agent is limited to; each kind of limit holds by itself.

    Read with the agent, not kept in the snapshot: sets and tags change without a release.
    """
    if not by_skill and not by_set and not agent.skill_tags:
        return None
    found = Skill.objects.all()
    if by_skill:
        found = found.filter(agents=agent)
    if by_set:
        found = found.filter(sets__in=agent.sets.all())
    if agent.skill_tags:
        found = found.filter(tags__tag__in=agent.skill_tags)
    return frozenset(found.values_list("folder", flat=True))
