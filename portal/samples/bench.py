"""A catalog to measure by: skills, agents and their calls, in this order, by a seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from random import Random
from uuid import UUID

from django.db.models import F

from catalog.agents import create_agent
from catalog.journal import Actor
from catalog.models import SERVED, Agent, Environment, Release, Skill, State, Team, Version
from catalog.snapshots import ARMS
from catalog.teams import ensure_team
from catalog.tokens import issue_token
from governance.models.traces import Source
from portal.samples.bench_calls import MODELS, Drawer, hourly
from portal.samples.bench_payloads import TOPICS, draw_attributes, draw_payloads
from portal.samples.bench_rows import Writer
from portal.samples.bench_runs import Lane, Offer, Profile, Trace
from portal.samples.bench_skills import CANARY_DAYS, Skills

ORIGIN = "bench data"
SEED = 1
TEAMS = ("Payments", "Support", "Logistics", "Finance", "Sales", "Legal", "People", "Platform")
AGENTS = 12
# How much of an agent's calls come from an environment, by its order, the last one first.
SHARES = (0.75, 0.17, 0.08)
# The agent whose clock is off, and by how much; the one that reports log records; the one that reports nothing.
AHEAD, BY = 3, timedelta(hours=3)
LOGS, SILENT = 7, 11

Tell = Callable[[str], None]


class Bench:
    """Fills a catalog; `tell` hears how far it is."""

    def __init__(self, *, seed: int, now: datetime, tell: Tell) -> None:
        self.random, self.now, self.tell = Random(seed), now, tell
        self.actor = Actor.system(ORIGIN)
        self.mark = "" if seed == SEED else f"s{seed}-"
        self.environments = list(Environment.objects.order_by("-order"))

    def fill(self, *, skills: int, calls: int) -> None:
        """Make everything. Names that are there already raise IntegrityError or NameTaken."""
        teams = [ensure_team(slug=name.lower(), name=name, actor=self.actor, now=self.now) for name in TEAMS]
        lanes = self._lanes(teams)
        making = Skills(self.random, mark=self.mark, teams=teams, actor=self.actor, now=self.now)
        making.make(skills, lambda n: self.tell(f"{n} of {skills} skills"))
        self._report(lanes, skills, calls)

    def _lanes(self, teams: Sequence[Team]) -> list[Lane]:
        """Agents, each in up to three environments, with a token in each."""
        lanes = []
        for n in range(AGENTS):
            agent = create_agent(
                name=f"{TEAMS[n % len(TEAMS)].lower()}-desk-{self.mark}{n + 1:02d}",
                team=teams[n % len(teams)],
                description="Made to measure by.",
                actor=self.actor,
                now=self.now - timedelta(days=120),
            )
            for place, environment in enumerate(self.environments[: 1 + n % 3]):
                self._issue(agent, environment)
                if n != SILENT:
                    lanes.append(self._lane(n, agent, environment, place))
        return lanes

    def _issue(self, agent: Agent, environment: Environment) -> None:
        scopes = ("feed", "traces:write")
        issue_token(
            actor=self.actor,
            agent=agent,
            environment=environment,
            scopes=scopes,
            name=environment.name,
            now=self.now,
        )

    def _lane(self, n: int, agent: Agent, environment: Environment, place: int) -> Lane:
        source = Source.LOGS if n == LOGS else Source.OTLP if n % 3 == 1 else Source.REST
        share = SHARES[min(place, len(SHARES) - 1)]
        skew = BY if n == AHEAD else timedelta(0)
        return Lane(agent.pk, environment.pk, source, share / (n + 1), MODELS[n % len(MODELS)], skew)

    def _report(self, lanes: Sequence[Lane], skills: int, calls: int) -> None:
        """A day at a time, each in a transaction of its own."""
        if not (skills and calls):
            return
        drawer = Drawer(
            self.random,
            skills=self._profiles(),
            lanes=lanes,
            payloads={topic: draw_payloads(self.random, topic) for topic in TOPICS},
            attributes={model: draw_attributes(self.random, model) for model in MODELS},
            canary_since=self.now - timedelta(days=CANARY_DAYS),
            now=self.now,
        )
        writer, day, done = Writer(self.random), list[Trace](), 0
        for at, count in hourly(calls, now=self.now):
            day += drawer.draw(at, count)
            done += count
            if at.hour == 23:
                # What began in this hour may come in later than it.
                writer.write(day, until=at)
                day = []
                self.tell(f"{done} of {calls} calls")
        writer.write(day, until=None)
        self.tell(f"{done} of {calls} calls")

    def _profiles(self) -> list[Profile]:
        """Every skill of the catalog, with what each environment serves of it."""
        offers: defaultdict[UUID, dict[UUID, list[Offer]]] = defaultdict(dict)
        for one in self._served():
            offer = Offer(one.version_id, one.version.version, one.pk, ARMS[one.state])
            there = offers[one.skill_id].setdefault(one.environment_id, [])
            there.insert(0 if one.state == State.LIVE else len(there), offer)
        latest = Version.objects.filter(pk=F("skill__latest")).values_list("skill_id", "pk", "version")
        newest = {skill: Offer(pk, number, None, "") for skill, pk, number in latest}
        topics = tuple(TOPICS)
        return [
            Profile(
                pk,
                folder,
                next((one for one in topics if folder.startswith(one)), topics[0]),
                offers[pk],
                newest[pk],
            )
            for pk, folder in Skill.objects.filter(pk__in=newest)
            .order_by("folder")
            .values_list("pk", "folder")
        ]

    def _served(self) -> Iterator[Release]:
        served = Release.objects.filter(state__in=SERVED).select_related("version").order_by("pk")
        return served.iterator()
