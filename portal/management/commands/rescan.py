"""`manage.py rescan [--all]`: scan again what older rules have judged, or everything."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from catalog.journal import Actor
from catalog.rescans import rescan_catalog
from portal.management.origin import origin_of


class Command(BaseCommand):
    """The worker does the same once an hour; a run that was cut off is taken up where it ended."""

    help = "Scan versions again by the rules of today. Neither bytes nor declarations change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The words of the command line."""
        parser.add_argument(
            "--all", action="store_true", help="Every version, not only those of older rules."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Scan, and say what changed; exits with 1 where bytes are lost."""
        run = rescan_catalog(
            limits=settings.LIMITS,
            actor=Actor.system(origin_of("rescan")),
            clock=timezone.now,
            all_of=options["all"],
        )
        for name in run.riskier:
            self.stdout.write(f"riskier {name}")
        for name in run.lost:
            self.stderr.write(f"bytes lost {name}")
        self.stdout.write(f"{run.scanned} versions scanned, {run.changed} changed.")
        if run.lost:
            raise SystemExit(1)
