"""Agents: programs of a team that read the feed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction

from catalog import access, journal
from catalog.journal import Actor
from catalog.models import Agent, Skill, SkillSet, Team
from catalog.teams import ensure_team


class NameTaken(Exception):
    """Another agent has the name."""


def create_agent(
    *,
    name: str,
    team: Team,
    actor: Actor,
    now: datetime,
    description: str = "",
    tags: Sequence[str] = (),
    skills: Sequence[Skill] = (),
    sets: Sequence[SkillSet] = (),
    skill_tags: Sequence[str] = (),
    highest_risk: str = "high",
) -> Agent:
    """Make an agent; what it is limited to is what is named, and nothing named is no limit.

    Raises NotAllowed, and NameTaken.
    """
    refusal = f"Agents of {team.name} are made by its publishers."
    try:
        with transaction.atomic():
            access.require(actor, lambda powers: powers.may_manage_agents(team), refusal)
            agent = Agent.objects.create(
                name=name,
                description=description,
                team=team,
                tags=list(tags),
                skill_tags=list(skill_tags),
                highest_risk=highest_risk,
                created_at=now,
            )
            agent.skills.set(skills)
            agent.sets.set(sets)
            limits = {
                "skills": [skill.folder for skill in skills],
                "sets": [skill_set.slug for skill_set in sets],
                "tags": list(skill_tags),
                "highest_risk": highest_risk,
            }
            journal.append(
                actor=actor,
                verb="agent.create",
                target=f"agent {name}",
                after={"team": team.slug, **limits},
                now=now,
            )
    except IntegrityError as clash:
        raise NameTaken(f"There is an agent named {name} already.") from clash
    return agent


def ensure_agent(*, name: str, team: str, actor: Actor, now: datetime) -> Agent:
    """The agent of this name, made for the team of that slug where it is missing.

    Raises ValueError for what is no name of an agent or a team.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise ValueError(f"{name} is no name of an agent; use at most 64 letters, digits, - and _.")
    agent = Agent.objects.filter(name=name).first()
    if agent is not None:
        return agent
    owner = ensure_team(slug=team, actor=actor, now=now)
    return create_agent(name=name, team=owner, actor=actor, now=now)
