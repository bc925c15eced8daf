"""Calls as agents reported them: the list, and the calls of one trace."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from governance.traces import readable_calls, readable_spans
from portal import access
from portal.access import NotFound
from portal.forms.traces import TraceFilter
from portal.fragments import render_part
from portal.shell import shell_of
from portal.strips import strip_of
from portal.trace_page import Row, lines_of, row_of
from portal.tracing import Asked, filter_calls, page_of, trace_ids_of

MOST_CALLS = 100
MOST_SPANS = 200
FILTERS = tuple(TraceFilter.base_fields)


@require_safe
def trace_list(request: HttpRequest) -> HttpResponse:
    """The calls that the user may read and that match, by key, newest first."""
    powers = access.powers(request)
    if not powers.reads_some_traces:
        return render(request, "traces/trace_list.html", {"may_read": False}, status=403)
    form = TraceFilter(_query_of(request))
    calls = readable_calls(powers)
    asked = form.asked()
    page = page_of(
        filter_calls(calls, asked, now=timezone.now()),
        before=request.GET.get("before", ""),
        after=request.GET.get("after", ""),
    )
    context = {
        "form": form,
        "rows": [Row(call, strip_of(call.kind, call.outcome, call.failed_stage)) for call in page.calls],
        "page": page,
        "filtered": asked != Asked(),
        "search_days": asked.search_days,
        "any_calls": bool(page.calls) or calls.exists(),
        "may_read": True,
        "query": _query(form.data),
    }
    return render_part(request, "traces/trace_list.html", "rows", context)


@require_safe
def trace_detail(request: HttpRequest, trace_id: str) -> HttpResponse:
    """The calls of one trace and what is around them; one that the user may not read is not there."""
    stored, powers = trace_ids_of(trace_id), access.powers(request)
    calls = (
        readable_calls(powers)
        .filter(trace_id__in=stored)
        .select_related("agent", "environment", "skill", "version", "detail", "release")
        .order_by("started_at", "pk")[: MOST_CALLS + 1]
    )
    rows = [row_of(call) for call in calls]
    if not rows:
        raise NotFound(_("There is no such trace"))
    spans = list(readable_spans(powers, stored).order_by("started_at", "pk")[: MOST_SPANS + 1])
    context = {
        "trace_id": stored[0],
        "rows": rows[:MOST_CALLS],
        "more": len(rows) > MOST_CALLS,
        "lines": lines_of(rows[:MOST_CALLS], spans[:MOST_SPANS]),
        "span_count": len(spans[:MOST_SPANS]),
        "more_spans": len(spans) > MOST_SPANS,
    }
    return render(request, "traces/trace_detail.html", context)


def _query_of(request: HttpRequest) -> QueryDict:
    """The address's filters; without an environment in it the one that is chosen in the sidebar."""
    asked = request.GET.copy()
    chosen = shell_of(request).environment
    if "environment" not in asked and chosen:
        asked["environment"] = chosen.name
    return asked


def _query(data: Any) -> str:
    """The filters as a query string, for the links to other pages."""
    kept = QueryDict(mutable=True)
    for name in FILTERS:
        if data.get(name):
            kept[name] = data[name]
    return kept.urlencode()
