"""The record by REST: skills."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.bundles.bundle import RISKS
from catalog.models import SERVED, Degradation, Release, Skill, State
from catalog.switches import is_shown_alike
from catalog.visibility import visible_skills
from portal import access
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.idempotency import once
from portal.api.ownership import change_skill, remove_skill, show_ownership
from portal.api.paging import page_of
from portal.filters import anywhere, in_environments, tagged, with_risk, with_words


@described(
    "skills",
    "The skills that the token's owner may see, by name.",
    answers={200: "SkillPage"},
    problems=(400,),
    query={
        "q": "Words, each a part of the name, the description or a tag.",
        "team": "The slug of the owning team.",
        "set": "The slug of a skill set.",
        "tag": "A tag of the latest version.",
        "risk": "low, medium or high: the effective risk of the latest version.",
        "environment": "Served in this environment, or in the status that is asked for.",
        "status": "A state of a release: proposed, live …",
        **CURSOR,
    },
)
@endpoint({"GET": "read"})
def skill_list(request: Request) -> Response:
    """The skills that the token's owner may see."""
    skills = _filtered(request, visible_skills(access.powers(request)))
    return Response(page_of(request, _with_parts(skills), key="name", show=show_skill))


@described("skill", "One skill.", answers={200: "Skill"}, problems=(404,))
@described(
    "skill_settle",
    "Change who sees a skill and who answers for it; what is absent stays. Publishers of its team, and "
    "administrators.",
    method="PATCH",
    sent={"application/json": "Settle"},
    answers={200: "Ownership"},
    problems=(400, 404, 409, 422),
    once=True,
)
@described(
    "skill_delete",
    "Take a skill out of view and out of every feed, pinned sessions included; its name is never free. 409 "
    "where others depend on it, unless `although_needed` is sent.",
    method="DELETE",
    query={
        "reason": "Why; it is kept in the audit log.",
        "although_needed": "true deletes it although other skills depend on it.",
    },
    answers={200: "Ownership"},
    problems=(400, 404, 409, 422),
    once=True,
)
@endpoint({"GET": "read", "PATCH": ("publish", "admin"), "DELETE": ("publish", "admin")})
@once
def skill_detail(request: Request, name: str) -> Response:
    """One skill; PATCH changes who sees and owns it, DELETE takes it away."""
    skill = access.skill_read(request, name)
    if request.method == "PATCH":
        return Response(show_ownership(change_skill(request, skill)))
    if request.method == "DELETE":
        return Response(show_ownership(remove_skill(request, skill)))
    return Response(show_skill(read_skill(skill)))


def read_skill(skill: Skill) -> Skill:
    """The skill as it is now, with all that is shown of it."""
    return _with_parts(Skill.objects.filter(pk=skill.pk)).get()


def _filtered(request: Request, skills: QuerySet[Skill]) -> QuerySet[Skill]:
    """The skills that match, by the rules of the catalog's page."""
    asked = request.query_params
    skills = with_words(skills, asked.get("q", ""))
    if team := asked.get("team"):
        skills = skills.filter(team__slug=team)
    if slug := asked.get("set"):
        skills = skills.filter(sets__slug=slug)
    if tag := asked.get("tag"):
        skills = tagged(skills, [tag])
    if risk := asked.get("risk"):
        if risk not in RISKS:
            raise Problem("field-invalid", f"risk is not one of {', '.join(RISKS)}.")
        skills = with_risk(skills, [risk])
    status = asked.get("status")
    states = (status,) if status else SERVED
    if environment := asked.get("environment"):
        return in_environments(skills, [environment], states=states)
    return anywhere(skills, states=states) if status else skills


def _with_parts(skills: QuerySet[Skill]) -> QuerySet[Skill]:
    served = Release.objects.filter(state__in=SERVED).select_related("environment", "version")
    off = Degradation.objects.filter(restored_at=None).select_related("environment", "fallback", "by")
    return skills.select_related("team", "owner", "latest").prefetch_related(
        "tags",
        "sets",
        Prefetch("releases", queryset=served, to_attr="served"),
        Prefetch("degradations", queryset=off, to_attr="off"),
    )


def show_skill(skill: Skill) -> dict[str, Any]:
    """A skill as the API answers it; what is said of environments is by their names."""
    latest = skill.latest
    return {
        "skill_id": skill.folder,
        "name": skill.name,
        "folder": skill.folder,
        "team": skill.team.slug,
        "owner": skill.owner.username if skill.owner else None,
        "visibility": skill.visibility,
        "sets": sorted(one.slug for one in skill.sets.all()),
        "tags": sorted(one.tag for one in skill.tags.all()),
        "latest_version": latest.version if latest else None,
        "description": latest.description if latest else "",
        "risk_level": latest.effective_risk if latest else None,
        "stability": latest.stability if latest else None,
        "environments": _show_places(skill),
        "switched_off": _show_switches(skill),
        "created_at": skill.created_at,
        "updated_at": skill.updated_at,
    }


def _show_places(skill: Skill) -> dict[str, dict[str, Any]]:
    """By the name of each environment: what is served there."""
    places: dict[str, dict[str, Any]] = {}
    served: list[Release] = getattr(skill, "served", [])
    for release in served:
        place = places.setdefault(release.environment.name, {"live": None, "canary": None, "percent": None})
        place[release.state] = release.version.version
        if release.state == State.CANARY:
            place["percent"] = release.percent
    return places


def _show_switches(skill: Skill) -> dict[str, dict[str, Any]]:
    """By the name of each environment where it is switched off: why, by whom and when, and what stands in."""
    off: list[Degradation] = getattr(skill, "off", [])
    return {row.environment.name: _show_switch(skill, row) for row in off}


def _show_switch(skill: Skill, row: Degradation) -> dict[str, Any]:
    """The fallback is named where whoever sees the skill sees it too."""
    shown = row.fallback if row.fallback and is_shown_alike(row.fallback, skill) else None
    return {
        "reason": row.reason,
        "fallback": shown.name if shown else None,
        "by": row.by.username if row.by else None,
        "at": row.at,
    }
