"""What is masked: the built-in kinds and their switches, the instance's rules, and trying them on a sample."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from governance import masking_rules, remasking
from governance.masking import KINDS, BadRule
from governance.masking_rules import (
    MOST_RULES,
    RuleChanged,
    RuleTaken,
    TooManyRules,
    Untried,
    change_rule,
    create_rule,
    delete_rule,
    switch_kind,
    switch_rule,
    try_sample,
)
from governance.models import MaskingRule
from portal import access
from portal.access import NotFound
from portal.forms.masking import KindForm, RuleForm, SampleForm
from portal.fragments import render_part
from portal.masking_page import all_rules, kind_rows, show_trial

PAGE, RULE = "masking/masking.html", "masking/rule_edit.html"


@require_safe
def masking(request: HttpRequest) -> HttpResponse:
    """The built-in kinds, the rules of this instance, and a place to try them."""
    _ask(request)
    return _show(request)


@sensitive_post_parameters("sample")
@require_POST
def masking_try(request: HttpRequest) -> HttpResponse:
    """A sample as the rules of now mask it; nothing of it is kept."""
    _ask(request)
    form = SampleForm(request.POST)
    if not form.is_valid():
        return _show(request, status=422, form=form)
    return _show(request, form=form, trial=show_trial(try_sample(sample=form.value or "")))


@require_http_methods(["GET", "HEAD", "POST"])
def masking_stored(request: HttpRequest) -> HttpResponse:
    """How far masking what is stored is; POST begins it."""
    _ask(request)
    if request.method != "POST":
        return render_part(request, PAGE, "stored", _context())
    remasking.request_remasking(actor=access.actor(request), now=timezone.now())
    messages.success(request, _("What is stored is masked again; this page tells how far it is."))
    return redirect("masking")


@sensitive_post_parameters("sample")
@require_http_methods(["GET", "HEAD", "POST"])
def masking_rule_create(request: HttpRequest) -> HttpResponse:
    """Write a rule, try it on a sample, and save it."""
    _ask(request)
    return _edit(request, None)


@sensitive_post_parameters("sample")
@require_http_methods(["GET", "HEAD", "POST"])
def masking_rule_edit(request: HttpRequest, rule_id: UUID) -> HttpResponse:
    """Change a rule; what it has masked stays masked."""
    _ask(request)
    return _edit(request, _rule(rule_id))


@require_POST
def masking_rule_switch(request: HttpRequest, rule_id: UUID) -> HttpResponse:
    """Let a rule rest (`on` is empty), or mask by it again."""
    _ask(request)
    rule, is_on = _rule(rule_id), bool(request.POST.get("on"))
    try:
        switch_rule(rule=rule, is_on=is_on, actor=access.actor(request), now=timezone.now())
    except RuleChanged as late:
        return _show(request, status=409, late=str(late))
    told = _("%(kind)s masks again.") if is_on else _("%(kind)s rests; what it has masked stays masked.")
    messages.success(request, told % {"kind": rule.kind})
    return redirect("masking")


@require_http_methods(["GET", "HEAD", "POST"])
def masking_rule_delete(request: HttpRequest, rule_id: UUID) -> HttpResponse:
    """Ask, then delete a rule."""
    _ask(request)
    rule = _rule(rule_id)
    if request.method != "POST":
        return render(request, "masking/rule_delete.html", {"rule": rule})
    try:
        delete_rule(rule=rule, actor=access.actor(request), now=timezone.now())
    except RuleChanged as late:
        return _show(request, status=409, late=str(late))
    messages.success(request, _("The rule %(kind)s is deleted.") % {"kind": rule.kind})
    return redirect("masking")


@require_http_methods(["GET", "HEAD", "POST"])
def masking_kind_switch(request: HttpRequest, kind: str) -> HttpResponse:
    """Switch a built-in kind off, or on again, with a reason."""
    _ask(request)
    if kind not in KINDS:
        raise NotFound(_("There is no built-in kind called %(name)s") % {"name": kind[:32]})
    form = KindForm(request.POST if request.method == "POST" else None)
    row = next(one for one in kind_rows() if one.kind == kind)
    if not form.is_valid():
        context = {"row": row, "form": form}
        return render(request, "masking/kind_switch.html", context, status=422 if form.is_bound else 200)
    # What the person saw, and not what is so by now, says which way it goes.
    is_on = request.POST.get("on") == "yes"
    switch_kind(
        kind=kind,
        is_on=is_on,
        reason=form.cleaned_data["reason"],
        actor=access.actor(request),
        now=timezone.now(),
    )
    told = _("%(kind)s is masked again.") if is_on else _("%(kind)s is masked no longer.")
    messages.success(request, told % {"kind": kind})
    return redirect("masking")


def _ask(request: HttpRequest) -> None:
    access.ask_administrator(request, masking_rules.REFUSAL)


def _rule(rule_id: UUID) -> MaskingRule:
    rule = masking_rules.rule_by_id(rule_id)
    if rule is None:
        raise NotFound(_("There is no such rule"))
    return rule


def _show(request: HttpRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    """The page, or the trial alone where htmx asks for that."""
    return render_part(request, PAGE, "trial", {**_context(), **more}, status=status)


def _context() -> dict[str, Any]:
    kinds = kind_rows()
    return {
        "kinds": kinds,
        "open_doors": [one.kind for one in kinds if one.is_credential and not one.is_on],
        "rules": all_rules(),
        "most_rules": MOST_RULES,
        "form": SampleForm(),
        "stored": remasking.latest(),
    }


def _edit(request: HttpRequest, rule: MaskingRule | None) -> HttpResponse:
    if request.method != "POST":
        return _show_rule(request, rule, RuleForm(rule=rule))
    form = RuleForm(request.POST, rule=rule)
    if not form.is_valid():
        return _show_rule(request, rule, form, status=422)
    if request.POST.get("act") == "try":
        return _try(request, rule, form)
    return _save(request, rule, form)


def _try(request: HttpRequest, rule: MaskingRule | None, form: RuleForm, status: int = 200) -> HttpResponse:
    sample, trial = form.value, None
    if sample is None and not form.errors:
        form.add_error("sample", _("Paste a sample to try it on."))
    try:
        if sample is not None:
            trial = show_trial(try_sample(sample=sample, draft=form.draft, instead=rule))
    except BadRule as wrong:
        form.add_fault(wrong.field, str(wrong))
    return _show_rule(request, rule, form, status=422 if form.errors else status, trial=trial)


def _save(request: HttpRequest, rule: MaskingRule | None, form: RuleForm) -> HttpResponse:
    told: dict[str, Any] = {
        "draft": form.draft,
        "sample": form.value,
        "without_sample": form.cleaned_data["without_sample"],
        "actor": access.actor(request),
        "now": timezone.now(),
    }
    try:
        if rule is None:
            saved = create_rule(**told)
        else:
            saved = change_rule(rule=rule, opened=form.cleaned_data["opened"], **told)
    except BadRule as wrong:
        form.add_fault(wrong.field, str(wrong))
    except Untried as wrong:
        form.add_error("sample", str(wrong))
        return _try(request, rule, form, status=422)
    except RuleTaken as clash:
        form.add_error("kind", str(clash))
    except TooManyRules as full:
        form.add_error(None, str(full))
    except RuleChanged as late:
        form.add_error(None, str(late))
        return _show_rule(request, rule, form, status=409)
    else:
        messages.success(request, _("The rule %(kind)s is saved and holds now.") % {"kind": saved.kind})
        return redirect("masking")
    return _show_rule(request, rule, form, status=422)


def _show_rule(
    request: HttpRequest, rule: MaskingRule | None, form: RuleForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {"rule": rule, "form": form, **more}
    return render_part(request, RULE, "trial", context, status=status)
