"""Teams: who belongs to them, and what is theirs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.access import NotAllowed
from catalog.grants import BadGrant, give_grant
from catalog.leaving import NotClosable, leave_team, look_ahead
from catalog.models import Grant, Role, Team, User
from catalog.ownership import NotOfTheTeam
from catalog.teams import (
    REFUSAL,
    BadTeam,
    StillReferred,
    TeamTaken,
    create_team,
    references_to,
    remove_team,
    rename_team,
)
from catalog.visibility import visible_agents, visible_skills
from portal import access
from portal.forms.people import HeirsForm, MemberForm, RenameForm, TeamForm
from portal.fragments import render_part

PAGE_SIZE = 50
MOST_SKILLS, MOST_AGENTS, MOST_GRANTS, MOST_NAMES = 20, 50, 500, 300


@require_safe
def team_list(request: HttpRequest) -> HttpResponse:
    """Every team, with how many belong to it and how many of its skills the user sees."""
    asked = request.GET.get("q", "").strip()[:200]
    teams = Team.objects.filter(Q(name__icontains=asked) | Q(slug__icontains=asked))
    page = Paginator(teams.order_by("name", "pk"), PAGE_SIZE).get_page(request.GET.get("page"))
    shown = [team.pk for team in page]
    members = Grant.objects.filter(team__in=shown, user__is_active=True).order_by().values("team")
    skills = visible_skills(access.powers(request)).filter(team__in=shown).order_by().values("team")
    member_counts = dict(members.values_list("team").annotate(Count("user", distinct=True)))
    skill_counts = dict(skills.values_list("team").annotate(Count("pk")))
    context = {
        "asked": asked,
        "page": page,
        "rows": [(team, member_counts.get(team.pk, 0), skill_counts.get(team.pk, 0)) for team in page],
        "mine": access.powers(request).team_ids,
    }
    return render_part(request, "teams/team_list.html", "rows", context)


@require_http_methods(["GET", "HEAD", "POST"])
def team_create(request: HttpRequest) -> HttpResponse:
    """Make a team."""
    access.ask_administrator(request, REFUSAL)
    form = TeamForm(request.POST if request.method == "POST" else None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                team = create_team(**form.cleaned_data, actor=access.actor(request), now=timezone.now())
            except (BadTeam, TeamTaken) as fault:
                form.add_error(None, str(fault))
            else:
                messages.success(request, _("%(name)s is there. Give its first roles.") % {"name": team.name})
                return redirect("team-detail", team.slug)
    return render(request, "teams/team_create.html", {"form": form}, status=status)


@require_safe
def team_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """A team: its members with their roles, its skills and its agents, as far as the user sees them."""
    return _show(request, access.team_read(slug))


@require_POST
def team_rename(request: HttpRequest, slug: str) -> HttpResponse:
    """Give the team another name; its address stays."""
    team = _team_to_change(request, slug)
    form = RenameForm(request.POST)
    if form.is_valid():
        name, now = form.cleaned_data["name"], timezone.now()
        try:
            team = rename_team(team=team, name=name, actor=access.actor(request), now=now)
        except (BadTeam, TeamTaken) as fault:
            form.add_error("name", str(fault))
        else:
            messages.success(request, _("The team is called %(name)s now.") % {"name": team.name})
            return redirect("team-detail", team.slug)
    return _show(request, team, status=422, rename_form=form)


@require_POST
def team_remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Remove a team that nothing refers to."""
    team = _team_to_change(request, slug)
    try:
        remove_team(team=team, actor=access.actor(request), now=timezone.now())
    except StillReferred as fault:
        return _show(request, team, status=409, refused=str(fault))
    messages.success(request, _("%(name)s is removed.") % {"name": team.name})
    return redirect("team-list")


@require_POST
def team_grant(request: HttpRequest, slug: str) -> HttpResponse:
    """Give a person a role in the team."""
    team = _team_to_change(request, slug)
    form = MemberForm(request.POST, team=team, auto_id="member-%s")
    if form.is_valid():
        person: User = form.cleaned_data["person"]
        actor, now = access.actor(request), timezone.now()
        try:
            grant = give_grant(user=person, wanted=form.wanted(), actor=actor, now=now)
        except BadGrant as fault:
            form.add_error(None, str(fault))
        else:
            told = {"name": str(person), "role": grant.get_role_display()}
            messages.success(request, _("%(name)s has the role %(role)s.") % told)
            return redirect("team-detail", team.slug)
    return _show(request, team, status=422, member_form=form)


@require_http_methods(["GET", "HEAD", "POST"])
def team_leave(request: HttpRequest, slug: str) -> HttpResponse:
    """Leave a team: what goes is shown first."""
    team, person, now = access.team_read(slug), access.person(request), timezone.now()
    seen = look_ahead(person=person, now=now, team=team)
    if not seen.grants:
        raise NotAllowed(_("You do not belong to %(team)s.") % {"team": team.name})
    sent = request.POST if request.method == "POST" else None
    form = HeirsForm(sent, person=person, teams=seen.teams, ask_reason=False)
    if sent is not None and form.is_valid():
        heir, reason = form.heirs.get(team.pk), form.cleaned_data["reason"]
        actor = access.actor(request)
        try:
            leave_team(person=person, team=team, actor=actor, now=now, reason=reason, heir=heir)
        except (NotClosable, NotOfTheTeam) as fault:
            form.add_error(None, str(fault))
        else:
            messages.success(request, _("You have left %(team)s.") % {"team": team.name})
            return redirect("profile")
    context = {"team": team, "leaving": seen, "form": form}
    return render(request, "teams/team_leave.html", context, status=200 if sent is None else 422)


def members_of(grants: Iterable[Grant]) -> list[tuple[User, list[Grant]]]:
    """The people of these grants, which lie together, each with theirs."""
    return [(person, list(held)) for person, held in groupby(grants, key=lambda grant: grant.user)]


def _team_to_change(request: HttpRequest, slug: str) -> Team:
    access.ask_administrator(request, REFUSAL)
    return access.team_read(slug)


def _show(request: HttpRequest, team: Team, *, status: int = 200, **more: Any) -> HttpResponse:
    """The page; a form that was sent comes back with what is wrong in it."""
    powers = access.powers(request)
    skills = visible_skills(powers).filter(team=team).select_related("latest").order_by("name")
    agents = visible_agents(powers).filter(team=team).order_by("name")
    grants = Grant.objects.filter(user__is_active=True).select_related("user", "environment", "team")
    by_name = grants.order_by(
        "user__first_name", "user__last_name", "user__username", "role", "environment__order"
    )
    everywhere = by_name.filter(team=None).exclude(role__in=[Role.READER, Role.ADMIN])
    found = list(skills[: MOST_SKILLS + 1])
    context: dict[str, Any] = {
        "team": team,
        "members": members_of(by_name.filter(team=team)[:MOST_GRANTS]),
        "everywhere": members_of(everywhere[:MOST_GRANTS]),
        "skills": found[:MOST_SKILLS],
        "more_skills": len(found) > MOST_SKILLS,
        "agents": list(agents[:MOST_AGENTS]),
        "sees_agents": powers.may_manage_agents(team),
        "may_change": powers.is_admin,
        "may_leave": team.pk in powers.team_ids,
    }
    if powers.is_admin:
        context |= {
            "references": references_to(team),
            "rename_form": RenameForm(initial={"name": team.name}),
            "member_form": MemberForm(team=team, auto_id="member-%s"),
            "names": access.known_people(MOST_NAMES),
        }
    return render(request, "teams/team_detail.html", {**context, **more}, status=status)
