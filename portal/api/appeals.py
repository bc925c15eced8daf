"""Appeals by REST: a publisher says why a warning is wrong, an approver decides."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.appeals import appeal, decide
from catalog.models import Appeal
from catalog.visibility import visible_versions
from portal import access
from portal.api.authentication import actor_of
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import appeals as examples
from portal.api.fields import Fields
from portal.api.idempotency import once
from portal.api.paging import page_of

DECISIONS = {"grant": True, "refuse": False}


@described(
    "finding_appeal",
    "Say why a warning is wrong here; an approver who neither made the appeal nor published the version "
    "decides. The `id` of a finding stands in its version. Publishers of the skill's team.",
    method="POST",
    sent={"application/json": "Reason"},
    answers={201: "Appeal"},
    problems=(400, 404, 409, 415, 422),
    examples=examples.APPEAL,
    once=True,
)
@endpoint({"POST": "publish"})
@once
def finding_appeal(request: Request, name: str, version: str, finding_id: str) -> Response:
    """Appeal a warning."""
    finding = access.finding_read(request, name, version, finding_id)
    reason = Fields(request.data).reason()
    made = appeal(finding=finding, actor=actor_of(request), reason=reason, now=timezone.now())
    return Response(show_appeal(made), status=201)


@described(
    "appeals",
    "The appeals of versions that the token's owner may see, newest first.",
    answers={200: "AppealPage"},
    problems=(400, 404),
    query={
        "state": "waiting, granted or refused.",
        "skill": "A skill, in either spelling of its name.",
        **CURSOR,
    },
)
@endpoint({"GET": "read"})
def appeal_list(request: Request) -> Response:
    """The appeals of visible versions."""
    asked, seen = request.query_params, visible_versions(access.powers(request))
    rows = Appeal.objects.filter(version__in=seen).select_related("version__skill", "by", "decided_by")
    if state := asked.get("state"):
        if state not in Appeal.State.values:
            raise Problem("field-invalid", f"state is not one of {', '.join(Appeal.State.values)}.")
        rows = rows.filter(state=state)
    if skill := asked.get("skill"):
        rows = rows.filter(version__skill=access.skill_read(request, skill))
    return Response(page_of(request, rows, key="-at", show=show_appeal))


@described("appeal", "One appeal.", answers={200: "Appeal"}, problems=(404,))
@endpoint({"GET": "read"})
def appeal_detail(request: Request, appeal_id: UUID) -> Response:
    """One appeal."""
    return Response(show_appeal(access.appeal_read(request, appeal_id)))


@described(
    "appeal_decide",
    "grant an appeal, and its warning no longer raises the suggested risk; or refuse it, with a reason. "
    "Approvers of the skill's team who neither made the appeal nor published the version.",
    method="POST",
    sent={"application/json": "Decide"},
    answers={200: "Appeal"},
    problems=(400, 404, 409, 415, 422),
    examples=examples.DECIDE,
    once=True,
)
@endpoint({"POST": "release"})
@once
def appeal_decide(request: Request, appeal_id: UUID, decision: str) -> Response:
    """Grant or refuse an appeal."""
    if decision not in DECISIONS:
        raise Problem(
            "action-unknown", f"{decision} is no action; there are {', '.join(DECISIONS)}.", status=404
        )
    found, fields, granted = access.appeal_read(request, appeal_id), Fields(request.data), DECISIONS[decision]
    note = fields.reason(needed=not granted, missing="Say why; the publisher reads it.")
    decided = decide(appeal=found, granted=granted, actor=actor_of(request), note=note, now=timezone.now())
    return Response(show_appeal(decided))


def show_appeal(appeal: Appeal) -> dict[str, Any]:
    """An appeal as the API answers it."""
    return {
        "id": str(appeal.pk),
        "state": appeal.state,
        "skill": appeal.version.skill.name,
        "version": appeal.version.version,
        "finding": appeal.fingerprint,
        "code": appeal.code,
        "reason": appeal.reason,
        "by": appeal.by.username if appeal.by else None,
        "made_at": appeal.at,
        "decided_by": appeal.decided_by.username if appeal.decided_by else None,
        "decided_at": appeal.decided_at,
        "note": appeal.note,
        "effective_risk": appeal.version.effective_risk,
    }
