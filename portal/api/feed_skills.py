"""One skill of the feed: its instructions, its files, the whole of it (contract, Feed)."""

from __future__ import annotations

import mimetypes
from dataclasses import asdict
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from catalog import blobs
from catalog.instructions import instructions_of
from catalog.pins import read_version
from catalog.resolution import Feed
from catalog.resources import find_resource
from catalog.snapshots import Served, ServedFile
from governance.models import ReadCount
from portal.api.described import described
from portal.api.endpoints import endpoint
from portal.api.examples import feed as examples
from portal.api.feed import KEY, agent_of, asked_feed, count
from portal.api.rendering import as_json
from portal.downloads import attachment, matches_etag, not_modified

ASKED = {**KEY, "version": "A pinned version that was live here in the last 30 days."}


@described(
    "feed_skill",
    "One skill with its instructions and the list of its files. 404 names skills that are spelled alike; 409 "
    "`skill-switched-off` names the `fallback`, where there is one.",
    answers={200: "LoadedSkill"},
    problems=(404, 409, 410),
    query=ASKED,
    examples=examples.LOAD,
)
@endpoint({"GET": "feed"})
def skill(request: Request, name: str) -> HttpResponse:
    """One skill with its instructions."""
    seen = asked_feed(request)
    one = _read(request, seen, name)
    count(request, seen, agent_of(request), one.ids, ReadCount.Read.LOADED)
    instructions, content = instructions_of(one)
    body = {
        **one.item,
        "skill_name": one.folder,
        "instructions": instructions,
        "content": content,
        "files": [asdict(file) for file in one.files],
        "resources": [_resource(file) for file in one.resources],
        "scripts": [{"path": f.path, "sha256": f.sha256, "size": f.size} for f in one.scripts],
    }
    answer = HttpResponse(as_json(body), content_type="application/json")
    return _assigned(answer, one)


@described(
    "feed_resource",
    "A file of a skill, by its path or by its bare name under references/ or assets/.",
    answers={304: ""},
    files=("application/octet-stream",),
    problems=(400, 404, 409, 410),
    query=ASKED,
)
@endpoint({"GET": "feed"}, any_type=True)
def resource(request: Request, name: str, path: str) -> HttpResponse:
    """A file of a skill."""
    seen = asked_feed(request)
    one = _read(request, seen, name)
    file = find_resource(one, path)
    if matches_etag(request, f'"{file.sha256}"'):
        return _assigned(not_modified(f'"{file.sha256}"'), one)
    count(request, seen, agent_of(request), one.ids, ReadCount.Read.RESOURCE)
    kind = mimetypes.guess_type(file.path)[0] or "application/octet-stream"
    answer = attachment(blobs.read_blob(file.sha256), file.path.rsplit("/", 1)[-1], kind, file.sha256)
    return _assigned(answer, one)


@described(
    "feed_bundle",
    "The whole skill as a zip with SKILL.md at its root; the same bytes every time, its sha256 as ETag and "
    "Repr-Digest.",
    answers={304: ""},
    files=("application/zip",),
    problems=(404, 409, 410),
    query=ASKED,
)
@endpoint({"GET": "feed"}, any_type=True)
def bundle(request: Request, name: str) -> HttpResponse:
    """The whole skill as a zip."""
    seen = asked_feed(request)
    one = _read(request, seen, name)
    if matches_etag(request, f'"{one.artifact}"'):
        return _assigned(not_modified(f'"{one.artifact}"'), one)
    count(request, seen, agent_of(request), one.ids, ReadCount.Read.LOADED)
    file_name = f"{one.folder}-{one.version}.zip"
    answer = attachment(blobs.read_blob(one.artifact), file_name, "application/zip", one.artifact)
    return _assigned(answer, one)


def _read(request: Request, seen: Feed, name: str) -> Served:
    version = request.query_params.get("version") or None
    return read_version(feed=seen, name=name, version=version, now=timezone.now())


def _resource(file: ServedFile) -> dict[str, Any]:
    return {
        "path": file.path,
        "name": file.path.rsplit("/", 1)[-1],
        "description": None,
        "media_type": mimetypes.guess_type(file.path)[0] or "application/octet-stream",
        "size": file.size,
        "sha256": file.sha256,
    }


def _assigned(answer: HttpResponse, one: Served) -> HttpResponse:
    answer["X-Quartermaster-Assignment"] = one.arm
    return answer
