"""Environments: their order, the policy of each, and what a change of it would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog import environments
from catalog.environments import (
    Changed,
    InUse,
    LastOne,
    Removed,
    Taken,
    change_environment,
    create_environment,
    move_environment,
    references_to,
    remove_environment,
)
from catalog.models import Environment, State
from catalog.terms import Difference, PolicyWrong, Terms, compare, terms_of
from governance.foresight import foresee
from governance.retention import count_past
from portal import access
from portal.forms.environments import (
    ChangeForm,
    CreateForm,
    MoveForm,
    PolicyForm,
    RemoveForm,
    editable,
    merge,
    pack,
)
from portal.fragments import render_part, wants_part
from portal.policies import say, summarise, tell_expiring, warn
from portal.under_way import find_under_way

DETAIL = "environments/environment_detail.html"
WAITING = (State.PROPOSED, State.APPROVED)


@require_safe
def environment_list(request: HttpRequest) -> HttpResponse:
    """Every environment in its order: its policy in words, and what is there."""
    return _list(request)


@require_http_methods(["GET", "HEAD", "POST"])
def environment_create(request: HttpRequest) -> HttpResponse:
    """Make an environment; it comes last."""
    access.ask_administrator(request, environments.REFUSAL)
    template = "environments/environment_create.html"
    if request.method != "POST":
        return render(request, template, {"form": CreateForm()})
    form = CreateForm(request.POST)
    if form.is_valid():
        try:
            made = create_environment(
                name=form.cleaned_data["name"],
                terms=form.terms(),
                actor=access.actor(request),
                now=timezone.now(),
            )
        except PolicyWrong as wrong:
            _add(form, wrong)
        except Taken as clash:
            form.add_error(clash.field if clash.field == "name" else None, str(clash))
        else:
            messages.success(request, _("%(title)s is there.") % {"title": made.title})
            return redirect("environment-detail", made.name)
    return render(request, template, {"form": form}, status=422)


@require_http_methods(["GET", "HEAD", "POST"])
def environment_detail(request: HttpRequest, name: str) -> HttpResponse:
    """The policy of an environment; administrators change it once they have seen what that would do."""
    environment = access.environment_read(request, name)
    if request.method != "POST":
        return _show(request, environment)
    access.ask_administrator(request, environments.REFUSAL)
    form = ChangeForm(request.POST, environment=environment)
    if not form.is_valid():
        return _show(request, environment, status=422, form=form)
    if form.was_previewed or form.terms() == form.cleaned_data["opened"]:
        return _save(request, environment, form)
    return _preview(request, environment, form)


@require_POST
def environment_preview(request: HttpRequest, name: str) -> HttpResponse:
    """What the policy that was typed would do; nothing is changed."""
    environment = access.environment_read(request, name)
    access.ask_administrator(request, environments.REFUSAL)
    form = ChangeForm(request.POST, environment=environment)
    if not form.is_valid():
        return _show(request, environment, status=422, form=form)
    return _preview(request, environment, form)


@require_POST
def environment_move(request: HttpRequest, name: str) -> HttpResponse:
    """One place earlier or later in the order."""
    environment = access.environment_read(request, name)
    access.ask_administrator(request, environments.REFUSAL)
    form = MoveForm(request.POST)
    if not form.is_valid():
        raise BadRequest(_("Say whether it moves earlier or later, and from which place."))
    try:
        move_environment(
            environment=environment,
            earlier=form.cleaned_data["earlier"],
            opened=form.cleaned_data["opened"],
            actor=access.actor(request),
            now=timezone.now(),
        )
    except Changed:
        return _list(request, late=_("The order has been changed meanwhile; nothing was moved."), status=409)
    except Removed as gone:
        return _list(request, late=str(gone), status=409)
    messages.success(request, _("%(title)s is moved.") % {"title": environment.title})
    return redirect("environment-list")


@require_http_methods(["GET", "HEAD", "POST"])
def environment_delete(request: HttpRequest, name: str) -> HttpResponse:
    """Remove an environment that nothing refers to; says what does."""
    environment = access.environment_read(request, name)
    access.ask_administrator(request, environments.REFUSAL)
    form = RemoveForm(request.POST if request.method == "POST" else None, environment=environment)
    context = {"environment": environment, "remove_form": form, "references": references_to(environment)}
    status = 200
    if form.is_valid():
        try:
            remove_environment(environment=environment, actor=access.actor(request), now=timezone.now())
        except (InUse, LastOne) as refusal:
            form.add_error(None, str(refusal))
            status = 409
        except Removed as gone:
            return _list(request, late=str(gone), status=409)
        else:
            messages.success(request, _("%(title)s is removed.") % {"title": environment.title})
            return redirect("environment-list")
    elif form.is_bound:
        status = 422
    return render(request, "environments/environment_delete.html", context, status=status)


def _list(request: HttpRequest, *, late: str = "", status: int = 200) -> HttpResponse:
    rows = Environment.objects.annotate(
        live=Count("releases", filter=Q(releases__state=State.LIVE, releases__skill__deleted_at=None)),
        canaries=Count("releases", filter=Q(releases__state=State.CANARY, releases__skill__deleted_at=None)),
        waiting=Count("releases", filter=Q(releases__state__in=WAITING, releases__skill__deleted_at=None)),
    ).order_by("order")
    context = {
        "rows": [(one, summarise(one), warn(terms_of(one))) for one in rows],
        "is_admin": access.powers(request).is_admin,
        "late": late,
    }
    return render(request, "environments/environment_list.html", context, status=status)


def _show(request: HttpRequest, environment: Environment, *, status: int = 200, **more: Any) -> HttpResponse:
    """The page, or the preview alone where htmx asks for that."""
    is_admin = access.powers(request).is_admin
    context = {
        "environment": environment,
        "form": ChangeForm(environment=environment),
        "summary": summarise(environment),
        "warnings": warn(terms_of(environment)),
        "groups": _groups(environment),
        "under_way": find_under_way(access.powers(request), environment),
        "is_admin": is_admin,
        "references": references_to(environment) if is_admin else {},
        "remove_form": RemoveForm(environment=environment),
        **more,
    }
    return render_part(request, DETAIL, "preview", context, status=status)


def _groups(environment: Environment) -> list[tuple[str, Any, list[tuple[Any, str]]]]:
    """The policy to be read: each field beside its value in words."""
    terms = terms_of(environment)
    return [
        (key, heading, [(field, say(field.name, terms[field.name])) for field in fields])
        for key, heading, fields in PolicyForm().groups()
    ]


def _preview(request: HttpRequest, environment: Environment, form: ChangeForm) -> HttpResponse:
    current, terms = editable(environment), form.terms()
    if differences := compare(form.cleaned_data["opened"], current):
        return _late(request, environment, form, differences)
    return _show(
        request,
        environment,
        form=form,
        changes=_in_words(compare(current, terms)),
        foresight=foresee(environment, terms),
        expiring=_expiring(environment, terms),
        unwise=warn({**terms_of(environment), **terms}),
    )


def _expiring(environment: Environment, terms: Terms) -> str:
    """What a shorter retention deletes, in a sentence; nothing where calls are kept as long as before, or longer."""
    days = terms["retention_days"]
    if days >= environment.retention_days:
        return ""
    return tell_expiring(count_past(environment=environment, retention_days=days, now=timezone.now()))


def _save(request: HttpRequest, environment: Environment, form: ChangeForm) -> HttpResponse:
    try:
        changed = change_environment(
            environment=environment,
            terms=form.terms(),
            opened=form.cleaned_data["opened"],
            actor=access.actor(request),
            now=timezone.now(),
        )
    except Changed as late:
        return _late(request, late.environment, form, late.differences)
    except Removed as gone:
        return _list(request, late=str(gone), status=409)
    except PolicyWrong as wrong:
        _add(form, wrong)
        return _show(request, environment, status=422, form=form)
    messages.success(request, _("The policy of %(title)s is saved.") % {"title": changed.title})
    return redirect("environment-detail", changed.name)


def _late(
    request: HttpRequest, environment: Environment, form: ChangeForm, differences: Sequence[Difference]
) -> HttpResponse:
    """Somebody else was faster: what they changed, and a form that overwrites none of it unasked."""
    merged = merge(form.terms(), form.cleaned_data["opened"], differences)
    fresh = ChangeForm(environment=environment, initial={**merged, "opened": pack(editable(environment))})
    context = {"form": fresh, "meanwhile": _in_words(differences)}
    # htmx swaps no 409 in: the part says so, and saving shows the page.
    return _show(request, environment, status=200 if wants_part(request) else 409, **context)


def _in_words(differences: Sequence[Difference]) -> list[tuple[str, str, str]]:
    """The label of each field that differs, and both its values."""
    return [
        (
            str(PolicyForm.base_fields[one.field].label),
            say(one.field, one.before),
            say(one.field, one.after),
        )
        for one in differences
        if one.field in PolicyForm.base_fields
    ]


def _add(form: PolicyForm, wrong: PolicyWrong) -> None:
    for field, message in wrong.errors.items():
        form.add_error(field if field in form.fields else None, message)
