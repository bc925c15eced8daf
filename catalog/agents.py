"""Agents: programs of a team that read the feed. What they are limited to, whose they are, and their end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from catalog import access, journal
from catalog.advertisement import fill_template
from catalog.journal import Actor
from catalog.models import Agent, Environment, Skill, SkillSet, Team
from catalog.removals import is_removed
from catalog.rotation import lock_working
from catalog.teams import ensure_team
from catalog.tokens import revoke_token

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
# Pages that stand beside those of agents.
RESERVED = frozenset({"new"})


class BadName(ValueError):
    """An agent cannot be called so; the text says why."""


class NameTaken(Exception):
    """Another agent has the name, or a retired one had it."""


class Retired(access.NotAllowed):
    """The agent is retired; nothing of it changes any more."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an agent is and is limited to; what is None stays as it is, and what is empty is no limit."""

    description: str | None = None
    tags: Sequence[str] | None = None
    skills: Sequence[Skill] | None = None
    sets: Sequence[SkillSet] | None = None
    skill_tags: Sequence[str] | None = None
    highest_risk: str | None = None
    template: str | None = None


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
    template: str = "",
) -> Agent:
    """Make an agent; what it is limited to is what is named, and nothing named is no limit.

    Raises NotAllowed, BadName, NameTaken, and BadTemplate.
    """
    check_name(name)
    refusal = f"Agents of {team.name} are made by its publishers."
    limits = Limits(description, tags, skills, sets, skill_tags, highest_risk, template)
    try:
        with transaction.atomic():
            access.require(actor, lambda powers: powers.may_manage_agents(team), refusal)
            agent = Agent(name=name, team=team, created_at=now)
            _fill(agent, limits)
            agent.save(force_insert=True)
            _name(agent, limits)
            after = {"team": team.slug, **told_of(agent)}
            _tell(agent, "agent.create", actor, now, after=after)
    except IntegrityError as clash:
        if is_removed(clash):
            raise
        raise NameTaken(f"There is an agent named {name} already.") from clash
    return agent


def ensure_agent(*, name: str, team: str, actor: Actor, now: datetime) -> Agent:
    """The agent of this name, made for the team of that slug where it is missing.

    Raises ValueError for what is no name of an agent or a team.
    """
    check_name(name)
    agent = Agent.objects.filter(name=name).first()
    if agent is not None:
        return agent
    owner = ensure_team(slug=team, actor=actor, now=now)
    return create_agent(name=name, team=owner, actor=actor, now=now)


def check_name(name: str) -> None:
    """Raise BadName for what is no name of an agent, and for one that a page has."""
    if not NAME.fullmatch(name):
        raise BadName(f"{name[:80]} is no name of an agent; use at most 64 letters, digits, - and _.")
    if name in RESERVED:
        raise BadName(f"An agent cannot be called {name!r}; a page has that name.")


def settle_agent(*, agent: Agent, limits: Limits, actor: Actor, now: datetime) -> Agent:
    """Change what is named; its feed follows at the next poll. Nothing is written where nothing differs.

    Raises NotAllowed, Retired and BadTemplate.
    """
    with transaction.atomic():
        fresh = _lock(agent)
        _ask(actor, fresh, now)
        before = told_of(fresh)
        _fill(fresh, limits)
        _name(fresh, limits)
        after = told_of(fresh)
        changed = [key for key in after if after[key] != before[key]]
        if changed:
            fresh.save(update_fields=["description", "tags", "skill_tags", "highest_risk", "template"])
            parts = ({key: told[key] for key in changed} for told in (before, after))
            _tell(fresh, "agent.settle", actor, now, before=next(parts), after=next(parts))
    return fresh


