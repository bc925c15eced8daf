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
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, retarget, trigger_client_event

from catalog.access import NotAllowed
from catalog.canaries import Plan, PlanWrong
from catalog.comparison import compare
from catalog.models import Environment, Release, Skill, State, Version
from catalog.releases import NotCleared, WrongState
from catalog.shortfalls import shortfalls
from governance import approvals
from governance.clearing import review
from governance.gates import check_gates, policy_of, subject_of
from governance.models import Notice
from governance.notices import mark_read
from governance.policy import needs_of
from governance.refusals import ReasonMissing, need_reason, why_not_break_glass, why_not_decide
from portal import access, confirming
from portal.access import NotFound
from portal.callers import callers_offered
from portal.canaries import plan_words
from portal.decisions import ACTIONS, needs_confirmation, offers, perform
from portal.deltas import reach_of
from portal.forms.releases import DecisionForm, ProposeForm
from portal.fragments import render_part, wants_part
from portal.frames import skill_frame
from portal.release_page import form_of, release_context, what_happened
from portal.release_parts import GateRow
from portal.shell import shell_of
from portal.under_way import UNDER_WAY

PAGE_SIZE = 50
REFUSALS = (NotAllowed, WrongState, NotCleared)
# The right to what is confirmed.
RIGHTS = {"approve": why_not_decide, "break_glass": why_not_break_glass}


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
    """Propose a version for an environment; the fields of the form may be in the address."""
    skill = access.skill_read(request, name)
    environments = _environments(request, skill)
    if not environments:
        return render(request, "releases/release_propose.html", {"skill": skill}, status=403)
    if request.method != "POST":
        return _show_proposal(request, skill, _form_of_address(request, skill, environments))
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
    except PlanWrong as wrong:
        form.refuse(wrong)
        return _show_proposal(request, skill, form, status=422)
    except REFUSALS as refusal:
        form.add_error(None, str(refusal))
        return _show_proposal(request, skill, form, status=_status_of(refusal))
    messages.success(request, what_happened(release))
    return redirect("release-detail", release.pk)


def _form_of_address(request: HttpRequest, skill: Skill, environments: list[Environment]) -> ProposeForm:
    """The form as the address fills it: judged where htmx asks what it would need, else as a start."""
    if wants_part(request):
        return ProposeForm(request.GET, skill=skill, environments=environments)
    initial = {name: request.GET[name] for name in ProposeForm.base_fields if name in request.GET}
    form = ProposeForm(skill=skill, environments=environments, initial=initial)
    form.fields["environment"].initial = _next_place(skill, form)
    return form


def _next_place(skill: Skill, form: ProposeForm) -> str:
    """The first environment where the version that the form begins with is neither served nor on its way."""
    there = skill.releases.filter(version=form.first_version(), state__in=(*UNDER_WAY, State.LIVE))
    taken = set(there.values_list("environment__name", flat=True))
    return next((name for name in form.environments if name not in taken), "")


@require_safe
def release_detail(request: HttpRequest, release_id: UUID) -> HttpResponse:
    """One release: its state, what it needs, what it reaches, and what this user can do."""
    release = access.release_read(request, release_id)
    if request.method == "GET":
        mark_read(Notice.objects.filter(user=request.user.pk, release=release), now=timezone.now())
    asked = request.GET.get("diff", "")
    context = release_context(request, release, now=timezone.now(), asked_diff=asked)
    if wants_part(request) and context["diff"]:
        return render(request, "releases/diff.html", context)
    return render(request, "releases/release_detail.html", context)


@sensitive_post_parameters("password")
@require_POST
def release_act(request: HttpRequest, release_id: UUID, action: str) -> HttpResponse:
    """Do one thing with a release; what is missing comes back with its form, a lost race with the page."""
    if action not in ACTIONS:
        raise NotFound(_("There is no such action"))
    release = access.release_read(request, release_id)
    form = form_of(release, request.POST)
    if "percent" in ACTIONS[action].needs and form.is_valid() and form.cleaned_data["percent"] is None:
        form.add_error("percent", _("Give the share of callers, 1 to 100."))
    if not form.is_valid():
        return _ask_again(request, release, action, form)
    status = 422
    try:
        _confirm(request, release, action, form)
        changed = perform(action, release, form.cleaned_data, actor=access.actor(request), now=timezone.now())
    except ReasonMissing as missing:
        form.add_error("reason", str(missing))
    except approvals.NotConfirmed as missing:
        form.add_error("confirm", str(missing))
    except confirming.PasswordWrong as wrong:
        form.add_error("password", str(wrong))
        status = wrong.status
    except approvals.NoSuchGate as refusal:
        return _refuse(request, release_id, refusal)
    except REFUSALS as refusal:
        return _refuse(request, release_id, refusal)
    else:
        return _done(request, release_id, action, changed)
    return _ask_again(request, release, action, form, status=status)


