"""What the user is told: the bell of every page, the list, and what is read."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import trigger_client_event

from governance.models import Notice
from governance.notice_texts import path_of
from governance.notices import count_unread, mark_read, notices_of
from portal import access
from portal.access import NotFound
from portal.fragments import render_part, wants_part
from portal.noticeboard import MOST_COUNTED, count_text, page_of, read_asked
from portal.shell import shell_of


@require_safe
def notice_list(request: HttpRequest) -> HttpResponse:
    """The user's notices, unread ones first, by key."""
    return _show(request)


@require_safe
def notice_bell(request: HttpRequest) -> HttpResponse:
    """The bell where its number is another one than `had`, else 204; asked for each minute."""
    if not wants_part(request):
        return redirect("notice-list")
    count = count_unread(access.powers(request), most=MOST_COUNTED)
    had = request.GET.get("had", "")
    if count_text(count) == had:
        return HttpResponse(status=204)
    more = count > _number(had)
    said = ngettext("%(n)d unread notice", "%(n)d unread notices", count) % {"n": count} if more else ""
    answer = render(request, "notices/bell.html", {"count": count_text(count), "said": said})
    return trigger_client_event(answer, "notices-changed")


@require_safe
def notice_open(request: HttpRequest, notice_id: UUID) -> HttpResponse:
    """Mark a notice as read and go to what it is about."""
    notice = _notice(request, notice_id)
    if request.method == "GET":
        mark_read(Notice.objects.filter(pk=notice.pk), now=timezone.now())
    return redirect(path_of(notice) or "notice-list")


@require_POST
def notice_read(request: HttpRequest, notice_id: UUID) -> HttpResponse:
    """Mark a notice as read; a second time changes nothing."""
    notice = _notice(request, notice_id)
    mark_read(Notice.objects.filter(pk=notice.pk), now=timezone.now())
    return _show(request, changed=True)


@require_POST
def notice_read_all(request: HttpRequest) -> HttpResponse:
    """Mark everything as read that the user can see."""
    mark_read(notices_of(access.powers(request)), now=timezone.now())
    return _show(request, changed=True)


def _show(request: HttpRequest, *, changed: bool = False) -> HttpResponse:
    """The list, or, after a change without script, the way back to it."""
    if changed and not wants_part(request):
        return redirect("notice-list")
    powers, asked = access.powers(request), read_asked(request.GET)
    page = page_of(powers, asked, before=request.GET.get("before", ""))
    unread = shell_of(request).unread_count
    context = {
        "asked": asked,
        "page": page,
        "unread": unread,
        "unread_text": count_text(unread),
        "changed": changed,
        "query": "&".join(f"{name}={value}" for name, value in _kept(asked.unread, asked.kind)),
    }
    return render_part(request, "notices/notice_list.html", "notices", context)


def _kept(unread: bool, kind: str) -> list[tuple[str, str]]:
    """The filters as pairs of an address."""
    return [pair for pair in (("show", "unread" if unread else ""), ("kind", kind)) if pair[1]]


def _notice(request: HttpRequest, notice_id: UUID) -> Notice:
    notice = notices_of(access.powers(request)).filter(pk=notice_id).first()
    if notice is None:
        raise NotFound(_("There is no such notice"))
    return notice


def _number(text: str) -> int:
    """What the bell showed: nothing counts as none, 99+ as more than that."""
    digits = text.removesuffix("+")
    return (
        int(digits) + text.endswith("+") if digits.isascii() and digits.isdigit() and len(digits) < 5 else 0
    )
