"""The skills that an agent is limited to, by the names that somebody gives them."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from catalog.models import Agent, Skill


def find_skills(
    names: Sequence[str], *, visible: QuerySet[Skill], agent: Agent | None
) -> tuple[list[Skill], list[str]]:
    """The skills of these names, in either spelling, and the names of none.

    They are those that the user sees, and those that the agent is limited to already, whoever sees them.
    """
    named = Q(name__in=names) | Q(folder__in=names)
    kept = agent.skills.filter(named) if agent else ()
    found = {skill.pk: skill for skill in (*visible.filter(named), *kept)}
    known = {name for skill in found.values() for name in (skill.name, skill.folder)}
    return list(found.values()), [name for name in names if name not in known]
