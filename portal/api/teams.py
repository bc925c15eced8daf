"""Teams by REST."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import Grant, Team
from catalog.teams import create_team, remove_team, rename_team
from catalog.visibility import visible_skills
from portal import access
from portal.api.authentication import actor_of
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.examples import people as examples
from portal.api.fields import Fields
from portal.api.idempotency import once
from portal.api.paging import page_of

MOST_GRANTS = 1000


@described(
    "teams",
    "Every team, by its short name.",
    answers={200: "TeamPage"},
    problems=(400,),
    query={"q": "Part of a name.", **CURSOR},
)
@described(
    "team_create",
    "Make a team. The slug is made of the name where it is absent, and fixed from then on. For administrators.",
    method="POST",
    sent={"application/json": "TeamNew"},
    answers={201: "TeamDetail"},
    problems=(400, 409, 415, 422),
    examples=examples.TEAM,
    once=True,
)
@endpoint({"GET": "read", "POST": "admin"})
@once
def team_list(request: Request) -> Response:
    """Teams, or a new one."""
    if request.method == "POST":
        fields = Fields(request.data)
        name, slug = fields.text("name", needed=True), fields.text("slug")
        fields.check()
        team = create_team(name=name, slug=slug, actor=actor_of(request), now=timezone.now())
        return Response(show_team(request, team), status=201)
    rows = Team.objects.all()
    if text := request.query_params.get("q", "")[:200]:
        rows = rows.filter(Q(name__icontains=text) | Q(slug__icontains=text))
    told = page_of(request, rows, key="slug", show=lambda team: {"team": team})
    return Response({**told, "items": _show_rows(request, [item["team"] for item in told["items"]])})


@described(
    "team",
    "One team with its members and their roles.",
    answers={200: "TeamDetail"},
    problems=(404,),
)
@described(
    "team_rename",
    "Give a team another name; its slug stays. For administrators.",
    method="PATCH",
    sent={"application/json": "TeamRename"},
    answers={200: "TeamDetail"},
    problems=(400, 404, 409, 415, 422),
    once=True,
)
@described(
    "team_remove",
    "Remove a team that nothing refers to; 409 says what does. Answers what it was. For administrators.",
    method="DELETE",
    answers={200: "TeamDetail"},
    problems=(404, 409),
    once=True,
)
@endpoint({"GET": "read", "PATCH": "admin", "DELETE": "admin"})
@once
def team_detail(request: Request, slug: str) -> Response:
    """One team, its new name, or its end."""
    team = access.team_read(slug)
    actor, now = actor_of(request), timezone.now()
    if request.method == "PATCH":
        fields = Fields(request.data)
        name = fields.text("name", needed=True)
        fields.check()
        team = rename_team(team=team, name=name, actor=actor, now=now)
    shown = show_team(request, team)
    if request.method == "DELETE":
        remove_team(team=team, actor=actor, now=now)
    return Response(shown)


def show_team(request: Request, team: Team) -> dict[str, Any]:
    """A team with its members; a person who has several roles stands there once."""
    grants = Grant.objects.filter(team=team, user__is_active=True).select_related("user", "environment")
    people: dict[str, dict[str, Any]] = {}
    for grant in grants.order_by("user__username", "role", "environment__order")[:MOST_GRANTS]:
        user = grant.user
        person = people.setdefault(user.username, {"username": user.username, "name": str(user), "roles": []})
        person["roles"].append(
            {
                "role": grant.role,
                "environment": grant.environment.name if grant.environment else None,
                "may_override": grant.may_override,
            }
        )
    return {**_show_rows(request, [team])[0], "people": list(people.values())}


def _show_rows(request: Request, teams: list[Team]) -> list[dict[str, Any]]:
    """The teams with how many belong to each and how many of its skills the caller sees; two queries."""
    members = Grant.objects.filter(team__in=teams, user__is_active=True).order_by().values("team")
    skills = visible_skills(access.powers(request)).filter(team__in=teams).order_by().values("team")
    member_counts = dict(members.values_list("team").annotate(Count("user", distinct=True)))
    skill_counts = dict(skills.values_list("team").annotate(Count("pk")))
    return [
        {
            "slug": team.slug,
            "name": team.name,
            "members": member_counts.get(team.pk, 0),
            "skills": skill_counts.get(team.pk, 0),
        }
        for team in teams
    ]
