"""What came in from agents, as people are shown it: by agent and environment, over a day and a week."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Subquery, Sum

from catalog.access import Powers
from catalog.models import Agent, Environment, Role
from governance.models import Call, Intake, ReadCount
from governance.models.traces import Source
from portal.clocks import text_of

MOST_AGENTS = 200
READERS = frozenset({Role.ANALYST, Role.PUBLISHER})
DAY, WEEK = timedelta(days=1), timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Counts:
    """What came in of each kind (`governance.models.Intake` says what they count)."""

    accepted: int = 0
    duplicates: int = 0
    rejected: int = 0
    unknown: int = 0
    spans: int = 0
    dropped: int = 0
    masked: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, name) + getattr(other, name) for name in NAMES))


NAMES = tuple(field.name for field in fields(Counts))


@dataclass(frozen=True, slots=True)
class BySource:
    """What came in one way."""

    source: Source
    day: Counts
    week: Counts


@dataclass(frozen=True, slots=True)
class Reports:
    """What an agent reported in an environment; `clock` says what is wrong with its clock, by its last batch."""

    agent: Agent
    environment: Environment
    last_at: datetime
    clock: str
    sources: tuple[BySource, ...]

    @property
    def day(self) -> Counts:
        """Of all sources, in the last 24 hours."""
        return sum((one.day for one in self.sources), Counts())

    @property
    def week(self) -> Counts:
        """Of all sources, in the last seven days."""
        return sum((one.week for one in self.sources), Counts())


@dataclass(frozen=True, slots=True)
class Silent:
    """An agent that has never reported.

    `reads` says whether it has asked the feed for skills, `is_open` whether the user may read its page.
    """

    agent: Agent
    reads: bool
    is_open: bool


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What came in, and from whom nothing ever did; `more` where there are more agents than are shown."""

    reports: tuple[Reports, ...]
    silent: tuple[Silent, ...]
    more: bool


def may_read(powers: Powers) -> bool:
    """Who reads traces, and administrators, who see to it that they come in."""
    return powers.is_admin or powers.reads_some_traces


def telemetry_of(powers: Powers, *, now: datetime) -> Telemetry:
    """What came in from the agents that the user may know of: of their teams and environments. Four queries."""
    environments = list(Environment.objects.order_by("order"))
    lasts = {f"last_{place}": Subquery(_last_report(one)) for place, one in enumerate(environments)}
    reads = Exists(ReadCount.objects.filter(agent=OuterRef("pk")))
    agents = _agents(powers).select_related("team").annotate(**lasts, reads=reads).order_by("name")
    found = list(agents[: MOST_AGENTS + 1])
    shown = found[:MOST_AGENTS]
    heard = {
        (agent.pk, one.pk): at
        for agent in shown
        for place, one in enumerate(environments)
        if (at := getattr(agent, f"last_{place}")) and _may_know(powers, agent, one)
    }
    silent = [agent for agent in shown if not any(getattr(agent, name) for name in lasts)]
    return Telemetry(
        reports=_reports(shown, environments, heard, now=now),
        silent=tuple(
            Silent(agent, agent.reads, powers.is_admin or powers.may_publish(agent.team))  # type: ignore[attr-defined]  # annotated
            for agent in silent
        ),
        more=len(found) > MOST_AGENTS,
    )


def _agents(powers: Powers) -> QuerySet[Agent]:
    agents = Agent.objects.filter(retired_at=None)
    rights = [right for right in powers.rights if right.role in READERS]
    if powers.is_admin or any(right.team_id is None for right in rights):
        return agents
    return agents.filter(team__in={right.team_id for right in rights})


def _may_know(powers: Powers, agent: Agent, environment: Environment) -> bool:
    return powers.is_admin or any(
        right.role in READERS
        and right.team_id in {None, agent.team_id}
        and right.environment_id in {None, environment.pk}
        for right in powers.rights
    )


def _last_report(environment: Environment) -> QuerySet[Intake, Any]:
    """When an agent last reported there; one step in an index."""
    theirs = Intake.objects.filter(agent=OuterRef("pk"), environment=environment)
    return theirs.order_by("-hour", "-last_at").values("last_at")[:1]


def _reports(
    agents: Sequence[Agent],
    environments: Sequence[Environment],
    heard: Mapping[tuple[UUID, UUID], datetime],
    *,
    now: datetime,
) -> tuple[Reports, ...]:
    if not heard:
        return ()
    counts, clocks = _counts(heard, now=now), _clocks(heard)
    return tuple(
        Reports(agent, one, heard[place], clocks.get(place, ""), tuple(counts.get(place, ())))
        for agent in agents
        for one in environments
        if (place := (agent.pk, one.pk)) in heard
    )


def _counts(
    heard: Mapping[tuple[UUID, UUID], datetime], *, now: datetime
) -> dict[tuple[UUID, UUID], list[BySource]]:
    """The counters of the last seven days: whole hours, the present one among them."""
    hour = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    in_day = Q(hour__gte=hour - DAY)
    sums = {f"week_{name}": Sum(name) for name in NAMES}
    sums |= {f"day_{name}": Sum(name, filter=in_day, default=0) for name in NAMES}
    # The ids first: the index of the counters begins with them.
    rows = (
        Intake.objects.filter(
            agent__in={agent for agent, _ in heard},
            environment__in={where for _, where in heard},
            hour__gte=hour - WEEK,
        )
        .values("agent", "environment", "source")
        .annotate(**sums)
        .order_by("agent", "environment", "source")
    )
    found = defaultdict(list)
    for row in rows:
        day, week = (Counts(*(row[f"{span}_{name}"] for name in NAMES)) for span in ("day", "week"))
        found[row["agent"], row["environment"]].append(BySource(Source(row["source"]), day, week))
    return found


def _clocks(heard: Mapping[tuple[UUID, UUID], datetime]) -> dict[tuple[UUID, UUID], str]:
    """What is wrong with clocks, by the latest call of each last batch, which an index finds by its receipt."""
    rows = (
        Call.objects.filter(
            environment__in={where for _, where in heard}, received_at__in=set(heard.values())
        )
        .values("agent", "environment", "received_at")
        .annotate(latest=Max("started_at"))
    )
    return {
        (row["agent"], row["environment"]): text_of(row["latest"], row["received_at"])
        for row in rows
        if heard.get((row["agent"], row["environment"])) == row["received_at"]
    }
