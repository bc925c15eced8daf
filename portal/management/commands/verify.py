"""`manage.py verify`: re-hash every blob, add up every version, check the audit log."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog import journal, upkeep
from catalog.models import Blob, Version


class Command(BaseCommand):
    """Exits with 1 where something does not add up."""

    help = "Check that the store, the record and the audit log are as they were written."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The words of the command line."""
        parser.add_argument(
            "--anchor", help="A head of the audit log (n:hash), as an earlier run printed it."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print each fault, or how much was checked and the head of the audit log."""
        faults = 0
        for fault in upkeep.find_faults(anchor=_anchor(options["anchor"])):
            faults += 1
            self.stderr.write(fault)
        if faults:
            raise CommandError(f"{faults} fault(s) found.")
        n, head = journal.read_head()
        counted = (
            f"{Blob.objects.count()} blobs, {Version.objects.count()} versions, {n} entries of the audit log"
        )
        self.stdout.write(f"{counted}: all as they were written. Head of the audit log: {n}:{head}")


def _anchor(text: str | None) -> tuple[int, str] | None:
    if not text:
        return None
    try:
        return journal.read_anchor(text)
    except journal.BadAnchor as fault:
        raise CommandError("The anchor reads n:hash, as an earlier run printed it.") from fault
