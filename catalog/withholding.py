"""What an agent is served in an environment, and of the rest why it is not: for the people who run it."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from enum import StrEnum

from catalog.models import Agent, Environment, Skill
from catalog.offers import Offer, naming
from catalog.profiles import read_profile
from catalog.resolution import feed_of
from catalog.snapshots import RANKS, Served, Snapshot


class Cause(StrEnum):
    """Why a skill of the environment is of no use to an agent."""

    LIMIT = "limit"
    RISK = "risk"
    CANARY = "canary"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Withheld:
    """A skill of the environment that the agent cannot use, and each reason."""

    folder: str
    name: str
    version: str
    cause: Cause
    reason: str


@dataclass(frozen=True, slots=True)
class Account:
    """What an agent is served in an environment: how many it can use, and what it cannot."""

    environment: Environment
    served: int
    withheld: tuple[Withheld, ...]


@dataclass(frozen=True, slots=True)
class _Named:
    """The skills that each kind of limit leaves, None where there is none of the kind."""

    skills: frozenset[str] | None
    sets: frozenset[str] | None
    tags: frozenset[str] | None

    def lacking(self, folder: str) -> str:
        kinds = (("skills", self.skills), ("sets", self.sets), ("tags", self.tags))
        return " and ".join(kind for kind, left in kinds if left is not None and folder not in left)


def account_for(agent: Agent, environment: Environment) -> Account:
    """What the agent is served there as it is limited now, for itself as the key.

    Of skills that another team keeps to itself nothing is told: to the agent they are not there.
    """
    snapshot = feed_of(agent_id=agent.pk, environment_id=environment.pk).snapshot
    profile = read_profile(agent.pk)
    offer = Offer(snapshot, profile.limits, naming(snapshot, profile))
    served = offer.serve(offer.choose(offer.arms_of(str(agent.pk))))
    usable = sum(1 for one in served.values() if one.item["available"])
    broken = [
        Withheld(one.folder, one.name, one.version, Cause.UNAVAILABLE, one.item["unavailable_reason"])
        for one in served.values()
        if not one.item["available"]
    ]
    limits = _read_named(agent)
    kept = [
        _explain(agent, one, limits)
        for one in _others(snapshot, served.keys())
        if one.team_alone in {None, agent.team_id}
    ]
    return Account(environment, usable, tuple(sorted([*broken, *kept], key=lambda one: one.name)))


def _others(snapshot: Snapshot, served: Container[str]) -> Iterator[Served]:
    for folder, slot in snapshot.slots.items():
        one = slot.stable or slot.candidate
        if one is not None and folder not in served:
            yield one


def _explain(agent: Agent, one: Served, limits: _Named) -> Withheld:
    if lacking := limits.lacking(one.folder):
        cause, reason = Cause.LIMIT, f"It is not among the {lacking} that the agent is limited to."
    elif one.rank > RANKS[agent.highest_risk]:
        risk = one.item["risk_level"]
        cause, reason = Cause.RISK, f"Its risk is {risk}; the agent is served up to {agent.highest_risk}."
    else:
        cause, reason = Cause.CANARY, "It has a canary alone, which does not reach the agent."
    return Withheld(one.folder, one.name, one.version, cause, reason)


def _read_named(agent: Agent) -> _Named:
    """Three queries at most."""
    skills = frozenset(agent.skills.values_list("folder", flat=True)) or None
    sets = _folders(sets__in=list(agent.sets.all())) if agent.sets.exists() else None
    tags = _folders(tags__tag__in=agent.skill_tags) if agent.skill_tags else None
    return _Named(skills, sets, tags)


def _folders(**those: object) -> frozenset[str]:
    return frozenset(Skill.objects.filter(**those).values_list("folder", flat=True))
