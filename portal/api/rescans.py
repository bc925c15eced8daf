"""Scanning a version again by REST."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.rescans import Rescan, rescan
from portal import access
from portal.api.authentication import actor_of, ask_scope
from portal.api.described import described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import appeals as examples
from portal.api.idempotency import once


@described(
    "version_rescan",
    "Judge the bytes of a version by the rules of today. Its findings, runtimes and suggested risk become "
    "those of today; bytes and declaration stay. Publishers of the skill's team, and administrators.",
    method="POST",
    sent={"application/json": "Nothing"},
    answers={200: "Rescan"},
    problems=(400, 404, 415, 503),
    examples=examples.RESCAN,
    once=True,
)
@endpoint({"POST": ("publish", "admin")})
@once
def version_rescan(request: Request, name: str, version: str) -> Response:
    """Scan a version again."""
    row = access.version_read(request, name, version)
    ask_scope(request, row.skill.team)
    try:
        done = rescan(version=row, limits=settings.LIMITS, actor=actor_of(request), now=timezone.now())
    except FileNotFoundError as lost:
        told = _("The store has lost bytes of this version. Tell an administrator.")
        raise Problem("bytes-lost", told, status=503) from lost
    return Response(show_rescan(done))


def show_rescan(done: Rescan) -> dict[str, Any]:
    """What a scan changed."""
    return {
        "name": done.version.skill.name,
        "version": done.version.version,
        "gained": done.gained,
        "lost": done.lost,
        "suggested_risk": {"before": done.risk_before, "after": done.risk_after},
        "effective_risk": done.version.effective_risk,
    }
