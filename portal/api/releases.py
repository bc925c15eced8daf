"""Releases by REST (contract, Releases)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.canaries import PlanWrong, plan_of, read_plan
from catalog.models import Environment, Release, State
from catalog.visibility import visible_releases
from governance import approvals
from governance.clearing import review
from portal import access
from portal.api.authentication import actor_of
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import releases as examples
from portal.api.fields import Fields
from portal.api.idempotency import once
from portal.api.paging import page_of
from portal.decisions import ACTIONS, perform
from portal.forms.skills import LONGEST_REASON


@described(
    "releases",
    "Releases of visible skills, newest first.",
    answers={200: "ReleasePage"},
    problems=(400, 404),
    query={
        "environment": "The name of an environment.",
        "state": "A state of a release.",
        "skill": "A skill, in either spelling of its name.",
        **CURSOR,
    },
)
@described(
    "release_propose",
    "Propose a release; where the environment asks for no approval it goes live at once.",
    method="POST",
    sent={"application/json": "Propose"},
    answers={201: "Release"},
    problems=(400, 404, 409, 415, 422),
    examples=examples.RELEASE,
    once=True,
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
    note = fields.prose("note", longest=LONGEST_REASON)
    fields.mapping("canary")
    fields.check()
    environment = Environment.objects.filter(name=environment_name).first()
    if environment is None:
        known = ", ".join(Environment.objects.values_list("name", flat=True))
        raise Problem(
            "environment-unknown",
            f"There is no environment {environment_name!r}; there are {known}.",
            status=422,
        )
    try:
        release = approvals.propose(
            version=access.version_read(request, name, version),
            environment=environment,
            actor=actor_of(request),
            note=note,
            plan=read_plan(fields.mapping("canary"), least_soak=environment.soak_minutes),
            now=timezone.now(),
        )
    except PlanWrong as wrong:
        raise _wrong_plan(fields, wrong) from wrong
    return Response(show_release(release), status=201)


def _wrong_plan(fields: Fields, wrong: PlanWrong) -> Problem:
    for name, message in wrong.errors.items():
        fields.wrong(f"canary.{name}", message)
    return Problem("field-invalid", str(wrong), status=422, errors=fields.errors)


@described(
    "release",
    "One release with its gates, approvals and transitions.",
    answers={200: "Release"},
    problems=(404,),
)
@endpoint({"GET": "read"})
def release_detail(request: Request, release_id: UUID) -> Response:
    """One release."""
    return Response(show_release(access.release_read(request, release_id)))


@described(
    "release_act",
    "Act on a release: approve (note, confirm), reject (reason), withdraw (reason), start (percent), "
    "advance (percent), halt (reason), resume (percent), rollback (reason), override (gate, reason) or "
    "break_glass (reason). `percent` is 1 to 100, or 0 where the canary names callers. 409 in another "
    "state, at a shut gate, or for the loser of a race.",
    method="POST",
    sent={"application/json": "Act"},
    answers={200: "Release"},
    problems=(400, 404, 409, 415, 422),
    examples=examples.ACT,
    once=True,
)
@endpoint({"POST": "release"})
@once
def release_act(request: Request, release_id: UUID, action: str) -> Response:
    """Act on a release."""
    if action not in ACTIONS:
        raise Problem("action-unknown", f"{action} is no action; there are {', '.join(ACTIONS)}.", status=404)
    release, fields = access.release_read(request, release_id), Fields(request.data)
    sent = _sent(action, fields, least=0 if plan_of(release.canary).has_cohort else 1)
    changed = perform(action, release, sent, actor=actor_of(request), now=timezone.now())
    return Response(show_release(changed))


def _sent(action: str, fields: Fields, *, least: int) -> dict[str, Any]:
    """What the action takes of the body, a share from `least` percent on; raises Problem."""
    act = ACTIONS[action]
    sent: dict[str, Any] = {
        name: fields.number(name, least=least, most=100) if name == "percent" else _said(fields, name)
        for name in act.takes
    }
    fields.check()
    missing = [name for name in act.needs if sent[name] in (None, "")]
    if missing:
        raise Problem("field-invalid", f"{missing[0]} is missing.", status=422)
    return sent


def _said(fields: Fields, name: str) -> str:
    """A text of the body: the skill's and a gate's name to the letter, the rest as it is kept."""
    if name in {"confirm", "gate"}:
        return fields.text(name, longest=LONGEST_REASON)
    return fields.prose(name, longest=LONGEST_REASON)


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
        "next_step_at": release.next_step_at,
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
            {
                "user": one.user.username,
                "right_of": one.right_of.username,
                "note": one.note,
                "at": one.created_at,
            }
            for one in seen.approvals
        ],
        "gates": [asdict(gate) for gate in seen.gates],
        "overrides": [
            {
                "gate": one.gate,
                "detail": one.detail,
                "reason": one.reason,
                "by": one.user.username,
                "at": one.created_at,
            }
            for one in release.overrides.select_related("user")
        ],
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
