"""`manage.py bench_data --skills N --calls N`: fill an empty catalog with as much as one wants to measure."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from catalog import journal
from catalog.agents import NameTaken
from catalog.models import Agent, JournalEntry, Release, Skill, SkillSet, Team, User, Version
from governance import notices
from governance.models import Call, CallDetail, ContextSpan, Intake, ReadCount, SubjectTag, TaskOutcome
from portal.samples.bench import ORIGIN, SEED, Bench

# Where one of these has a row, the catalog is somebody's.
OWN = (User, Team, Skill, SkillSet, Agent, JournalEntry)
TOLD = (
    Skill,
    Version,
    Release,
    Agent,
    Call,
    CallDetail,
    ContextSpan,
    SubjectTag,
    TaskOutcome,
    Intake,
    ReadCount,
)


def _number(text: str) -> int:
    if not text.isdigit():
        raise ArgumentTypeError("Give a whole number, 0 or more.")
    return int(text)


class Command(BaseCommand):
    """A catalog that holds anything else is left alone; what is made is never told from real use again."""

    help = "Fill an empty catalog with made-up skills, agents and 90 days of calls, to measure by."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The words of the command line."""
        parser.add_argument("--skills", type=_number, default=1000, metavar="N")
        parser.add_argument("--calls", type=_number, default=100_000, metavar="N")
        parser.add_argument("--seed", type=_number, default=SEED, help="Another one draws another catalog.")
        parser.add_argument("--force", action="store_true", help="Add to what the catalog holds already.")

    def handle(self, *args: Any, **options: Any) -> None:
        """The skills in portions, then the calls a day at a time; progress goes to standard error."""
        now, skills, calls = timezone.now(), options["skills"], options["calls"]
        if calls and not skills:
            raise CommandError("Calls are of skills: give --skills a number above 0.")
        self._claim(force=options["force"], skills=skills, calls=calls)
        bench = Bench(seed=options["seed"], now=now, tell=self._tell)
        try:
            bench.fill(skills=skills, calls=calls)
        except NameTaken as clash:
            raise CommandError("Bench data of this seed is there already; give another --seed.") from clash
        notices.start_over(now=timezone.now())
        for model in TOLD:
            self.stdout.write(f"{model._default_manager.count():>12,} {model._meta.verbose_name_plural}")
        took = (timezone.now() - now).total_seconds()
        self.stdout.write(f"Made in {took:.0f} s. Sign in with an account of `manage.py createsuperuser`.")

    def _claim(self, *, force: bool, skills: int, calls: int) -> None:
        """Write down that it begins, so that no other such command does; raises CommandError."""
        with transaction.atomic():
            journal.lock_head()
            if not force and any(model._default_manager.exists() for model in OWN):
                raise CommandError(
                    "This catalog holds something already; nothing is changed. Use an empty one, or --force."
                )
            journal.append(
                actor=journal.Actor.system(ORIGIN),
                verb="bench.load",
                target="catalog",
                after={"skills": skills, "calls": calls},
                now=timezone.now(),
            )

    def _tell(self, sentence: str) -> None:
        self.stderr.write(sentence)
