"""Switching a skill off in environments, and on again."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from catalog.access import NotAllowed
from catalog.degradations import BadFallback, degrade, restore
from catalog.models import Environment, Skill
from catalog.transitions import WrongState
from portal import access
from portal.fragments import wants_part
from portal.frames import skill_frame
from portal.lanes import lanes_of
from portal.outages import degrade_form, restore_form, suggested_fallbacks, switching_of
from portal.shell import shell_of


@require_http_methods(["GET", "HEAD", "POST"])
def skill_degrade(request: HttpRequest, name: str) -> HttpResponse:
    """Switch the skill off where it is ticked; with `?suggest=1` the names that may stand in, for htmx."""
    skill = access.skill_read(request, name)
    lanes = lanes_of([skill.pk], shell_of(request).environments)[skill.pk]
    form = degrade_form(request, skill, lanes, request.POST if request.method == "POST" else None)
    if form is None:
        raise NotAllowed(_may_not(skill))
    if request.GET.get("suggest") and wants_part(request):
        names = suggested_fallbacks(request, skill, lanes)
        return render(request, "degradations/fallbacks.html", {"suggested": names})
    if form.is_valid():
        told = form.cleaned_data
        try:
            degrade(
                skill=skill,
                environments=form.chosen,
                fallback=told["fallback"],
                reason=told["reason"],
                actor=access.actor(request),
                now=timezone.now(),
            )
        except BadFallback as wrong:
            form.add_error("fallback", str(wrong))
        else:
            return _done(request, skill, _("%(name)s is switched off in %(places)s."), form.chosen)
    context = {
        "degrade_form": form,
        "outages": switching_of(request, skill, lanes)["outages"],
        "suggested": [] if wants_part(request) else suggested_fallbacks(request, skill, lanes),
    }
    return _show(request, skill, "degrade", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def skill_restore(request: HttpRequest, name: str) -> HttpResponse:
    """Switch the skill on again where it is ticked."""
    skill = access.skill_read(request, name)
    lanes = lanes_of([skill.pk], shell_of(request).environments)[skill.pk]
    form = restore_form(request, skill, lanes, request.POST if request.method == "POST" else None)
    if form is None:
        raise NotAllowed(_may_not(skill) if any(lane.off for lane in lanes) else _nothing_off(skill))
    status = 422 if form.is_bound else 200
    if form.is_valid():
        reason, now = form.cleaned_data["reason"], timezone.now()
        try:
            restore(
                skill=skill,
                environments=form.chosen,
                reason=reason,
                actor=access.actor(request),
                now=now,
            )
        except WrongState as late:
            form.add_error(None, str(late))
            status = 409
        else:
            return _done(request, skill, _("%(name)s is switched on again in %(places)s."), form.chosen)
    return _show(request, skill, "restore", {"restore_form": form}, status=status)


def _may_not(skill: Skill) -> str:
    told = {"name": skill.name, "team": skill.team.name}
    return _("Switching %(name)s off and on needs an approver, or a publisher in %(team)s.") % told


def _nothing_off(skill: Skill) -> str:
    return _("%(name)s is not switched off anywhere.") % {"name": skill.name}


def _done(request: HttpRequest, skill: Skill, sentence: str, places: list[Environment]) -> HttpResponse:
    """Back to the skill, whose lanes, callout and dialogs all differ now."""
    told = {"name": skill.name, "places": ", ".join(one.title for one in places)}
    messages.success(request, sentence % told)
    if wants_part(request):
        return HttpResponseClientRedirect(reverse("skill-detail", args=[skill.folder]))
    return redirect("skill-detail", skill.folder)


def _show(
    request: HttpRequest, skill: Skill, act: str, context: dict[str, Any], *, status: int
) -> HttpResponse:
    """The form in its dialog for htmx, else on a page of its own."""
    context |= {"skill": skill}
    if wants_part(request):
        return render(request, f"degradations/{act}_form.html", context, status=status)
    page = {**skill_frame(request, skill, "overview"), **context, "inline": True}
    return render(request, f"degradations/skill_{act}.html", page, status=status)
