"""What the caller is told, by REST."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from governance.models import Notice
from governance.notice_texts import path_of, sentence
from governance.notices import mark_read, notices_of
from portal import access
from portal.access import NotFound
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import notices as examples
from portal.api.idempotency import once
from portal.api.paging import page_of

SWITCH = {"": False, "true": True, "1": True, "false": False, "0": False}


@described(
    "notices",
    "What the token's owner is told, newest first: a sentence, and the portal's page that it is about.",
    answers={200: "NoticePage"},
    problems=(400,),
    query={"unread": "true for what was not read yet.", **CURSOR},
    examples=examples.NOTICES,
)
@endpoint({"GET": "read"})
def notice_list(request: Request) -> Response:
    """The caller's notices."""
    rows, unread = notices_of(access.powers(request)), request.query_params.get("unread", "")
    if unread not in SWITCH:
        raise Problem("field-invalid", "unread is neither true nor false.")
    if SWITCH[unread]:
        rows = rows.filter(read_at=None)
    return Response(page_of(request, rows.select_related("environment", "skill"), key="-entry", show=_show))


@described(
    "notice_read",
    "Mark a notice as read; one that was read keeps its time.",
    method="POST",
    sent={"application/json": "Nothing"},
    answers={200: "Notice"},
    problems=(400, 404, 409, 415, 422),
    once=True,
)
@endpoint({"POST": "read"})
@once
def notice_read(request: Request, notice_id: UUID) -> Response:
    """Mark one as read."""
    mine = notices_of(access.powers(request)).filter(pk=notice_id).select_related("environment", "skill")
    if not mine.exists():
        raise NotFound("There is no such notice")
    mark_read(Notice.objects.filter(pk=notice_id), now=timezone.now())
    return Response(_show(mine.get()))


@described(
    "notices_read_all",
    "Mark everything as read; answers how many notices were not.",
    method="POST",
    sent={"application/json": "Nothing"},
    answers={200: "NoticesRead"},
    problems=(400, 409, 415, 422),
    once=True,
)
@endpoint({"POST": "read"})
@once
def notice_read_all(request: Request) -> Response:
    """Mark all as read."""
    return Response({"read": mark_read(notices_of(access.powers(request)), now=timezone.now())})


def _show(notice: Notice) -> dict[str, Any]:
    return {
        "id": str(notice.pk),
        "verb": notice.verb,
        "text": sentence(notice),
        "reason": notice.told.get("reason", ""),
        "skill": notice.skill.name if notice.skill else None,
        "version": notice.told.get("version") or None,
        "environment": notice.environment.name if notice.environment else None,
        "release": str(notice.release_id) if notice.release_id else None,
        "page": path_of(notice) or None,
        "at": notice.at,
        "read_at": notice.read_at,
    }
