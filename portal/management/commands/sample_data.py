"""`manage.py sample_data`: fill an empty catalog with the sample, and say how to sign in."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils import timezone

from catalog import journal
from catalog.models import Agent, JournalEntry, Skill, Team, User
from portal.samples.calls import Calls
from portal.samples.plan import ACCOUNTS, read_plan
from portal.samples.record import ORIGIN, Player


class Command(BaseCommand):
    """Runs as often as you like; a catalog that holds anything of its own is left alone."""

    help = "Fill an empty catalog with sample skills, releases and calls."

    def handle(self, *args: Any, **options: Any) -> None:
        """All of it in one transaction, or nothing."""
        if JournalEntry.objects.filter(verb="sample.load").exists():
            self.stdout.write("The sample data is there already. " + SIGN_IN)
            return
        if any(model.objects.exists() for model in (User, Team, Skill, Agent)):
            self.stdout.write("This catalog has data of its own; the sample data is left out.")
            return
        self.stdout.write("Loading the sample data …")
        with transaction.atomic():
            self._load()
        self.stdout.write(SIGN_IN)

    def _load(self) -> None:
        plan, now = read_plan(), timezone.now()
        Player(plan, now).play()
        calls = Calls(plan, now).report()
        journal.append(
            actor=journal.Actor(origin=ORIGIN),
            verb="sample.load",
            target="catalog",
            after={"skills": Skill.objects.count(), "calls": calls},
            now=now,
        )


SIGN_IN = f"Sample accounts, user name and password alike: {', '.join(ACCOUNTS)}."
