"""`manage.py sweep`: remove blobs that nothing refers to, and files left over from broken uploads."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from catalog import upkeep


class Command(BaseCommand):
    """The worker does the same once a day."""

    help = "Remove from the store what nothing refers to."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The words of the command line."""
        parser.add_argument("--hours", type=float, default=24.0, help="Leave alone what is younger.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Sweep, and say what was removed."""
        swept = upkeep.sweep(now=timezone.now(), grace=timedelta(hours=options["hours"]))
        self.stdout.write(f"{swept.rows} blobs and {swept.files} stray files removed.")
