"""`manage.py import_skills DIR… --team T`: publish local folders; a second run changes nothing."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from catalog.access import NotAllowed
from catalog.admission import Declared
from catalog.bundles.findings import Finding, has_errors
from catalog.bundles.folders import Folders, find_folders
from catalog.insertion import runtimes_of
from catalog.journal import Actor
from catalog.models import Team, User
from catalog.publishing import Publication, publish_trees
from portal.management.origin import origin_of

REFUSED = {"rejected", "conflict"}


class Command(BaseCommand):
    """Each folder is a skill or a parent of skills; the first of two with one name wins."""

    help = "Publish the skills in local folders. Run it as often as you like: the same bytes change nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The words of the command line."""
        parser.add_argument("directories", nargs="+", metavar="DIR", type=Path)
        parser.add_argument("--team", required=True, help="The team that will own the skills.")
        parser.add_argument("--as", dest="user", help="The publisher; without it the system publishes.")
        parser.add_argument("--dry-run", action="store_true", help="Judge, and store nothing.")
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        """Publish and report; exits with 1 where a skill was refused."""
        team = Team.objects.filter(slug=options["team"]).first()
        if team is None:
            known = ", ".join(Team.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"There is no team {options['team']}; there are: {known}.")
        folders = _find(options["directories"])
        publications = publish_trees(
            trees=folders.trees(settings.LIMITS),
            team=team,
            declared=Declared(),
            actor=_actor(options["user"]),
            provenance={"form": "folder", "via": "import"},
            limits=settings.LIMITS,
            now=timezone.now(),
            dry_run=options["dry_run"],
        )
        report = self._json if options["format"] == "json" else self._text
        try:
            counts = report(folders.findings, publications)
        except NotAllowed as refusal:
            raise CommandError(str(refusal)) from refusal
        if counts.keys() & REFUSED or has_errors(folders.findings):
            raise SystemExit(1)

    def _json(self, findings: Sequence[Finding], publications: Iterable[Publication]) -> Counter[str]:
        """Report all at once, and answer how many there are of each status."""
        results = [_result(one) for one in publications]
        told = {"results": results, "findings": [finding.as_dict() for finding in findings]}
        self.stdout.write(json.dumps(told, ensure_ascii=False, indent=2))
        return Counter(one["status"] for one in results)

    def _text(self, findings: Sequence[Finding], publications: Iterable[Publication]) -> Counter[str]:
        """Report each skill as it is published, and answer how many there are of each status."""
        for finding in findings:
            self.stdout.write(_line(finding))
        counts: Counter[str] = Counter()
        for one in publications:
            counts[one.status] += 1
            self.stdout.write(f"{one.status:<10} {one.name or one.bundle.tree.folder} {one.version}")
            for finding in one.findings:
                if finding.severity != "advice":
                    self.stdout.write(f"    {_line(finding)}")
        told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no skill found"
        self.stdout.write(f"{told}.")
        return counts


def _find(directories: list[Path]) -> Folders:
    """The folders of skills in all of these, in the order in which they were named."""
    missing = [str(directory) for directory in directories if not directory.is_dir()]
    if missing:
        raise CommandError(f"Not a folder: {', '.join(missing)}.")
    found = [find_folders(directory, settings.LIMITS) for directory in directories]
    return Folders(
        paths=tuple(path for folders in found for path in folders.paths),
        findings=tuple(finding for folders in found for finding in folders.findings),
    )


def _result(one: Publication) -> dict[str, Any]:
    return {
        "folder": one.bundle.tree.folder,
        "name": one.name,
        "version": one.version,
        "status": one.status,
        "bundle_sha256": one.bundle_sha256,
        "risk_level": one.risk_level,
        "findings": [finding.as_dict() for finding in one.findings],
        "runtimes": runtimes_of(one.bundle),
    }


def _actor(username: str | None) -> Actor:
    origin = origin_of("import")
    if not username:
        return Actor.system(origin)
    user = User.objects.filter(username=username).first()
    if user is None:
        raise CommandError(f"There is no user {username}.")
    return Actor(user=user, origin=origin)


def _line(finding: Finding) -> str:
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return f"{finding.severity} {finding.code} {place} {finding.message}".replace("  ", " ")
