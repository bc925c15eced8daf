"""The settings of a skill: who sees it, who answers for it, whose it is, and its end."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from catalog.access import NotAllowed
from catalog.lifecycle import StillNeeded, delete_skill, who_depends_on
from catalog.models import Skill, Team
from catalog.ownership import may_settle, settle, transfer
from catalog.visibility import teams_to_manage, visible_skills
from portal import access
from portal.forms.skills import DeleteForm, SettingsForm, TransferForm
from portal.frames import skill_frame


@require_http_methods(["GET", "HEAD", "POST"])
def skill_settings(request: HttpRequest, name: str) -> HttpResponse:
    """Visibility, owner and co-maintainers; and the forms of transfer and deletion."""
    skill = _skill(request, name)
    if request.method != "POST":
        return _show(request, skill)
    form = SettingsForm(request.POST, skill=skill)
    if not form.is_valid():
        return _show(request, skill, status=422, form=form)
    data = form.cleaned_data
    settle(
        skill=skill,
        actor=access.actor(request),
        now=timezone.now(),
        visibility=data["visibility"],
        owner=data["owner"],
        maintainers=list(data["maintainers"]),
    )
    messages.success(request, _("The settings of %(name)s are saved.") % {"name": skill.name})
    return redirect("skill-settings", skill.folder)


@require_POST
def skill_transfer(request: HttpRequest, name: str) -> HttpResponse:
    """Give the skill to another team."""
    skill = _skill(request, name)
    form = TransferForm(request.POST, teams=_teams(request, skill))
    if not form.is_valid():
        return _show(request, skill, status=422, transfer_form=form)
    team: Team = form.cleaned_data["team"]
    reason, now = form.cleaned_data["reason"], timezone.now()
    transfer(skill=skill, team=team, actor=access.actor(request), reason=reason, now=now)
    told = {"name": skill.name, "team": team.name}
    messages.success(request, _("%(name)s belongs to %(team)s now.") % told)
    return redirect("skill-detail", skill.folder)


@require_POST
def skill_delete(request: HttpRequest, name: str) -> HttpResponse:
    """Take the skill out of view and of every feed, for good."""
    skill = _skill(request, name)
    form = DeleteForm(request.POST, skill=skill)
    if not form.is_valid():
        return _show(request, skill, status=422, delete_form=form)
    try:
        delete_skill(
            skill=skill,
            actor=access.actor(request),
            reason=form.cleaned_data["reason"],
            although_needed=form.cleaned_data["although_needed"],
            now=timezone.now(),
        )
    except StillNeeded as needed:
        told = ngettext("%(n)d skill depends on it.", "%(n)d skills depend on it.", len(needed.folders))
        form.add_error("although_needed", told % {"n": len(needed.folders)})
        return _show(request, skill, status=409, delete_form=form)
    messages.success(request, _("%(name)s is deleted. Its name is never given again.") % {"name": skill.name})
    return redirect("skill-list")


def _skill(request: HttpRequest, name: str) -> Skill:
    skill = access.skill_read(request, name)
    if not may_settle(access.powers(request), skill):
        told = {"team": skill.team.name}
        raise NotAllowed(_("This needs the role publisher in %(team)s, or an administrator.") % told)
    return skill


def _teams(request: HttpRequest, skill: Skill) -> QuerySet[Team]:
    """The teams that this user may give the skill to."""
    return teams_to_manage(access.powers(request)).exclude(pk=skill.team_id)


def _show(request: HttpRequest, skill: Skill, *, status: int = 200, **forms: Any) -> HttpResponse:
    """The page; a form that was sent comes back with what is wrong in it."""
    needed_by = who_depends_on(skill)
    seen = visible_skills(access.powers(request)).filter(folder__in=needed_by)
    teams = _teams(request, skill)
    context = {
        **skill_frame(request, skill, "settings"),
        "form": SettingsForm(skill=skill),
        "transfer_form": TransferForm(teams=teams),
        "delete_form": DeleteForm(skill=skill),
        "may_transfer": teams.exists(),
        "needed_by": list(seen.order_by("name")),
        "needed_by_unseen": len(needed_by) - len(seen),
        **forms,
    }
    return render(request, "skills/skill_settings.html", context, status=status)
