"""Calls as agents reported them: the list, and the calls of one trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from governance.models import Call, CallDetail
from governance.traces import readable_calls
from portal import access
from portal.access import NotFound
from portal.forms.traces import TraceFilter
from portal.fragments import render_part
from portal.shell import shell_of
from portal.strips import Step, strip_of
from portal.tracing import Asked, filter_calls, page_of, trace_id_of
from portal.waterfall import Bar, draw

MOST_CALLS = 100
FILTERS = tuple(TraceFilter.base_fields)


@dataclass(frozen=True, slots=True)
class Row:
    """A call with its strip of stages and, on its own page, its payloads and its spans."""

    call: Call
    strip: tuple[Step, ...]
    detail: CallDetail | None = None
    spans: tuple[Bar, ...] = ()

    @property
    def failed(self) -> Step | None:
        """The stage that failed, where it was said."""
        return next((step for step in self.strip if step.state in {"fail", "denied"}), None)


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
    """The calls of one trace, in their order; one that the user may not read is not there."""
    stored = trace_id_of(trace_id)
    calls = (
        readable_calls(access.powers(request))
        .filter(trace_id=stored)
        .select_related("agent", "environment", "skill", "version", "detail", "release")
        .order_by("started_at", "pk")[: MOST_CALLS + 1]
    )
    rows = [_row(call) for call in calls]
    if not rows:
        raise NotFound(_("There is no such trace"))
    context = {"trace_id": stored, "rows": rows[:MOST_CALLS], "more": len(rows) > MOST_CALLS}
    return render(request, "traces/trace_detail.html", context)


def _row(call: Call) -> Row:
    detail: CallDetail | None = getattr(call, "detail", None)
    bars = draw(detail.spans, call_ms=call.duration_ms) if detail else ()
    return Row(call, strip_of(call.kind, call.outcome, call.failed_stage), detail, bars)


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