def transfer_agent(*, agent: Agent, team: Team, actor: Actor, reason: str, now: datetime) -> Agent:
    """Give an agent to another team, with its tokens: it sees what that team keeps to itself from then on.

    Raises NotAllowed for all but those who publish for both teams and administrators, and Retired.
    """
    with transaction.atomic():
        fresh = _lock(agent)
        _ask(actor, fresh, now)
        for where in (None, *environments_of(fresh, now)):
            refusal = f"Taking it over for {team.name} needs the role publisher there, or an administrator."
            access.require(actor, lambda powers: powers.may_manage_agents(team, where), refusal)  # noqa: B023 (called at once)
        if fresh.team_id != team.pk:
            before = {"team": fresh.team.slug}
            fresh.team = team
            fresh.save(update_fields=["team"])
            after = {"team": team.slug, "reason": reason}
            _tell(fresh, "agent.transfer", actor, now, before=before, after=after)
    return fresh


def retire_agent(*, agent: Agent, actor: Actor, reason: str, now: datetime) -> Agent:
    """End an agent and its tokens, which are refused within two seconds; its name is never given again.

    A second time changes nothing. Raises NotAllowed.
    """
    with transaction.atomic():
        try:
            fresh = _lock(agent)
        except Retired:
            return Agent.objects.select_related("team").get(pk=agent.pk)
        _ask(actor, fresh, now)
        for token in lock_working(fresh, now):
            revoke_token(token=token, actor=actor, now=now)
        fresh.retired_at = now
        fresh.save(update_fields=["retired_at"])
        _tell(fresh, "agent.retire", actor, now, after={"reason": reason})
    return fresh


def may_settle_agent(powers: access.Powers, agent: Agent, now: datetime) -> bool:
    """Change, transfer or retire it: who manages it wherever a token of it works."""
    where = environments_of(agent, now)
    return all(powers.may_manage_agents(agent.team, one) for one in (None, *where))


def environments_of(agent: Agent, now: datetime) -> QuerySet[Environment]:
    """The environments in which a token of the agent works."""
    working = Q(tokens__agent=agent, tokens__revoked_at=None, tokens__expires_at__gt=now)
    return Environment.objects.filter(working).distinct().order_by("order")


def told_of(agent: Agent) -> dict[str, Any]:
    """What the agent is and is limited to, in plain values."""
    return {
        "description": agent.description,
        "tags": list(agent.tags),
        "skills": sorted(skill.folder for skill in agent.skills.all()),
        "sets": sorted(one.slug for one in agent.sets.all()),
        "skill_tags": list(agent.skill_tags),
        "highest_risk": str(agent.highest_risk),
        "template": agent.template,
    }


def _fill(agent: Agent, limits: Limits) -> None:
    """Give the row the columns that are named; raises BadTemplate."""
    if limits.template:
        fill_template(limits.template, (), scripts=True)
    for name in ("description", "highest_risk", "template"):
        if (value := getattr(limits, name)) is not None:
            setattr(agent, name, value)
    for name in ("tags", "skill_tags"):
        if (value := getattr(limits, name)) is not None:
            setattr(agent, name, list(value))


def _name(agent: Agent, limits: Limits) -> None:
    """Give the saved row the skills and sets that are named."""
    if limits.skills is not None:
        agent.skills.set(limits.skills)
    if limits.sets is not None:
        agent.sets.set(limits.sets)


def _lock(agent: Agent) -> Agent:
    rows = Agent.objects.select_for_update(no_key=True, of=("self",)).select_related("team")
    fresh = rows.get(pk=agent.pk)
    if fresh.retired_at is not None:
        raise Retired(f"The agent {fresh.name} is retired; nothing of it changes any more.")
    return fresh


def _ask(actor: Actor, agent: Agent, now: datetime) -> None:
    refusal = (
        f"The agent {agent.name} is changed by publishers of {agent.team.name} for every environment in "
        "which a token of it works, and by administrators."
    )
    access.require(actor, lambda powers: may_settle_agent(powers, agent, now), refusal, now=now)


def _tell(
    agent: Agent,
    verb: str,
    actor: Actor,
    now: datetime,
    *,
    after: dict[str, Any],
    before: dict[str, Any] | None = None,
) -> None:
    journal.append(actor=actor, verb=verb, target=f"agent {agent.name}", before=before, after=after, now=now)
