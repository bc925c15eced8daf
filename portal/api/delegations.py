"""Delegations by REST: lending an approver's rights, and ending it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.delegations import Loan, as_loans, end_delegation, lend, visible_delegations
from portal import access
from portal.api.authentication import actor_of, bearer_of
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import people as examples
from portal.api.fields import LONGEST_NAME, Fields, read_moment
from portal.api.grants import LONGEST_USERNAME, known_environment, known_person, known_team
from portal.api.idempotency import once
from portal.api.paging import page_of


@described(
    "delegations",
    "Rights that you lend or that are lent to you, newest first; all of them for an administrator's token with "
    "the scope admin.",
    answers={200: "DelegationPage"},
    problems=(400,),
    query=CURSOR,
)
@described(
    "delegation_create",
    "Lend your own approver rights to somebody else, for a team and an environment or for all that you hold, now "
    "or later, for at most 90 days. Not the right to override, nor what was lent to you.",
    method="POST",
    sent={"application/json": "Lend"},
    answers={201: "Delegation"},
    problems=(400, 409, 415, 422),
    examples=examples.DELEGATION,
    once=True,
)
@endpoint({"GET": ("release", "admin"), "POST": "release"})
@once
def delegation_list(request: Request) -> Response:
    """Delegations, or a new one."""
    if request.method == "POST":
        return _lend(request)
    rows, me = visible_delegations(access.powers(request)), access.person(request)
    if "admin" not in bearer_of(request).scopes:
        rows = rows.filter(Q(giver=me) | Q(taker=me))
    told = page_of(request, rows, key="-created_at", show=lambda row: {"row": row})
    loans = as_loans([item["row"] for item in told["items"]], now=timezone.now())
    return Response({**told, "items": [show_delegation(loan) for loan in loans]})


def _lend(request: Request) -> Response:
    fields, now = Fields(request.data), timezone.now()
    taker = fields.text("taker", needed=True, longest=LONGEST_USERNAME)
    team = known_team(fields, fields.text("team", longest=LONGEST_NAME))
    environment = known_environment(fields, fields.text("environment", longest=LONGEST_NAME))
    starts_at, ends_at = _moment(fields, "starts_at"), _moment(fields, "ends_at", needed=True)
    reason = fields.reason()
    row = lend(
        giver=access.person(request),
        taker=known_person("taker", taker),
        team=team,
        environment=environment,
        starts_at=starts_at,
        ends_at=ends_at or now,
        reason=reason,
        actor=actor_of(request),
        now=now,
    )
    return Response(show_delegation(as_loans([row], now=now)[0]), status=201)


@described(
    "delegation_end",
    "End a delegation before its time: who gave it, who took it, and administrators with the scope admin. A "
    "second time changes nothing.",
    method="POST",
    sent={"application/json": "Nothing"},
    answers={200: "Delegation"},
    problems=(404, 415),
    once=True,
)
@endpoint({"POST": ("release", "admin")})
@once
def delegation_end(request: Request, delegation_id: UUID) -> Response:
    """End a delegation."""
    row, me, now = access.delegation_read(request, delegation_id), access.person(request), timezone.now()
    needed = "release" if me.pk in {row.giver_id, row.taker_id} else "admin"
    if needed not in bearer_of(request).scopes:
        raise PermissionDenied(f"The token lacks the scope {needed}.")
    ended = end_delegation(delegation=row, actor=actor_of(request), now=now)
    return Response(show_delegation(as_loans([ended], now=now)[0]))


def show_delegation(loan: Loan) -> dict[str, Any]:
    """A delegation as the API answers it; `in_force`: it gives something now."""
    row = loan.row
    return {
        "id": str(row.pk),
        "giver": row.giver.username,
        "taker": row.taker.username,
        "team": row.team.slug if row.team else None,
        "environment": row.environment.name if row.environment else None,
        "reason": row.reason,
        "starts_at": row.starts_at,
        "ends_at": row.ends_at,
        "ended_at": row.ended_at,
        "state": loan.state,
        "in_force": bool(loan.lent),
    }


def _moment(fields: Fields, name: str, *, needed: bool = False) -> datetime | None:
    text = fields.text(name, needed=needed, longest=64)
    try:
        return read_moment(name, text) if text else None
    except Problem as fault:
        fields.wrong(name, fault.detail)
        return None
