"""What became of that which a sender sent: in the database, and on the page of its trace."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import unescape
from typing import Any

from django.db.models import Model
from django.utils.html import strip_tags

from catalog.models import User
from governance.models import Call, CallDetail, ContextSpan, Intake, SubjectTag
from tests.portal.pages import signed_in


@dataclass(frozen=True)
class Arrived:
    """The rows of a trace, calls by kind and outcome: some clocks give calls one after the other the same millisecond."""

    calls: list[Call]
    spans: list[ContextSpan]

    def kinds(self) -> list[tuple[str, str, str, str]]:
        """Of each call its kind, skill, version and outcome."""
        return [(call.kind, call.skill_text, call.version_text, call.outcome) for call in self.calls]

    def names(self) -> set[str]:
        """The names of the spans of context."""
        return {span.name for span in self.spans}


def arrived(trace_id: str) -> Arrived:
    """The calls and spans of this trace."""
    calls = Call.objects.filter(trace_id=trace_id).select_related("detail").order_by("-kind", "-outcome")
    spans = ContextSpan.objects.filter(trace_id=trace_id).order_by("started_at", "pk")
    return Arrived(list(calls), list(spans))


def everything() -> str:
    """Every row that a report can write, as text: to look for what must be nowhere."""
    models: tuple[type[Model], ...] = (Call, CallDetail, ContextSpan, SubjectTag, Intake)
    rows: list[Any] = [list(model._default_manager.values()) for model in models]
    return json.dumps(rows, default=str, ensure_ascii=False)


def trace_page(user: User, trace_id: str) -> str:
    """The text of the page of the trace, as the user reads it."""
    answer = signed_in(user).get(f"/traces/{trace_id}/")
    assert answer.status_code == 200, answer.content
    return " ".join(unescape(strip_tags(answer.content.decode())).split())
