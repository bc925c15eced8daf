"""`manage.py sample_data`: fill an empty catalog with the sample, and say how to sign in."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from catalog import journal
from catalog.models import Agent, JournalEntry, Skill, SkillSet, Team, User
from governance import notices
from portal.samples.calls import Calls
from portal.samples.plan import ACCOUNTS, read_plan
from portal.samples.record import ORIGIN, Player


class Command(BaseCommand):
    """Runs as often as you like; a catalog that holds anything of its own is left alone."""

    help = "Fill an empty catalog with sample skills, releases and calls."

    def handle(self, *args: Any, **options: Any) -> None:
        """All of it in one transaction, or nothing."""
        with transaction.atomic():
            # Held to the end: nobody fills the catalog meanwhile, a second such command least of all.
            journal.lock_head()
            if JournalEntry.objects.filter(verb="sample.load").exists():
                self.stdout.write("The sample data is there already. " + SIGN_IN)
                return
            if any(model._default_manager.exists() for model in OWN):
                self.stdout.write("This catalog has data of its own; the sample data is left out.")
                return
            self.stdout.write("Loading the sample data …")
            self._load()
        self.stdout.write(SIGN_IN)

    def _load(self) -> None:
        plan, now = read_plan(), timezone.now()
        Player(plan, now).play()
        calls = Calls(plan, now).report()
        journal.append(
            actor=journal.Actor.system(ORIGIN),
            verb="sample.load",
            target="catalog",
            after={"skills": Skill.objects.count(), "calls": calls},
            now=now,
        )
        notices.start_over(now=now)


# Where one of these has a row, the catalog is somebody's.
OWN: tuple[type[Model], ...] = (User, Team, Skill, SkillSet, Agent, JournalEntry)
SIGN_IN = f"Sample accounts, user name and password alike: {', '.join(ACCOUNTS)}."
