"""The record by REST: skills, their versions and files."""

from __future__ import annotations

import mimetypes
from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from catalog import blobs
from catalog.access import visible_skills
from catalog.bundles.bundle import RISKS
from catalog.cards import public_card
from catalog.models import Release, Skill, State, Version
from portal import access
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.paging import page_of
from portal.downloads import attachment, matches_etag, not_modified

SERVED = (State.LIVE, State.CANARY)


@extend_schema(
    parameters=[
        OpenApiParameter(name, str) for name in ("q", "team", "set", "tag", "risk", "environment", "status")
    ],
    responses=OpenApiTypes.OBJECT,
    description="The skills that the token's owner may see, by name.",
)
@endpoint({"GET": "read"})
def skill_list(request: Request) -> Response:
    """The skills that the token's owner may see."""
    skills = _filtered(request, visible_skills(access.powers(request)))
    return Response(page_of(request, _with_parts(skills), key="name", show=show_skill))


@extend_schema(responses=OpenApiTypes.OBJECT, description="One skill.")
@endpoint({"GET": "read"})
def skill_detail(request: Request, name: str) -> Response:
    """One skill."""
    skill = access.skill_read(request, name)
    return Response(show_skill(_with_parts(Skill.objects.filter(pk=skill.pk)).get()))


@extend_schema(responses=OpenApiTypes.OBJECT, description="The versions of a skill, newest first.")
@endpoint({"GET": "read"})
def version_list(request: Request, name: str) -> Response:
    """The versions of a skill."""
    skill = access.skill_read(request, name)
    versions = Version.objects.filter(skill=skill).select_related("skill", "publisher")
    return Response(page_of(request, versions, key="-published_at", show=show_version))


@extend_schema(responses=OpenApiTypes.OBJECT, description="A version: what it says, findings and files.")
@endpoint({"GET": "read"})
def version_detail(request: Request, name: str, version: str) -> Response:
    """A version with its findings and files."""
    found = access.version_read(request, name, version)
    files = found.files.values("path", "executable", "blob_id", "blob__size").order_by("path")
    findings = found.findings.values("code", "severity", "path", "line", "message", "hint")
    return Response(
        {
            **show_version(found),
            **public_card(found.fields),
            "findings": list(findings.order_by("pk")),
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


@extend_schema(
    responses={(200, "application/octet-stream"): OpenApiTypes.BINARY}, description="The bytes of a file."
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


@extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY}, description="The version as a zip.")
@endpoint({"GET": "read"}, any_type=True)
def version_bundle(request: Request, name: str, version: str) -> HttpResponse:
    """The version as a zip with SKILL.md at its root."""
    found = _readable(request, name, version)
    if matches_etag(request, f'"{found.artifact_id}"'):
        return not_modified(f'"{found.artifact_id}"')
    file_name = f"{found.skill.folder}-{found.version}.zip"
    return attachment(blobs.read_blob(found.artifact_id), file_name, "application/zip", found.artifact_id)


def _readable(request: Request, name: str, version: str) -> Version:
    """The version, unless its bytes are given to nobody any more."""
    found = access.version_read(request, name, version)
    if found.revoked_at:
        raise Problem("version-revoked", f"{found} was revoked and is not given out.", status=410)
    return found


def _filtered(request: Request, skills: QuerySet[Skill]) -> QuerySet[Skill]:
    asked = request.query_params
    if q := asked.get("q", "").strip():
        skills = skills.filter(
            Q(name__icontains=q) | Q(latest__description__icontains=q) | Q(tags__tag__iexact=q)
        )
    if team := asked.get("team"):
        skills = skills.filter(team__slug=team)
    if slug := asked.get("set"):
        skills = skills.filter(sets__slug=slug)
    if tag := asked.get("tag"):
        skills = skills.filter(tags__tag=tag)
    if risk := asked.get("risk"):
        skills = skills.filter(_of_risk(risk))
    environment, status = asked.get("environment"), asked.get("status")
    if environment or status:
        releases = (
            Release.objects.filter(state=status) if status else Release.objects.filter(state__in=SERVED)
        )
        if environment:
            releases = releases.filter(environment__name=environment)
        skills = skills.filter(pk__in=releases.values("skill_id"))
    return skills.distinct()


def _of_risk(risk: str) -> Q:
    """Skills whose latest version has this effective risk: the higher one of declared and suggested."""
    if risk not in RISKS:
        raise Problem("field-invalid", f"risk is not one of {', '.join(RISKS)}.")
    known = RISKS[: RISKS.index(risk) + 1]
    none_higher = Q(latest__risk_level__in=known, latest__suggested_risk__in=known)
    return none_higher & (Q(latest__risk_level=risk) | Q(latest__suggested_risk=risk))


def _with_parts(skills: QuerySet[Skill]) -> QuerySet[Skill]:
    served = Release.objects.filter(state__in=SERVED).select_related("environment", "version")
    return skills.select_related("team", "owner", "latest").prefetch_related(
        "tags", "sets", Prefetch("releases", queryset=served, to_attr="served")
    )


def show_skill(skill: Skill) -> dict[str, Any]:
    """A skill as the API answers it; `environments` maps a name to what is served there."""
    environments: dict[str, dict[str, Any]] = {}
    served: list[Release] = getattr(skill, "served", [])
    for release in served:
        place = environments.setdefault(
            release.environment.name, {"live": None, "canary": None, "percent": None}
        )
        place[release.state] = release.version.version
        if release.state == State.CANARY:
            place["percent"] = release.percent
    latest = skill.latest
    return {
        "skill_id": skill.folder,
        "name": skill.name,
        "folder": skill.folder,
        "team": skill.team.slug,
        "owner": skill.owner.username if skill.owner else None,
        "visibility": skill.visibility,
        "sets": sorted(one.slug for one in skill.sets.all()),
        "tags": sorted(one.tag for one in skill.tags.all()),
        "latest_version": latest.version if latest else None,
        "description": latest.description if latest else "",
        "risk_level": latest.effective_risk if latest else None,
        "stability": latest.stability if latest else None,
        "environments": environments,
        "created_at": skill.created_at,
        "updated_at": skill.updated_at,
    }


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
