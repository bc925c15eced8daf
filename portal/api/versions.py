"""The record by REST: versions and their files."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import blobs, lifecycle
from catalog.cards import public_card
from catalog.models import Version, VersionFinding
from portal import access
from portal.api.authentication import actor_of, bearer_of
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.fields import Fields
from portal.api.idempotency import once
from portal.api.paging import page_of
from portal.downloads import attachment, matches_etag, not_modified


@described(
    "versions",
    "The versions of a skill, newest first.",
    answers={200: "VersionPage"},
    problems=(400, 404),
    query=CURSOR,
)
@endpoint({"GET": "read"})
def version_list(request: Request, name: str) -> Response:
    """The versions of a skill."""
    skill = access.skill_read(request, name)
    versions = Version.objects.filter(skill=skill).select_related("skill", "publisher")
    return Response(page_of(request, versions, key="-published_at", show=show_version))


@described(
    "version",
    "A version: what it says of itself, what was found in it, how agent runtimes read it, and its files.",
    answers={200: "Version"},
    problems=(404,),
)
@endpoint({"GET": "read"})
def version_detail(request: Request, name: str, version: str) -> Response:
    """A version with its findings and files."""
    found = access.version_read(request, name, version)
    files = found.files.values("path", "executable", "blob_id", "blob__size").order_by("path")
    appeals = dict(found.appeals.values_list("fingerprint", "state"))
    return Response(
        {
            **show_version(found),
            **public_card(found.fields),
            "findings": [_show_finding(finding, appeals) for finding in found.findings.order_by("pk")],
            "runtimes": found.runtimes,
            "files": [
                {
                    "path": file["path"],
                    "size": file["blob__size"],
                    "sha256": file["blob_id"],
                    "executable": file["executable"],
                }
                for file in files
            ],
        }
    )


@described(
    "version_file",
    "The bytes of a file, with its sha256 as ETag and Repr-Digest.",
    answers={304: ""},
    files=("application/octet-stream",),
    problems=(404, 410),
)
@endpoint({"GET": "read"}, any_type=True)
def version_file(request: Request, name: str, version: str, path: str) -> HttpResponse:
    """The bytes of a file."""
    found = _readable(request, name, version)
    file = found.files.filter(path=path).first()
    if file is None:
        raise Problem("file-not-found", f"{found} has no file {path}.", status=404)
    if matches_etag(request, f'"{file.blob_id}"'):
        return not_modified(f'"{file.blob_id}"')
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return attachment(blobs.read_blob(file.blob_id), path.rsplit("/", 1)[-1], kind, file.blob_id)


@described(
    "version_bundle",
    "The version as a zip with SKILL.md at its root; the same bytes every time.",
    answers={304: ""},
    files=("application/zip",),
    problems=(404, 410),
)
@endpoint({"GET": "read"}, any_type=True)
def version_bundle(request: Request, name: str, version: str) -> HttpResponse:
    """The version as a zip with SKILL.md at its root."""
    found = _readable(request, name, version)
    if matches_etag(request, f'"{found.artifact_id}"'):
        return not_modified(f'"{found.artifact_id}"')
    file_name = f"{found.skill.folder}-{found.version}.zip"
    return attachment(blobs.read_blob(found.artifact_id), file_name, "application/zip", found.artifact_id)


@described(
    "version_act",
    "yank hides a version from new sessions, deprecate says that it is to be left, revoke (administrators, "
    "for malware) takes it away from everyone. None is taken back.",
    method="POST",
    sent={"application/json": "Reason"},
    answers={200: "VersionRow"},
    problems=(400, 404, 409, 422),
    once=True,
)
@endpoint({"POST": ("publish", "admin")})
@once
def version_act(request: Request, name: str, version: str, action: str) -> Response:
    """Yank, deprecate or revoke a version."""
    if action not in ACTIONS:
        raise Problem("action-unknown", f"{action} is no action; there are {', '.join(ACTIONS)}.", status=404)
    scope, act = ACTIONS[action]
    if scope not in bearer_of(request).scopes:
        raise Problem("scope-missing", f"The token lacks the scope {scope}.", status=403)
    found, reason = access.version_read(request, name, version), Fields(request.data).reason()
    changed = act(version=found, actor=actor_of(request), reason=reason, now=timezone.now())
    return Response(show_version(changed))


ACTIONS: dict[str, tuple[str, Callable[..., Version]]] = {
    "yank": ("publish", lifecycle.yank),
    "deprecate": ("publish", lifecycle.deprecate),
    "revoke": ("admin", lifecycle.revoke),
}


def _show_finding(finding: VersionFinding, appeals: Mapping[str, str]) -> dict[str, Any]:
    """A finding with the id by which it is appealed, and the state of the last appeal."""
    return {
        "id": finding.fingerprint,
        "code": finding.code,
        "severity": finding.severity,
        "path": finding.path,
        "line": finding.line,
        "message": finding.message,
        "hint": finding.hint,
        "appeal": appeals.get(finding.fingerprint),
    }


def _readable(request: Request, name: str, version: str) -> Version:
    """The version, unless its bytes are not for this user any more."""
    found = access.version_read(request, name, version)
    if not access.may_download(request, found):
        raise Problem("version-revoked", f"{found} was revoked and is not given out.", status=410)
    return found


def show_version(version: Version) -> dict[str, Any]:
    """A version as lists answer it."""
    return {
        "name": version.skill.name,
        "version": version.version,
        "version_text": version.version_text,
        "description": version.description,
        "bundle_sha256": version.bundle_sha256,
        "artifact_sha256": version.artifact_id,
        "risk_level": version.risk_level,
        "suggested_risk": version.suggested_risk,
        "effective_risk": version.effective_risk,
        "permissions": version.permissions,
        "tags": version.tags,
        "stability": version.stability,
        "declaration_sha256": version.declaration_sha256,
        "size": version.size,
        "file_count": version.file_count,
        "has_resources": version.has_resources,
        "has_scripts": version.has_scripts,
        "notes": version.notes,
        "provenance": version.provenance,
        "publisher": version.publisher.username if version.publisher else None,
        "published_at": version.published_at,
        "yanked_at": version.yanked_at,
        "revoked_at": version.revoked_at,
        "deprecated_at": version.deprecated_at,
    }