@sensitive_variables("form")
def _confirm(request: HttpRequest, release: Release, action: str, form: DecisionForm) -> None:
    """The second confirmation of who may do it, where the action asks for one: first the name, then the password.

    Raises NotConfirmed, ReasonMissing, PasswordWrong; NotAllowed, also for an account without a password,
    and WrongState for what is not open to them: nothing passes on the domain's word alone.
    """
    now, seen = timezone.now(), review(release)
    if not needs_confirmation(action, seen):
        return
    powers, able = access.powers(request), confirming.has_password(request)
    found = offers(release, powers, seen, now=now, has_password=able)
    offer = next((one for one in found if one.action == action), None)
    if offer is None and not (action == "break_glass" and powers.may_break_glass(release)):
        return  # the domain refuses it, and says why; but a glass that nothing is behind is broken all the same
    if offer is not None and offer.refusal:
        lacks_right = RIGHTS[action](release, powers) or not able
        raise NotAllowed(offer.refusal) if lacks_right else WrongState(offer.refusal)
    if form.cleaned_data["confirm"] not in {release.skill.name, release.skill.folder}:
        raise approvals.NotConfirmed(_what_to_type(action, release))
    if action == "break_glass":
        need_reason(form.cleaned_data["reason"])
    if not confirming.is_fresh(request, now=now):
        confirming.confirm_password(request, form.cleaned_data["password"], now=now)


def _what_to_type(action: str, release: Release) -> str:
    told = {"name": release.skill.name, "environment": release.environment.title}
    if action == "break_glass":
        return _("Type %(name)s to break the glass in %(environment)s.") % told
    return _("Type %(name)s to confirm a high-risk release to %(environment)s.") % told


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
        context |= _needed(version, environment)
        context["plan"] = plan_words(plan) if (plan := _planned(form, version, environment)) else ()
    if not wants_part(request):
        context["offered"] = callers_offered(access.powers(request))
    if request.method == "POST":
        return render(request, "releases/release_propose.html", context, status=status)
    return render_part(request, "releases/release_propose.html", "needs", context)


def _planned(form: ProposeForm, version: Version, environment: Environment) -> Plan | None:
    """The plan that the form holds, None where something in it is wrong, or nothing was filled in yet."""
    if not form.is_bound and form.initial:
        chosen = {"version": version.version, "environment": environment.name}
        form = ProposeForm(
            {**form.initial, **chosen}, skill=version.skill, environments=list(form.environments.values())
        )
    return form.plan if form.is_bound and form.is_valid() else None


def _needed(version: Version, environment: Environment) -> dict[str, object]:
    """What the release would need, and what it would change for callers."""
    live = version.skill.releases.filter(environment=environment, state=State.LIVE)
    before = live.select_related("version").first()
    changes = compare(before.version if before else None, version)
    return {
        "gates": [GateRow(gate.name, gate, (), None) for gate in check_gates(version, environment)],
        "needs": needs_of(policy_of(environment), subject_of(version)),
        "reach": changes,
        "deltas": reach_of(changes).deltas,
    }


def _done(request: HttpRequest, release_id: UUID, action: str, changed: Release) -> HttpResponse:
    gate = request.POST.get("gate", "") if action == "override" else ""
    messages.success(request, what_happened(changed, overridden=gate))
    if not wants_part(request):
        return redirect("release-detail", release_id)
    fresh = access.release_read(request, release_id)
    answer = _fragment(request, release_context(request, fresh, now=timezone.now(), swapped=True))
    return trigger_client_event(answer, "release-changed")


def _refuse(request: HttpRequest, release_id: UUID, refusal: Exception) -> HttpResponse:
    """The release as it is now, with why nothing was changed."""
    fresh = access.release_read(request, release_id)
    context = release_context(request, fresh, now=timezone.now(), refused=str(refusal), swapped=True)
    if wants_part(request):
        return _fragment(request, context, status=_status_of(refusal))
    return render(request, "releases/release_detail.html", context, status=_status_of(refusal))


def _ask_again(
    request: HttpRequest, release: Release, action: str, form: DecisionForm, *, status: int = 422
) -> HttpResponse:
    """The form of the dialog with what is missing; without script the page with that form on top."""
    context = release_context(request, release, now=timezone.now(), form=form)
    gate = str(request.POST.get("gate", ""))
    found = (offer for offer in context["offers"] if offer.action == action)
    asked = next((offer for offer in found if offer.gate in {"", gate}), None)
    if asked is None:
        return _refuse(request, release.pk, WrongState(_("This release is in another state by now.")))
    context["asked"] = asked
    if wants_part(request):
        template = "releases/canary_form.html" if action == "advance" else "releases/act_form.html"
        answer = render(request, template, {**context, "offer": asked}, status=status)
        return reswap(retarget(answer, f"#form-{asked.key}"), "outerHTML")
    return render(request, "releases/release_detail.html", context, status=status)


def _fragment(request: HttpRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    answer = render(request, "releases/release_detail.html#release", context, status=status)
    return reswap(retarget(answer, "#release"), "outerHTML")


def _status_of(refusal: Exception) -> int:
    if isinstance(refusal, approvals.NoSuchGate):
        return 422
    return 403 if isinstance(refusal, NotAllowed) else 409
