"""The audit log for administrators: its entries, the proof that it is whole, and an export."""

from __future__ import annotations

import time
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from catalog import journal
from catalog.models import JournalEntry
from portal import access
from portal.entries import REFUSAL, VERBS, Asked, export_lines, filter_entries, page_of
from portal.forms.audit_log import AnchorForm, EntryFilter
from portal.fragments import render_part

FILTERS = tuple(EntryFilter.base_fields)


@require_safe
def audit_log(request: HttpRequest) -> HttpResponse:
    """The entries that match, newest first, by number."""
    access.ask_administrator(request, REFUSAL)
    form = EntryFilter(request.GET)
    asked = form.asked()
    page = page_of(
        filter_entries(asked),
        before=_number(request.GET.get("before", "")),
        after=_number(request.GET.get("after", "")),
    )
    context = {
        "form": form,
        "page": page,
        "filtered": asked != Asked(),
        "query": _query(form.data),
        "verbs": VERBS,
        **_proof(),
    }
    return render_part(request, "audit_log/audit_log.html", "entries", context)


@require_POST
def audit_log_verify(request: HttpRequest) -> HttpResponse:
    """Re-hash all of it, against a head that was kept where one is given; says where it does not fit."""
    access.ask_administrator(request, REFUSAL)
    form = AnchorForm(request.POST)
    if not form.is_valid():
        return _show_proof(request, _proof(form), status=422)
    began = time.perf_counter()
    chain = journal.check_chain(anchor=form.cleaned_data["anchor"])
    checked = {
        "chain": chain,
        "anchored": form.cleaned_data["anchor"],
        "took_ms": round((time.perf_counter() - began) * 1000),
        "checked_at": timezone.now(),
        "lacks": chain.broken_at is not None and chain.broken_at > chain.entries,
        "broken": JournalEntry.objects.filter(n=chain.broken_at).first() if chain.broken_at else None,
    }
    return _show_proof(request, {**_proof(form), **checked})


@require_safe
def audit_log_export(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """The entries that match as JSON Lines, the oldest first; sent while they are read."""
    access.ask_administrator(request, REFUSAL)
    form = EntryFilter(request.GET)
    asked = form.asked()
    if form.errors:
        return HttpResponse(_("A filter is not valid."), status=422, content_type="text/plain; charset=utf-8")
    lines = export_lines(filter_entries(asked)) if request.method == "GET" else iter(())
    answer = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    answer["Content-Disposition"] = 'attachment; filename="audit-log.jsonl"'
    answer["Cache-Control"] = "private, no-store"
    return answer


def _proof(form: AnchorForm | None = None) -> dict[str, Any]:
    n, head = journal.read_head()
    return {"head_n": n, "head": f"{n}:{head}" if n else "", "anchor_form": form or AnchorForm()}


def _show_proof(request: HttpRequest, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """The panel alone for htmx; without script the page with it."""
    if getattr(request, "htmx", False):
        return render(request, "audit_log/proof.html", {**context, "part": True}, status=status)
    page = page_of(filter_entries(Asked()))
    more = {"form": EntryFilter({}), "page": page, "verbs": VERBS, "query": ""}
    return render(request, "audit_log/audit_log.html", {**more, **context}, status=status)


def _number(text: str) -> int | None:
    """The number of an entry; None where it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def _query(data: Any) -> str:
    """The filters as a query string, for the links to other pages."""
    kept = QueryDict(mutable=True)
    for name in FILTERS:
        if data.get(name):
            kept[name] = data[name]
    return kept.urlencode()
