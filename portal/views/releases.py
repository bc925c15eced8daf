"""Releases of a skill: the list, a proposal, one release, and what is decided on it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, retarget, trigger_client_event

from catalog.access import NotAllowed
from catalog.models import Environment, Release, Skill
from catalog.releases import NotCleared, WrongState
from catalog.shortfalls import shortfalls
from governance import approvals
from governance.gates import check_gates, policy_of, subject_of
from governance.policy import needs_of
from governance.refusals import ReasonMissing
from portal import access
from portal.access import NotFound
from portal.decisions import ACTIONS, perform
from portal.forms.releases import DecisionForm, ProposeForm
from portal.fragments import render_part, wants_part
from portal.frames import skill_frame
from portal.release_page import release_context, what_happened
from portal.shell import shell_of

PAGE_SIZE = 50
REFUSALS = (NotAllowed, WrongState, NotCleared)


@require_safe
def release_list(request: HttpRequest, name: str) -> HttpResponse:
    """The releases of a skill, newest first."""
    skill = access.skill_read(request, name)
    releases = skill.releases.select_related("environment", "version", "proposer").order_by(
        "-proposed_at", "-pk"
    )
    context = skill_frame(request, skill, "releases")
    page = Paginator(releases, PAGE_SIZE).get_page(request.GET.get("page"))
    found = shortfalls(shell_of(request).environments)
    context["page"] = page
    context["rows"] = [(one, found.of(one)) for one in page]
    context["may_propose"] = bool(_environments(request, skill))
    return render_part(request, "releases/release_list.html", "tab", context)


@require_http_methods(["GET", "HEAD", "POST"])
def release_propose(request: HttpRequest, name: str) -> HttpResponse:
    """Propose a version for an environment; `version`, `environment` and `note` may be in the address."""
    skill = access.skill_read(request, name)
    environments = _environments(request, skill)
    if not environments:
        return render(request, "releases/release_propose.html", {"skill": skill}, status=403)
    if request.method != "POST":
        initial = {
            key: request.GET[key]
            for key in ("version", "environment", "note", "percent")
            if key in request.GET
        }
        form = ProposeForm(skill=skill, environments=environments, initial=initial)
        return _show_proposal(request, skill, form)
    form = ProposeForm(request.POST, skill=skill, environments=environments)
    version, environment = form.chosen()
    if not form.is_valid() or version is None or environment is None:
        return _show_proposal(request, skill, form, status=422)
    try:
        release = approvals.propose(
            version=version,
            environment=environment,
            actor=access.actor(request),
            note=form.cleaned_data["note"],
            plan=form.plan,
            now=timezone.now(),
        )
    except REFUSALS as refusal:
        form.add_error(None, str(refusal))
        return _show_proposal(request, skill, form, status=_status_of(refusal))
    messages.success(request, what_happened(release))
    return redirect("release-detail", release.pk)


@require_safe
def release_detail(request: HttpRequest, release_id: UUID) -> HttpResponse:
    """One release: its state, what it needs, what it reaches, and what this user can do."""
    release = access.release_read(request, release_id)
    context = release_context(request, release, asked_diff=request.GET.get("diff", ""))
    if wants_part(request) and context["diff"]:
        return render(request, "releases/diff.html", context)
    return render(request, "releases/release_detail.html", context)


@require_POST
def release_act(request: HttpRequest, release_id: UUID, action: str) -> HttpResponse:
    """Do one thing with a release; what is missing comes back with its form, a lost race with the page."""
    if action not in ACTIONS:
        raise NotFound(_("There is no such action"))
    release = access.release_read(request, release_id)
    form = DecisionForm(request.POST)
    if "percent" in ACTIONS[action].needs and form.is_valid() and not form.cleaned_data["percent"]:
        form.add_error("percent", _("Give the share of callers, 1 to 100."))
    if not form.is_valid():
        return _ask_again(request, release, action, form)
    try:
        changed = perform(action, release, form.cleaned_data, actor=access.actor(request), now=timezone.now())
    except ReasonMissing as missing:
        form.add_error("reason", str(missing))
    except approvals.NotConfirmed as missing:
        form.add_error("confirm", str(missing))
    except REFUSALS as refusal:
        return _refuse(request, release_id, refusal)
    else:
        return _done(request, release_id, changed)
    return _ask_again(request, release, action, form)


def _environments(request: HttpRequest, skill: Skill) -> list[Environment]:
    """Where this user may propose releases of the skill."""
    powers = access.powers(request)
    if not powers.is_publisher:
        return []
    return [one for one in Environment.objects.all() if powers.may_propose(skill, one)]


def _show_proposal(
    request: HttpRequest, skill: Skill, form: ProposeForm, *, status: int = 200
) -> HttpResponse:
    """The form, and beside it what the chosen release would need; for a GET of htmx that part alone."""
    version, environment = form.chosen()
    context: dict[str, object] = {
        "skill": skill,
        "form": form,
        "version": version,
        "environment": environment,
    }
    if version and environment:
        context["gates"] = check_gates(version, environment)
        context["needs"] = needs_of(policy_of(environment), subject_of(version))
    if request.method == "POST":
        return render(request, "releases/release_propose.html", context, status=status)
    return render_part(request, "releases/release_propose.html", "needs", context)


def _done(request: HttpRequest, release_id: UUID, changed: Release) -> HttpResponse:
    messages.success(request, what_happened(changed))
    if not wants_part(request):
        return redirect("release-detail", release_id)
    fresh = access.release_read(request, release_id)
    answer = _fragment(request, release_context(request, fresh, swapped=True))
    return trigger_client_event(answer, "release-changed")


def _refuse(request: HttpRequest, release_id: UUID, refusal: Exception) -> HttpResponse:
    """The release as it is now, with why nothing was changed."""
    fresh = access.release_read(request, release_id)
    context = release_context(request, fresh, refused=str(refusal), swapped=True)
    if wants_part(request):
        return _fragment(request, context, status=_status_of(refusal))
    return render(request, "releases/release_detail.html", context, status=_status_of(refusal))


def _ask_again(request: HttpRequest, release: Release, action: str, form: DecisionForm) -> HttpResponse:
    """The form of the dialog with what is missing; without script the page with that form on top."""
    context = release_context(request, release, form=form)
    asked = next((offer for offer in context["offers"] if offer.action == action), None)
    if asked is None:
        return _refuse(request, release.pk, WrongState(_("This release is in another state by now.")))
    context["asked"] = asked
    if wants_part(request):
        answer = render(request, "releases/act_form.html", {**context, "offer": asked}, status=422)
        return reswap(retarget(answer, f"#form-{action}"), "outerHTML")
    return render(request, "releases/release_detail.html", context, status=422)


def _fragment(request: HttpRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    answer = render(request, "releases/release_detail.html#release", context, status=status)
    return reswap(retarget(answer, "#release"), "outerHTML")


def _status_of(refusal: Exception) -> int:
    return 403 if isinstance(refusal, NotAllowed) else 409
