"""Publishing by REST: an archive or the JSON form (contract, Publishing)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.access import NotAllowed
from catalog.admission import Declared
from catalog.bundles.bundle import PERMISSIONS, RISKS, STABILITIES
from catalog.bundles.files import Upload
from catalog.bundles.inline import tree_from_json
from catalog.insertion import runtimes_of
from catalog.models import SkillSet, Team
from catalog.publishing import Publication, publish_upload
from portal import access
from portal.api.authentication import actor_of
from portal.api.described import described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import publishing as examples
from portal.api.fields import Fields
from portal.api.idempotency import once
from portal.api.rendering import JSONParser
from portal.uploads import provenance_of, read_request_upload


@described(
    "publish",
    "Publish a bundle: multipart with `file` (zip, tar.gz, SKILL.md or manifest.yaml), or JSON with metadata, "
    "instructions and resources. 201 where something was published, 200 where all is unchanged or a dry run "
    "passed, 207 where bundles of one archive fared differently, 409 for a conflict, 422 where all is refused.",
    method="POST",
    sent={"application/json": "Publish", "multipart/form-data": "PublishForm"},
    answers=dict.fromkeys((200, 201, 207), "Published"),
    refused=dict.fromkeys((409, 422), "Published"),
    problems=(400, 409, 413, 415, 422),
    examples=examples.PUBLISH,
    once=True,
)
@endpoint({"POST": "publish"}, parsers=(JSONParser, MultiPartParser))
@once
def publish(request: Request) -> Response:
    """Publish the bundles of an upload, or with `dry_run` only judge them."""
    fields = Fields(request.data)
    declared = read_declared(fields)
    slug, dry_run = fields.text("team", needed=True), fields.flag("dry_run")
    if not _is_form(request):
        for name in ("metadata", "resources"):
            fields.mapping(name)
    fields.check()
    team = _find_team(request, slug)
    if declared.set_slug and not SkillSet.objects.filter(slug=declared.set_slug).exists():
        raise Problem("set-unknown", f"There is no skill set {declared.set_slug!r}.", status=422)
    upload, provenance = _read_upload(request, fields)
    publications = publish_upload(
        upload=upload,
        team=team,
        declared=declared,
        actor=actor_of(request),
        provenance=provenance,
        limits=settings.LIMITS,
        now=timezone.now(),
        dry_run=dry_run,
    )
    return answer_publications(upload, publications)


def read_declared(fields: Fields) -> Declared:
    """What the publisher says beside the bytes."""
    return Declared(
        version=fields.text("version", longest=300) or None,
        risk_level=fields.choice("risk_level", RISKS),  # type: ignore[arg-type]
        permissions=fields.names("permissions", choices=PERMISSIONS),
        tags=fields.names("tags"),
        stability=fields.choice("stability", STABILITIES),  # type: ignore[arg-type]
        notes=fields.prose("notes"),
        set_slug=fields.text("set", longest=64) or None,
    )


def _find_team(request: Request, slug: str) -> Team:
    """The team, asked for its right before the upload is read."""
    team = Team.objects.filter(slug=slug).first()
    if team is None:
        raise Problem("team-unknown", f"There is no team {slug[:80]!r}.", status=422)
    if not access.powers(request).may_publish(team):
        raise NotAllowed(f"Publishing for {team.name} needs the role publisher in that team.")
    return team


def _is_form(request: Request) -> bool:
    return request.content_type.lower().startswith("multipart/")


def _read_upload(request: Request, fields: Fields) -> tuple[Upload, dict[str, Any]]:
    """The upload of either form, and where it came from."""
    if _is_form(request):
        files = request.FILES.getlist("file")
        if not files:
            raise Problem("file-missing", "The form has no file; send it as the field `file`.", status=422)
        if len(files) > 1:
            raise Problem("file-ambiguous", "The form has several files; put them into one zip.", status=422)
        return read_request_upload(files[0]), provenance_of(files[0], via="api")
    metadata, resources = fields.mapping("metadata"), fields.mapping("resources")
    instructions = fields.data.get("instructions")
    instructions = "" if instructions is None else instructions
    tree = tree_from_json(metadata, instructions, resources, limits=settings.LIMITS)
    return Upload(trees=(tree,)), {"form": "json", "via": "api"}


def answer_publications(upload: Upload, publications: list[Publication]) -> Response:
    """201, 200, 409, 422 or 207, as the contract says, with a result for each bundle."""
    if not publications:
        refused = {
            "name": "",
            "version": "",
            "status": "rejected",
            "bundle_sha256": "",
            "risk_level": "",
            "findings": [finding.as_dict() for finding in upload.findings],
            "runtimes": {},
        }
        return Response({"results": [refused]}, status=422)
    results = [show_publication(one, upload) for one in publications]
    return Response({"results": results}, status=_status([one.status for one in publications]))


def show_publication(one: Publication, upload: Upload) -> dict[str, Any]:
    """The result of one bundle; findings about the archive are told with each."""
    findings = [*upload.findings, *one.findings]
    return {
        "name": one.name,
        "version": one.version,
        "status": one.status,
        "bundle_sha256": one.bundle_sha256,
        "risk_level": one.risk_level,
        "findings": [finding.as_dict() for finding in findings],
        "runtimes": runtimes_of(one.bundle),
    }


def _status(statuses: list[str]) -> int:
    kinds = set(statuses)
    if not kinds & {"rejected", "conflict"}:
        return 201 if "published" in kinds else 200
    if len(kinds) > 1:
        return 207
    return 422 if "rejected" in kinds else 409
