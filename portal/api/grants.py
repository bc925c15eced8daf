"""Grants by REST, for administrators."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.grants import REFUSAL, Wanted, give_grant, take_grant
from catalog.models import Environment, Grant, Role, Team, User
from portal import access
from portal.api.authentication import actor_of
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import people as examples
from portal.api.fields import LONGEST_NAME, Fields
from portal.api.idempotency import once
from portal.api.paging import page_of

LONGEST_USERNAME = 150


@described(
    "grants",
    "Who has which role, for which team and environment (null: for all). For administrators.",
    answers={200: "GrantPage"},
    problems=(400,),
    query={"user": "A user name.", "team": "The slug of a team.", "role": "A role.", **CURSOR},
)
@described(
    "grant_create",
    "Give a role; the same one again changes nothing but `may_override`. For administrators.",
    method="POST",
    sent={"application/json": "GrantNew"},
    answers={201: "Grant"},
    problems=(400, 409, 415, 422),
    examples=examples.GRANT,
    once=True,
)
@endpoint({"GET": "admin", "POST": "admin"})
@once
def grant_list(request: Request) -> Response:
    """Grants, or a new one."""
    access.ask_administrator(request, REFUSAL)
    if request.method == "POST":
        fields = Fields(request.data)
        username = fields.text("user", needed=True, longest=LONGEST_USERNAME)
        wanted = read_wanted(fields)
        user = known_person("user", username)
        made = give_grant(user=user, wanted=wanted, actor=actor_of(request), now=timezone.now())
        return Response(show_grant(made), status=201)
    asked = {"user": "user__username", "team": "team__slug", "role": "role"}
    narrowed = {
        field: request.query_params[name] for name, field in asked.items() if name in request.query_params
    }
    rows = Grant.objects.filter(**narrowed).select_related("user", "team", "environment")
    return Response(page_of(request, rows, key="id", show=show_grant))


@described(
    "grant_remove",
    "Take a role away; 409 where it is the last administrator's. Answers what it was. For administrators.",
    method="DELETE",
    answers={200: "Grant"},
    problems=(404, 409),
    once=True,
)
@endpoint({"DELETE": "admin"})
@once
def grant_remove(request: Request, grant_id: UUID) -> Response:
    """Take a role away."""
    access.ask_administrator(request, REFUSAL)
    grant = Grant.objects.filter(pk=grant_id).select_related("user", "team", "environment").first()
    if grant is None:
        raise Problem("not-found", "There is no such grant.", status=404)
    take_grant(grant=grant, actor=actor_of(request), now=timezone.now())
    return Response(show_grant(grant))


def read_wanted(fields: Fields) -> Wanted:
    """The grant that a body asks for; raises Problem for this and every field before it."""
    role = fields.choice("role", Role.values) or fields.text("role", needed=True)
    slug = fields.text("team", longest=LONGEST_NAME)
    place = fields.text("environment", longest=LONGEST_NAME)
    may_override = fields.flag("may_override") if fields.has("may_override") else None
    team, environment = known_team(fields, slug), known_environment(fields, place)
    fields.check()
    return Wanted(Role(role), team, environment, may_override)


def known_team(fields: Fields, slug: str) -> Team | None:
    """The team of that slug; None where none is named."""
    team = Team.objects.filter(slug=slug).first() if slug else None
    if slug and team is None:
        fields.wrong("team", f"There is no team {slug!r}.")
    return team


def known_environment(fields: Fields, name: str) -> Environment | None:
    """The environment of that name; None where none is named."""
    environment = Environment.objects.filter(name=name).first() if name else None
    if name and environment is None:
        known = ", ".join(Environment.objects.values_list("name", flat=True))
        fields.wrong("environment", f"There is no environment {name!r}; there are {known}.")
    return environment


def known_person(field: str, username: str) -> User:
    """Who can sign in by that user name; raises Problem."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        error = {"field": field, "code": "user-unknown", "message": f"There is no user {username!r}."}
        raise Problem("user-unknown", error["message"], status=422, errors=[error])
    return user


def show_grant(grant: Grant) -> dict[str, Any]:
    """A grant as the API answers it."""
    return {
        "id": str(grant.pk),
        "user": grant.user.username,
        "role": grant.role,
        "team": grant.team.slug if grant.team else None,
        "environment": grant.environment.name if grant.environment else None,
        "may_override": grant.may_override,
    }
