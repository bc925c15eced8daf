"""Releases by REST (contract, Releases)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.access import visible_releases
from catalog.journal import Actor
from catalog.models import Environment, Release, State
from governance import approvals
from governance.approvals import review
from portal import access
from portal.api import examples
from portal.api.authentication import actor_of
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.fields import Fields
from portal.api.idempotency import once
from portal.api.paging import page_of


@extend_schema(
    methods=["GET"],
    parameters=[OpenApiParameter(name, str) for name in ("environment", "state", "skill")],
    responses=OpenApiTypes.OBJECT,
    description="Releases of visible skills, newest first.",
)
@extend_schema(
    methods=["POST"],
    request=OpenApiTypes.OBJECT,
    responses={201: OpenApiTypes.OBJECT},
    examples=examples.RELEASE,
    description="Propose a release; where the environment asks for no approval it goes live at once.",
)
@endpoint({"GET": "read", "POST": "release"})
@once
def release_list(request: Request) -> Response:
    """Releases, or a new proposal."""
    if request.method == "POST":
        return _propose(request)
    rows = visible_releases(access.powers(request)).select_related(
        "environment", "skill", "version", "previous", "proposer"
    )
    asked = request.query_params
    if environment := asked.get("environment"):
        rows = rows.filter(environment__name=environment)
    if state := asked.get("state"):
        rows = rows.filter(state=state)
    if skill := asked.get("skill"):
        rows = rows.filter(skill=access.skill_read(request, skill))
    return Response(page_of(request, rows, key="-proposed_at", show=show_row))


def _propose(request: Request) -> Response:
    fields = Fields(request.data)
    name, version = fields.text("skill", needed=True), fields.text("version", needed=True)
    environment_name = fields.text("environment", needed=True)
    note, canary = fields.text("note"), _canary(fields)
    fields.check()
    environment = Environment.objects.filter(name=environment_name).first()
    if environment is None:
        known = ", ".join(Environment.objects.values_list("name", flat=True))
        raise Problem(
            "environment-unknown",
            f"There is no environment {environment_name!r}; there are {known}.",
            status=422,
        )
    release = approvals.propose(
        version=access.version_read(request, name, version),
        environment=environment,
        actor=actor_of(request),
        note=note,
        canary=canary,
        now=timezone.now(),
    )
    return Response(show_release(release), status=201)


def _canary(fields: Fields) -> dict[str, Any]:
    """The plan of a gray release: its first percentage."""
    sent = Fields(fields.mapping("canary"))
    percent = sent.number("percent", least=1, most=100)
    fields.errors += sent.errors
    return {"percent": percent} if percent else {}


@extend_schema(responses=OpenApiTypes.OBJECT, description="One release with its gates and transitions.")
@endpoint({"GET": "read"})
def release_detail(request: Request, release_id: UUID) -> Response:
    """One release."""
    return Response(show_release(access.release_read(request, release_id)))


@extend_schema(
    request=OpenApiTypes.OBJECT,
    responses=OpenApiTypes.OBJECT,
    description="Act on a release: approve, reject, withdraw, start, advance, halt or rollback.",
)
@endpoint({"POST": "release"})
@once
def release_act(request: Request, release_id: UUID, action: str) -> Response:
    """Act on a release."""
    if action not in ACTIONS:
        raise Problem("action-unknown", f"{action} is no action; there are {', '.join(ACTIONS)}.", status=404)
    release, fields = access.release_read(request, release_id), Fields(request.data or {})
    changed = ACTIONS[action](release, fields, actor_of(request), timezone.now())
    return Response(show_release(changed))


def _approve(release: Release, fields: Fields, actor: Actor, now: datetime) -> Release:
    note, confirm = fields.text("note"), fields.text("confirm")
    fields.check()
    return approvals.approve(release=release, actor=actor, note=note, confirm=confirm, now=now)


def _reject(release: Release, fields: Fields, actor: Actor, now: datetime) -> Release:
    reason = fields.text("reason")
    fields.check()
    return approvals.reject(release=release, actor=actor, reason=reason, now=now)


def _withdraw(release: Release, fields: Fields, actor: Actor, now: datetime) -> Release:
    reason = fields.text("reason")
    fields.check()
    return approvals.withdraw(release=release, actor=actor, reason=reason, now=now)


def _start(release: Release, fields: Fields, actor: Actor, now: datetime) -> Release:
    percent = fields.number("percent", least=1, most=100)
    fields.check()
    return approvals.start(release=release, actor=actor, percent=percent, now=now)


def _advance(release: Release, fields: Fields, actor: Actor, now: datetime) -> Release:
    percent = fields.number("percent", least=1, most=100)
    fields.check()
    if percent is None:
        raise Problem("field-invalid", "percent is missing.", status=422)
    return approvals.advance(release=release, actor=actor, percent=percent, now=now)


def _halt(release: Release, fields: Fields, actor: Actor, now: datetime) -> Release:
    reason = fields.text("reason")
    fields.check()
    return approvals.halt(release=release, actor=actor, reason=reason, now=now)


def _roll_back(release: Release, fields: Fields, actor: Actor, now: datetime) -> Release:
    reason = fields.text("reason")
    fields.check()
    return approvals.roll_back(release=release, actor=actor, reason=reason, now=now)


ACTIONS: dict[str, Callable[[Release, Fields, Actor, datetime], Release]] = {
    "approve": _approve,
    "reject": _reject,
    "withdraw": _withdraw,
    "start": _start,
    "advance": _advance,
    "halt": _halt,
    "rollback": _roll_back,
}


def show_row(release: Release) -> dict[str, Any]:
    """A release as lists answer it."""
    return {
        "id": str(release.pk),
        "state": release.state,
        "skill": release.skill.name,
        "version": release.version.version,
        "bundle_sha256": release.bundle_sha256,
        "environment": release.environment.name,
        "percent": release.percent,
        "previous": release.previous.version if release.previous else None,
        "note": release.note,
        "proposer": release.proposer.username if release.proposer else None,
        "proposed_at": release.proposed_at,
        "changed_at": release.changed_at,
        "expires_at": release.expires_at if release.state in {State.PROPOSED, State.APPROVED} else None,
    }


def show_release(release: Release) -> dict[str, Any]:
    """A release with what it needs and has, its gates and its history."""
    seen = review(release)
    return {
        **show_row(release),
        "needs": asdict(seen.needs),
        "approvals": [
            {"user": one.user.username, "note": one.note, "at": one.created_at} for one in seen.approvals
        ],
        "gates": [asdict(gate) for gate in seen.gates],
        "canary": release.canary,
        "transitions": [
            {
                "n": one.n,
                "action": one.action,
                "from": one.from_state or None,
                "to": one.to_state,
                "by": one.actor.username if one.actor else None,
                "reason": one.reason,
                "at": one.created_at,
            }
            for one in release.transitions.select_related("actor").order_by("n")
        ],
    }
