"""What an agent is limited to (spec 4.6)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef

from catalog.models import Agent, Skill
from catalog.snapshots import RANKS, Served


@dataclass(frozen=True, slots=True)
class Profile:
    """What an agent is limited to: its team's eyes, `folders` of skills by name, set and tag (None: all), and a rank of risk."""

    agent_id: UUID
    team_id: UUID
    folders: frozenset[str] | None
    highest_rank: int

    def allows(self, served: Served) -> bool:
        """Whether the agent may be served this."""
        if served.team_alone not in {None, self.team_id}:
            return False
        return served.rank <= self.highest_rank and (self.folders is None or served.folder in self.folders)


def read_profile(agent_id: UUID, before: Profile | None = None) -> Profile:
    """The limits as they are now; `before` itself where nothing has changed.

    One query for an agent without limits, two else.
    """
    by_skill, by_set = (through.objects.filter(agent=OuterRef("pk")) for through in _THROUGH)
    agent = Agent.objects.annotate(by_skill=Exists(by_skill), by_set=Exists(by_set)).get(pk=agent_id)
    folders = _folders_of(agent, by_skill=agent.by_skill, by_set=agent.by_set)
    profile = Profile(agent.pk, agent.team_id, folders, RANKS[agent.highest_risk])
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
