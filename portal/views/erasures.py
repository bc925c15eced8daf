"""Erasures: all traces of one subject are deleted, after an administrator has seen what would go."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from governance.erasures import REFUSAL, request_erasure
from governance.models import Erasure
from governance.subjects import find_reach
from portal import access
from portal.erased import shown
from portal.forms.erasures import EraseForm, SubjectForm, pack
from portal.fragments import render_part

PAGE_SIZE = 25


@require_safe
def erasure_list(request: HttpRequest) -> HttpResponse:
    """The erasures, newest first, and a form for another one."""
    access.ask_administrator(request, REFUSAL)
    return _list(request)


@sensitive_post_parameters("value")
@require_POST
def erasure_preview(request: HttpRequest) -> HttpResponse:
    """What would go; nothing is changed, and the value is forgotten with this answer."""
    access.ask_administrator(request, REFUSAL)
    form = SubjectForm(request.POST)
    if not form.is_valid():
        return _list(request, status=422, form=form)
    subject = form.subject
    context = {
        "subject": subject,
        "reach": find_reach(subject),
        "tags": pack(subject, access.person(request).pk),
        "reason": form.cleaned_data["reason"],
    }
    answer = render(request, "erasures/erasure_preview.html", context)
    # Nobody comes back to it by the history of the browser.
    answer["Cache-Control"] = "private, no-store"
    return answer


@require_POST
def erasure_create(request: HttpRequest) -> HttpResponse:
    """Ask for what was seen to be erased."""
    access.ask_administrator(request, REFUSAL)
    form = EraseForm(request.POST, user_id=access.person(request).pk)
    if not form.is_valid():
        kept = SubjectForm(initial={"reason": form.cleaned_data.get("reason", "")})
        return _list(request, status=422, form=kept, refused=form.non_field_errors())
    made = request_erasure(
        subject=form.subject,
        reason=form.cleaned_data["reason"],
        actor=access.actor(request),
        now=timezone.now(),
    )
    return redirect("erasure-detail", made.pk)


@require_safe
def erasure_detail(request: HttpRequest, erasure_id: UUID) -> HttpResponse:
    """How far an erasure has come; when it is done, a report for the file."""
    access.ask_administrator(request, REFUSAL)
    (erasure,) = shown([access.erasure_read(erasure_id)])
    context = {"erasure": erasure, "now": timezone.now()}
    return render_part(request, "erasures/erasure_detail.html", "progress", context)


def _list(request: HttpRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    rows = Erasure.objects.select_related("requested_by").order_by("-requested_at", "-pk")
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"form": SubjectForm(), "page": page, "erasures": shown(page), **more}
    return render_part(request, "erasures/erasure_list.html", "erasures", context, status=status)
