"""Teams: made, renamed and removed by administrators, each change with its entry in the journal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.text import slugify

from catalog import access, journal
from catalog.journal import Actor
from catalog.models import Agent, Delegation, Grant, Skill, Team

LONGEST_SLUG, LONGEST_NAME = 64, 120
# Pages that stand beside those of teams.
RESERVED = frozenset({"new"})
REFUSAL = "Teams are made, renamed and removed by administrators."


class BadTeam(ValueError):
    """A team cannot be called so; the text says why."""


class TeamTaken(Exception):
    """Another team has the name or the short name."""


class StillReferred(Exception):
    """Something refers to the team; the text says what, and what to do first."""


@dataclass(frozen=True, slots=True)
class References:
    """How many things refer to a team: deleted skills and retired agents too, for their names stay."""

    skills: int
    agents: int
    grants: int
    delegations: int

    def __bool__(self) -> bool:
        return bool(self.skills or self.agents or self.grants or self.delegations)

    def __str__(self) -> str:
        told = ((self.skills, "skill"), (self.agents, "agent"), (self.grants, "role"))
        parts = [_counted(n, word) for n, word in (*told, (self.delegations, "delegation")) if n]
        return ", ".join(parts)


def ensure_team(*, slug: str, actor: Actor, now: datetime, name: str = "") -> Team:
    """The team of this slug, made where it is missing; raises BadTeam where nothing of it is a slug."""
    clean = clean_slug(slug)
    with transaction.atomic():
        team, made = Team.objects.get_or_create(
            slug=clean, defaults={"name": name or slug.replace("-", " ").capitalize()}
        )
        if made:
            _tell(team, "team.create", actor, now, after={"name": team.name})
    return team


def create_team(*, name: str, actor: Actor, now: datetime, slug: str = "") -> Team:
    """Make a team; without a slug it is made of the name. Raises NotAllowed, BadTeam and TeamTaken."""
    title = _clean_name(name)
    short = clean_slug(slug or title)
    with transaction.atomic():
        access.require(actor, lambda powers: powers.is_admin, REFUSAL)
        journal.lock_head()
        if Team.objects.filter(slug=short).exists():
            raise TeamTaken(f"There is a team {short} already.")
        _ask_free(title)
        team = Team.objects.create(slug=short, name=title)
        _tell(team, "team.create", actor, now, after={"name": title})
    return team


def rename_team(*, team: Team, name: str, actor: Actor, now: datetime) -> Team:
    """Give a team another name; its slug stays. Raises NotAllowed, BadTeam and TeamTaken."""
    title = _clean_name(name)
    with transaction.atomic():
        access.require(actor, lambda powers: powers.is_admin, REFUSAL)
        journal.lock_head()
        fresh = Team.objects.get(pk=team.pk)
        before = fresh.name
        if before != title:
            _ask_free(title, besides=fresh)
            fresh.name = title
            fresh.save(update_fields=["name"])
            _tell(fresh, "team.rename", actor, now, before={"name": before}, after={"name": title})
    return fresh


def remove_team(*, team: Team, actor: Actor, now: datetime) -> None:
    """Remove a team that nothing refers to. Raises NotAllowed and StillReferred; a second time does nothing."""
    with transaction.atomic():
        access.require(actor, lambda powers: powers.is_admin, REFUSAL)
        # Whatever comes to refer to a team is journaled, and so is either seen here or comes later.
        journal.lock_head()
        if held := references_to(team):
            raise StillReferred(
                f"{team.name} has {held}; transfer the skills and agents and take the roles away first."
            )
        if Team.objects.filter(pk=team.pk).delete()[0]:
            _tell(team, "team.remove", actor, now, before={"name": team.name})


def references_to(team: Team) -> References:
    """What refers to the team."""
    return References(
        skills=Skill.objects.filter(team=team).count(),
        agents=Agent.objects.filter(team=team).count(),
        grants=Grant.objects.filter(team=team).count(),
        delegations=Delegation.objects.filter(team=team).count(),
    )


def clean_slug(text: str) -> str:
    """The text as a slug; raises BadTeam where nothing of it is one, or a page has the name."""
    clean = slugify(text)
    if not clean or len(clean) > LONGEST_SLUG:
        raise BadTeam(f"{text[:80]!r} is no name of a team; use at most {LONGEST_SLUG} of a-z, 0-9, - and _.")
    if clean in RESERVED:
        raise BadTeam(f"A team cannot be called {clean!r}; a page has that name.")
    return clean


def _clean_name(text: str) -> str:
    name = " ".join(text.split())
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise BadTeam(f"Give the team a name of at most {LONGEST_NAME} characters.")
    return name


def _ask_free(name: str, *, besides: Team | None = None) -> None:
    others = Team.objects.filter(name__iexact=name)
    if besides:
        others = others.exclude(pk=besides.pk)
    if others.exists():
        raise TeamTaken(f"There is a team named {name} already.")


def _tell(
    team: Team,
    verb: str,
    actor: Actor,
    now: datetime,
    before: dict[str, str] | None = None,
    after: dict[str, str] | None = None,
) -> None:
    target = f"team {team.slug}"
    journal.append(actor=actor, verb=verb, target=target, before=before, after=after, now=now)


def _counted(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"
