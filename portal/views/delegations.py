"""Delegations: rights that approvers lend each other for a time."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.delegations import (
    NotLendable,
    as_loans,
    end_delegation,
    lend,
    open_delegations,
    visible_delegations,
)
from catalog.models import Role
from portal import access
from portal.forms.delegations import LendForm
from portal.fragments import render_part

PAGE_SIZE = 25
MOST_SHOWN, MOST_NAMES = 100, 300


@require_safe
def delegation_list(request: HttpRequest) -> HttpResponse:
    """What I lend, what is lent to me, and what is past; administrators see those of everybody too."""
    powers, now = access.powers(request), timezone.now()
    me, running = powers.user_id, open_delegations(now)
    rows = visible_delegations(powers)
    live = as_loans(list(rows.filter(running).order_by("ends_at")[:MOST_SHOWN]), now=now)
    past = rows.exclude(running).order_by("-created_at", "-pk")
    if powers.is_admin and not request.GET.get("everybody"):
        past = past.filter(Q(giver=me) | Q(taker=me))
    page = Paginator(past, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "given": [loan for loan in live if loan.row.giver_id == me],
        "taken": [loan for loan in live if loan.row.taker_id == me],
        "others": [loan for loan in live if me not in {loan.row.giver_id, loan.row.taker_id}],
        "page": page,
        "past": as_loans(list(page), now=now),
        "everybody": bool(powers.is_admin and request.GET.get("everybody")),
        "may_lend": _may_lend(request),
        "is_admin": powers.is_admin,
    }
    return render_part(request, "delegations/delegation_list.html", "past", context)


@require_http_methods(["GET", "HEAD", "POST"])
def delegation_create(request: HttpRequest) -> HttpResponse:
    """Lend one's rights."""
    if not _may_lend(request):
        return render(request, "delegations/delegation_create.html", {}, status=403)
    form = LendForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        me, now = access.person(request), timezone.now()
        try:
            row = lend(giver=me, **form.cleaned_data, actor=access.actor(request), now=now)
        except NotLendable as fault:
            form.add_error(fault.field, str(fault))
        else:
            messages.success(request, _("Your rights are lent to %(name)s.") % {"name": str(row.taker)})
            return redirect("delegation-list")
    context = {"form": form, "names": access.known_people(MOST_NAMES)}
    status = 422 if request.method == "POST" else 200
    return render(request, "delegations/delegation_create.html", context, status=status)


@require_POST
def delegation_end(request: HttpRequest, delegation_id: UUID) -> HttpResponse:
    """End a delegation before its time; a second time changes nothing."""
    row = access.delegation_read(request, delegation_id)
    end_delegation(delegation=row, actor=access.actor(request), now=timezone.now())
    told = {"giver": str(row.giver), "taker": str(row.taker)}
    messages.success(request, _("%(taker)s no longer holds the rights of %(giver)s.") % told)
    return redirect("delegation-list")


def _may_lend(request: HttpRequest) -> bool:
    """Whether the user holds an approver's right of their own."""
    return any(right.role == Role.APPROVER for right in access.powers(request).own)
