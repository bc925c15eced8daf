"""What entries of the journal speak of: the releases, skills, environments and people behind their words.

A fixed number of queries for a batch. An entry that names what is not there speaks of nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q

from catalog.access import Powers, powers_of_all
from catalog.models import (
    Appeal,
    Approval,
    Delegation,
    Environment,
    Grant,
    JournalEntry,
    Release,
    Role,
    Skill,
    User,
)

# Well below the most parameters of a statement of either database.
PEOPLE_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Happening:
    """An entry with what it speaks of; `people` are the users that it names."""

    entry: JournalEntry
    release: Release | None = None
    appeal: Appeal | None = None
    skill: Skill | None = None
    environment: Environment | None = None
    people: frozenset[UUID] = frozenset()

    @property
    def after(self) -> dict[str, Any]:
        """What the entry says of afterwards; empty where it says nothing."""
        return self.entry.after if isinstance(self.entry.after, dict) else {}

    @property
    def before(self) -> dict[str, Any]:
        """What it says of before."""
        return self.entry.before if isinstance(self.entry.before, dict) else {}

    @property
    def is_own(self) -> bool:
        """Whether it is about the account of who did it."""
        return self.entry.target == f"user {self.entry.actor}"

    def said(self, name: str) -> str:
        """A word of it, of afterwards rather than of before; "" where there is none."""
        value = self.after.get(name, self.before.get(name))
        return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class Crowd:
    """The active people who may have to be told, with what each may do now, and their names."""

    powers: dict[UUID, Powers] = field(default_factory=dict)
    names: dict[str, User] = field(default_factory=dict)
    users: dict[UUID, User] = field(default_factory=dict)


def read_happenings(entries: Sequence[JournalEntry]) -> list[Happening]:
    """The entries with what they speak of, in their order."""
    releases = _releases(_ids(entries, "release."))
    appeals = _appeals(_ids(entries, "appeal."))
    skills = {skill.name: skill for skill in _skills(entries)}
    environments = {one.name: one for one in Environment.objects.all()}
    people = _people(entries)
    found = []
    for entry in entries:
        release, appeal = releases.get(_id(entry)), appeals.get(_id(entry))
        skill = release.skill if release else appeal.version.skill if appeal else None
        name, _, rest = entry.target.partition(" ")
        if skill is None and entry.verb.startswith(("version.", "skill.")):
            skill = skills.get(name)
        where = release.environment if release else environments.get(rest.removeprefix("in "))
        named = frozenset(people[one] for one in _named(entry) if one in people)
        found.append(Happening(entry, release, appeal, skill, where, named))
    return found


def read_crowd(happenings: Iterable[Happening], *, now: datetime) -> Crowd:
    """Everyone who decides, publishes or administers anywhere, and everyone whom the happenings concern."""
    lent = Delegation.objects.filter(starts_at__lte=now, ends_at__gt=now, ended_at=None, taker=OuterRef("pk"))
    roles = Grant.objects.filter(user=OuterRef("pk"), role__in=(Role.APPROVER, Role.PUBLISHER, Role.ADMIN))
    near = reduce(or_, (_near(one) for one in happenings), frozenset[UUID]())
    active = User.objects.filter(is_active=True)
    # Two statements: the second is for people without a role, and their number is that of the batch.
    found = list(active.filter(Q(is_superuser=True) | Exists(roles) | Exists(lent)))
    known = {user.pk for user in found}
    found += active.filter(pk__in=near - known)
    powers: dict[UUID, Powers] = {}
    for start in range(0, len(found), PEOPLE_AT_ONCE):
        powers |= powers_of_all(found[start : start + PEOPLE_AT_ONCE], now=now)
    return Crowd(powers, {user.username: user for user in found}, {user.pk: user for user in found})


def _near(happening: Happening) -> frozenset[UUID]:
    ids: set[UUID | None] = set(happening.people)
    if happening.skill:
        ids |= {happening.skill.owner_id, *(one.pk for one in happening.skill.maintainers.all())}
    if happening.release:
        ids |= {happening.release.proposer_id, *(one.user_id for one in happening.release.approvals.all())}
    if happening.appeal:
        ids.add(happening.appeal.by_id)
    return frozenset(one for one in ids if one)


def _releases(ids: set[UUID]) -> dict[UUID | None, Release]:
    related = ("environment", "skill__team", "version__publisher", "proposer")
    signed = Prefetch("approvals", Approval.objects.filter(voided_at=None))
    rows = Release.objects.filter(pk__in=ids).select_related(*related)
    return {row.pk: row for row in rows.prefetch_related(signed, "skill__maintainers")}


def _appeals(ids: set[UUID]) -> dict[UUID | None, Appeal]:
    rows = Appeal.objects.filter(pk__in=ids).select_related("version__skill__team", "by")
    return {row.pk: row for row in rows.prefetch_related("version__skill__maintainers")}


def _skills(entries: Iterable[JournalEntry]) -> Iterable[Skill]:
    told = (entry for entry in entries if entry.verb.startswith(("version.", "skill.")))
    names = {entry.target.partition(" ")[0] for entry in told}
    rows = Skill.objects.filter(name__in=names).select_related("team")
    return rows.prefetch_related("maintainers")


def _people(entries: Iterable[JournalEntry]) -> dict[str, UUID]:
    names = {name for entry in entries for name in _named(entry)}
    return dict(User.objects.filter(username__in=names).values_list("username", "pk"))


def _named(entry: JournalEntry) -> set[str]:
    """The user names in an entry that is about people."""
    told = [side for side in (entry.before, entry.after) if entry.verb in NAMING and isinstance(side, dict)]
    named = (side.get(key) for side in told for key in ("giver", "taker", "owner"))
    names = {name for name in named if isinstance(name, str)}
    if entry.verb.startswith(("grant.", "user.")):
        names.add(entry.target.removeprefix("user "))
    return names


NAMING = frozenset({"delegation.create", "delegation.end", "skill.settle"})


def _ids(entries: Iterable[JournalEntry], verb: str) -> set[UUID]:
    return {found for entry in entries if entry.verb.startswith(verb) and (found := _id(entry))}


def _id(entry: JournalEntry) -> UUID | None:
    told = entry.after.get("id") if isinstance(entry.after, dict) else None
    try:
        return UUID(told) if isinstance(told, str) else None
    except ValueError:
        return None
