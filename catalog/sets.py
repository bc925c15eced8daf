"""Skill sets: skills that are offered together, changed with an entry in the journal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from catalog import journal
from catalog.journal import Actor
from catalog.models import Skill, SkillSet


def create_set(*, slug: str, name: str, actor: Actor, now: datetime, description: str = "") -> SkillSet:
    """Make an empty set."""
    with transaction.atomic():
        made = SkillSet.objects.create(slug=slug, name=name, description=description)
        journal.append(actor=actor, verb="set.create", target=f"set {slug}", after={"name": name}, now=now)
    return made


def add_to_set(*, skill_set: SkillSet, skills: Iterable[Skill], actor: Actor, now: datetime) -> None:
    """Put skills into the set; those that are in it already change nothing."""
    with transaction.atomic():
        there = set(skill_set.skills.values_list("pk", flat=True))
        added = [skill for skill in skills if skill.pk not in there]
        if not added:
            return
        skill_set.skills.add(*added)
        journal.append(
            actor=actor,
            verb="set.add",
            target=f"set {skill_set.slug}",
            after={"skills": [skill.folder for skill in added]},
            now=now,
        )
