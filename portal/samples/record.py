"""The record of the sample catalog: accounts, teams, publications and releases, in order of time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from catalog import lifecycle
from catalog.admission import Declared
from catalog.agents import create_agent
from catalog.bundles.files import Upload
from catalog.bundles.folders import read_folder
from catalog.canaries import Plan, read_plan
from catalog.degradations import degrade
from catalog.delegations import lend
from catalog.grants import Wanted, give_grant
from catalog.journal import Actor
from catalog.models import Agent, Environment, Release, Role, Skill, SkillSet, State, Team, User, Version
from catalog.people import ensure_user
from catalog.publishing import publish_upload
from catalog.sets import add_to_set, create_set
from catalog.teams import ensure_team
from catalog.tokens import issue_token
from governance import approvals, rollouts
from governance.clearing import review
from portal.samples.plan import ACCOUNTS, moment, version_folder

BETWEEN = timedelta(minutes=40)
ORIGIN = "sample data"


class Player:
    """Plays the plan once; `now` is the moment that the plan counts back from."""

    def __init__(self, plan: Mapping[str, Any], now: datetime) -> None:
        self.plan, self.now = plan, now
        self.start = now - timedelta(days=90)
        self.users: dict[str, User] = {}
        self.teams: dict[str, Team] = {}
        self.environments = {one.name: one for one in Environment.objects.all()}

    def play(self) -> None:
        """Make everything but the calls."""
        self.make_people()
        events = [(moment(row, self.now), 0, name, row) for name, row in self._publications()]
        events += [(moment(row, self.now), 1, row["skill"], row) for row in self.plan["steps"]]
        for at, kind, name, row in sorted(events, key=lambda event: event[:3]):
            if kind == 0:
                self.publish(name, row, at)
            else:
                self.step(row, at)
        self.make_sets()
        self.make_agents()
        self.lend_rights()

    def make_people(self) -> None:
        """Accounts, teams and grants."""
        system = Actor.system(ORIGIN)
        for slug, name in self.plan["teams"].items():
            self.teams[slug] = ensure_team(slug=slug, name=name, actor=system, now=self.start)
        for username, (role, first, last) in ACCOUNTS.items():
            user = ensure_user(username=username, password=username, actor=system, now=self.start)
            user.first_name, user.last_name = first, last
            user.email = f"{username}@example.com"
            user.is_staff = role == Role.ADMIN
            user.save()
            wanted = Wanted(Role(role), may_override=username == "approver2")
            give_grant(user=user, wanted=wanted, actor=system, now=self.start)
            self.users[username] = user
        for slug, roles in self.plan["members"].items():
            for username, role in roles.items():
                wanted = Wanted(Role(role), team=self.teams[slug])
                give_grant(user=self.users[username], wanted=wanted, actor=system, now=self.start)

    def lend_rights(self) -> None:
        """The approver is away in three days, and lends their rights for two weeks."""
        away = self.now + timedelta(days=3)
        lend(
            giver=self.users["approver"],
            taker=self.users["approver2"],
            actor=self.actor("approver"),
            starts_at=away,
            ends_at=away + timedelta(days=14),
            reason="On leave.",
            now=self.now,
        )

    def _publications(self) -> list[tuple[str, dict[str, Any]]]:
        return [
            (name, {**version, "team": skill["team"], "tags": skill.get("tags")})
            for name, skill in self.plan["skills"].items()
            for version in skill["versions"]
        ]

    def publish(self, name: str, row: Mapping[str, Any], at: datetime) -> None:
        """Publish one version; raises ValueError where the sample itself is refused."""
        folder = version_folder(row["team"], name, str(row["version"]))
        permissions, tags = row.get("permissions"), row.get("tags")
        tree = read_folder(folder, settings.LIMITS)
        named = type(tree)(folder=name, files=tree.files, findings=tree.findings)
        [publication] = publish_upload(
            upload=Upload(trees=(named,)),
            team=self.teams[row["team"]],
            declared=Declared(
                version=str(row["version"]),
                risk_level=row.get("risk"),
                permissions=None if permissions is None else tuple(permissions),
                tags=None if tags is None else tuple(tags),
                stability=row.get("stability"),
                notes=row.get("notes", ""),
            ),
            actor=self.actor("publisher"),
            provenance={"form": "folder", "via": "sample data"},
            limits=settings.LIMITS,
            now=at,
        )
        if publication.status != "published":
            raise ValueError(
                f"The sample {name} {row['version']} is {publication.status}: {publication.findings}"
            )

    def step(self, row: Mapping[str, Any], at: datetime) -> None:
        """One row of `steps`, in each environment that it names."""
        if row["do"] == "deprecate":
            version = self.version(row)
            lifecycle.deprecate(version=version, actor=self.actor("publisher"), reason=row["reason"], now=at)
        for place, name in enumerate(row.get("environments", ())):
            when = min(at + place * BETWEEN, self.now)
            if row["do"] == "roll_back":
                self.roll_back(row, self.environments[name], when)
            elif row["do"] == "switch_off":
                self.switch_off(row, self.environments[name], when)
            elif row["do"] in {"release", "canary", "wait", "reject", "withdraw"}:
                self.release(row, self.environments[name], when)

    def release(self, row: Mapping[str, Any], environment: Environment, at: datetime) -> None:
        """Propose, and take the proposal as far as the row says."""
        release = approvals.propose(
            version=self.version(row),
            environment=environment,
            actor=self.actor("publisher"),
            note=row.get("note", ""),
            plan=plan_of(row, environment) if row["do"] == "canary" else None,
            now=at,
        )
        if row["do"] == "withdraw":
            approvals.withdraw(release=release, actor=self.actor("publisher"), reason=row["reason"], now=at)
        elif row["do"] == "reject":
            approvals.reject(release=release, actor=self.actor(row["by"]), reason=row["reason"], now=at)
        elif row["do"] == "wait":
            for given in row["approvals"]:
                self.approve(release, given["by"], given["note"], at)
        elif release.state == State.PROPOSED:
            needed = review(release).needs.approvals
            for approver in ("approver", "approver2")[:needed]:
                release = self.approve(release, approver, "", at)
            rollouts.start(release=release, actor=self.actor("approver"), now=at)

    def approve(self, release: Release, username: str, note: str, at: datetime) -> Release:
        """One approval, confirmed where that is asked for."""
        name = release.skill.name
        return approvals.approve(release=release, actor=self.actor(username), note=note, confirm=name, now=at)

    def roll_back(self, row: Mapping[str, Any], environment: Environment, at: datetime) -> None:
        """Take the live version out."""
        live = Release.objects.get(skill__folder=row["skill"], environment=environment, state=State.LIVE)
        rollouts.roll_back(release=live, actor=self.actor(row["by"]), reason=row["reason"], now=at)

    def switch_off(self, row: Mapping[str, Any], environment: Environment, at: datetime) -> None:
        """Switch the skill off, with what stands in for it."""
        skills = {one.folder: one for one in Skill.objects.filter(folder__in=(row["skill"], row["fallback"]))}
        degrade(
            skill=skills[row["skill"]],
            environments=(environment,),
            fallback=skills[row["fallback"]],
            reason=row["reason"],
            actor=self.actor(row["by"]),
            now=at,
        )

    def make_sets(self) -> None:
        """Skill sets and their members."""
        for slug, row in self.plan["sets"].items():
            actor, now, about = self.actor("publisher"), self.now, row["description"]
            made = create_set(slug=slug, name=row["title"], description=about, actor=actor, now=now)
            skills = Skill.objects.filter(folder__in=row["skills"])
            add_to_set(skill_set=made, skills=skills, actor=actor, now=now)

    def make_agents(self) -> None:
        """Agents with a token in each of their environments; nobody is shown the secrets."""
        for name, row in self.plan["agents"].items():
            agent = create_agent(
                name=name,
                team=self.teams[row["team"]],
                description=row["description"],
                tags=row["tags"],
                skills=list(Skill.objects.filter(folder__in=row.get("skills", ()))),
                sets=list(SkillSet.objects.filter(slug__in=row.get("sets", ()))),
                highest_risk=row["highest_risk"],
                actor=self.actor("publisher"),
                now=self.start,
            )
            self.issue_tokens(agent, row)

    def issue_tokens(self, agent: Agent, row: Mapping[str, Any]) -> None:
        """A token per environment."""
        for environment in row["environments"]:
            issue_token(
                actor=self.actor("publisher"),
                agent=agent,
                environment=self.environments[environment],
                scopes=("feed", "traces:write"),
                name=environment,
                days=row["token_days"],
                now=self.now,
            )

    def version(self, row: Mapping[str, Any]) -> Version:
        """The version that a row names."""
        return Version.objects.select_related("skill__team").get(
            skill__folder=row["skill"], version=str(row["version"])
        )

    def actor(self, username: str) -> Actor:
        """The account as an actor."""
        return Actor(user=self.users[username], origin=ORIGIN)


def plan_of(row: Mapping[str, Any], environment: Environment) -> Plan:
    """The gray release of a row; its guard stays out until guards watch, for with one a person takes each step."""
    named = {name: row[name] for name in ("percent", "steps", "soak_minutes", "tags") if name in row}
    return read_plan(named, least_soak=environment.soak_minutes)
