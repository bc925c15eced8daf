"""Skills by REST: who sees them, whose they are, and their end."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.lifecycle import StillNeeded, delete_skill
from catalog.models import Skill, Team, User
from catalog.ownership import NotOfTheTeam, settle, transfer
from portal import access
from portal.api.authentication import actor_of, ask_scope
from portal.api.described import described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.fields import Fields
from portal.api.idempotency import once


@described(
    "skill_transfer",
    "Give a skill to another team, with its versions, releases and rights: publishers of both teams, and "
    "administrators.",
    method="POST",
    sent={"application/json": "Transfer"},
    answers={200: "Ownership"},
    problems=(400, 404, 409, 422),
    once=True,
)
@endpoint({"POST": ("publish", "admin")})
@once
def skill_transfer(request: Request, name: str) -> Response:
    """Give a skill to another team."""
    skill, fields = access.skill_read(request, name), Fields(request.data)
    slug, reason = fields.text("team", needed=True, longest=64), fields.reason()
    team = Team.objects.filter(slug=slug).first()
    if team is None:
        raise Problem("team-unknown", f"There is no team {slug!r}.", status=422)
    ask_scope(request, skill.team, team)
    actor, now = actor_of(request), timezone.now()
    return Response(show_ownership(transfer(skill=skill, team=team, actor=actor, reason=reason, now=now)))


def change_skill(request: Request, skill: Skill) -> Skill:
    """Change what the body names: visibility, owner, maintainers."""
    ask_scope(request, skill.team)
    fields = Fields(request.data)
    visibility = fields.choice("visibility", Skill.Visibility.values)
    owner, maintainers = fields.text("owner", longest=150), fields.names("maintainers")
    fields.check()
    try:
        return settle(
            skill=skill,
            actor=actor_of(request),
            now=timezone.now(),
            visibility=visibility,
            owner=_people(owner)[0] if owner else None,
            maintainers=None if maintainers is None else _people(*maintainers),
        )
    except NotOfTheTeam as stranger:
        raise Problem("user-unknown", str(stranger), status=422) from stranger


def remove_skill(request: Request, skill: Skill) -> Skill:
    """Delete a skill; 409 where others depend on it, unless `although_needed`. In the query or the body."""
    ask_scope(request, skill.team)
    fields = Fields({**request.query_params.dict(), **Fields(request.data).data})
    although_needed, reason = fields.flag("although_needed"), fields.reason(needed=False)
    try:
        return delete_skill(
            skill=skill,
            actor=actor_of(request),
            reason=reason,
            although_needed=although_needed,
            now=timezone.now(),
        )
    except StillNeeded as needed:
        detail = f"{needed} Send although_needed=true to delete it nevertheless."
        raise Problem("skill-needed", detail, status=409) from needed


def show_ownership(skill: Skill) -> dict[str, Any]:
    """Whose a skill is."""
    return {
        "name": skill.name,
        "team": skill.team.slug,
        "visibility": skill.visibility,
        "owner": skill.owner.username if skill.owner else None,
        "maintainers": sorted(one.username for one in skill.maintainers.all()),
        "deleted_at": skill.deleted_at,
    }


def _people(*names: str) -> list[User]:
    found = {user.username: user for user in User.objects.filter(username__in=names, is_active=True)}
    unknown = [name for name in names if name not in found]
    if unknown:
        raise Problem("user-unknown", f"There is no user {unknown[0]!r}.", status=422)
    return [found[name] for name in names]
