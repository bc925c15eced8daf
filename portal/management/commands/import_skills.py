"""`manage.py import_skills DIR… --team T`: publish local folders; a second run changes nothing."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from catalog.access import NotAllowed
from catalog.admission import Declared
from catalog.bundles.files import Upload
from catalog.bundles.findings import Finding
from catalog.bundles.folders import read_folders
from catalog.insertion import runtimes_of
from catalog.journal import Actor
from catalog.models import Team, User
from catalog.publishing import Publication, publish_upload
from portal.management.origin import origin_of


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
        upload = _read(options["directories"])
        try:
            publications = publish_upload(
                upload=upload,
                team=team,
                declared=Declared(),
                actor=_actor(options["user"]),
                provenance={"form": "folder", "via": "import"},
                limits=settings.LIMITS,
                now=timezone.now(),
                dry_run=options["dry_run"],
            )
        except NotAllowed as refusal:
            raise CommandError(str(refusal)) from refusal
        report = self._json if options["format"] == "json" else self._text
        report(upload, publications)
        refused = sum(one.status in {"rejected", "conflict"} for one in publications)
        if refused or any(finding.severity == "error" for finding in upload.findings):
            raise SystemExit(1)

    def _json(self, upload: Upload, publications: list[Publication]) -> None:
        results = [
            {
                "folder": one.bundle.tree.folder,
                "name": one.name,
                "version": one.version,
                "status": one.status,
                "bundle_sha256": one.bundle_sha256,
                "risk_level": one.risk_level,
                "findings": [finding.as_dict() for finding in one.findings],
                "runtimes": runtimes_of(one.bundle),
            }
            for one in publications
        ]
        findings = [finding.as_dict() for finding in upload.findings]
        told = {"results": results, "findings": findings}
        self.stdout.write(json.dumps(told, ensure_ascii=False, indent=2))

    def _text(self, upload: Upload, publications: list[Publication]) -> None:
        for finding in upload.findings:
            self.stdout.write(_line(finding))
        for one in publications:
            self.stdout.write(f"{one.status:<10} {one.name or one.bundle.tree.folder} {one.version}")
            for finding in one.findings:
                if finding.severity != "advice":
                    self.stdout.write(f"    {_line(finding)}")
        counts: dict[str, int] = {}
        for one in publications:
            counts[one.status] = counts.get(one.status, 0) + 1
        told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no skill found"
        self.stdout.write(f"{told}.")


def _read(directories: list[Path]) -> Upload:
    """One upload of all the folders, in the order in which they were named."""
    missing = [str(directory) for directory in directories if not directory.is_dir()]
    if missing:
        raise CommandError(f"Not a folder: {', '.join(missing)}.")
    uploads = [read_folders(directory, settings.LIMITS) for directory in directories]
    return Upload(
        trees=tuple(tree for upload in uploads for tree in upload.trees),
        findings=tuple(finding for upload in uploads for finding in upload.findings),
    )


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
