"""Switching a skill off and on by REST (contract, Releases)."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.degradations import degrade, restore
from catalog.models import Environment, Skill
from portal import access
from portal.api.authentication import actor_of
from portal.api.described import described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import skills as examples
from portal.api.fields import Fields
from portal.api.idempotency import once
from portal.api.skills import read_skill, show_skill


@described(
    "skill_degrade",
    "Switch a skill off in these environments, all where none is named, or in none of them: agents are told "
    "why, and by which skill it is replaced, which must be live wherever the first is served. Where it is off "
    "already, reason and fallback are replaced. An approver there, or a publisher of the owning team.",
    method="POST",
    sent={"application/json": "Degrade"},
    answers={200: "Skill"},
    problems=(400, 404, 409, 415, 422),
    examples=examples.DEGRADE,
    once=True,
)
@endpoint({"POST": "release"})
@once
def skill_degrade(request: Request, name: str) -> Response:
    """Switch a skill off."""
    skill, fields = access.skill_read(request, name), Fields(request.data)
    environments, other = _environments(fields), fields.text("fallback")
    reason = fields.reason()
    degrade(
        skill=skill,
        environments=environments,
        fallback=_fallback(request, other) if other else None,
        reason=reason,
        actor=actor_of(request),
        now=timezone.now(),
    )
    return Response(show_skill(read_skill(skill)))


@described(
    "skill_restore",
    "Switch a skill on again in these environments, or wherever it is off; 409 where it is off in none of them.",
    method="POST",
    sent={"application/json": "Restore"},
    answers={200: "Skill"},
    problems=(400, 404, 409, 415, 422),
    once=True,
)
@endpoint({"POST": "release"})
@once
def skill_restore(request: Request, name: str) -> Response:
    """Switch a skill on again."""
    skill, fields = access.skill_read(request, name), Fields(request.data)
    environments, reason = _environments(fields), fields.reason(needed=False)
    restore(
        skill=skill, environments=environments, reason=reason, actor=actor_of(request), now=timezone.now()
    )
    return Response(show_skill(read_skill(skill)))


def _environments(fields: Fields) -> Sequence[Environment] | None:
    """The environments of the body, None where it names none; a list without any is a mistake."""
    names = fields.names("environments")
    if names is None:
        return None
    found = {one.name: one for one in Environment.objects.all()}
    unknown = [name for name in names if name not in found]
    if unknown:
        fields.wrong("environments", f"There is no environment {unknown[0]!r}; there are {', '.join(found)}.")
    elif not names:
        fields.wrong("environments", "environments is empty; leave it out for all of them.")
    return [found[name] for name in names if name in found]


def _fallback(request: Request, name: str) -> Skill:
    """The skill that is named, if this user sees one."""
    try:
        return access.skill_read(request, name)
    except access.NotFound as missing:
        detail = f"There is no skill {name[:64]!r} to stand in."
        raise Problem("fallback-invalid", detail, status=422, near=list(missing.near)) from missing
