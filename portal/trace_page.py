"""The page of one trace: its calls, and what stands around them, on one axis of time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils.translation import gettext as _

from governance.models import Call, CallDetail, ContextSpan
from portal.clocks import ahead_by, clock_text
from portal.strips import Step, strip_of
from portal.waterfall import Bar, Piece, Place, draw, lay_out

LONGEST_ATTRIBUTES = 4096
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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

    @property
    def unknown(self) -> str:
        """What the catalog does not have of what the call names: skill, version, or "" for nothing."""
        if self.call.skill_text and not self.call.skill_id:
            return "skill"
        return "version" if self.call.version_text and not self.call.version_id else ""

    @property
    def clock(self) -> str:
        """What is wrong with the agent's clock, in words."""
        return clock_text(self.call)


@dataclass(frozen=True, slots=True)
class Line:
    """A call or a span of context on the axis; `attributes` as text that may be cut."""

    place: Place
    name: str
    failed: bool
    row: Row | None = None
    attributes: str = ""


def row_of(call: Call) -> Row:
    """A call with all that is kept of it."""
    detail: CallDetail | None = getattr(call, "detail", None)
    bars = draw(detail.spans, call_ms=call.duration_ms) if detail else ()
    return Row(call, strip_of(call.kind, call.outcome, call.failed_stage), detail, bars)


def lines_of(rows: Sequence[Row], spans: Sequence[ContextSpan]) -> tuple[Line, ...]:
    """All of a trace in its order. What clocks are ahead is taken off, so that agents stand beside each other."""
    calls = [row.call for row in rows]
    ahead = _ahead([*calls, *spans])
    pieces = [_piece(call.call_id, call, ahead) for call in calls]
    pieces += [_piece(span.span_id, span, ahead) for span in spans]
    return tuple(_line(place, rows, spans) for place in lay_out(pieces))


def _ahead(all_of: Iterable[Call | ContextSpan]) -> dict[object, timedelta]:
    """How far the clock of each agent is ahead."""
    found: defaultdict[object, timedelta] = defaultdict(timedelta)
    for one in all_of:
        found[one.agent_id] = max(found[one.agent_id], ahead_by(one))
    return found


def _piece(key: str, one: Call | ContextSpan, ahead: dict[object, timedelta]) -> Piece:
    start = one.started_at - _EPOCH - ahead[one.agent_id]
    return Piece(key, one.parent_id, start // timedelta(milliseconds=1), one.duration_ms)


def _line(place: Place, rows: Sequence[Row], spans: Sequence[ContextSpan]) -> Line:
    if place.index < len(rows):
        row = rows[place.index]
        name = row.call.skill.name if row.call.skill else row.call.skill_text or _("No skill chosen")
        return Line(place, name, row.call.outcome == "error", row)
    span = spans[place.index - len(rows)]
    told = json.dumps(span.attributes, indent=2, ensure_ascii=False) if span.attributes else ""
    if len(told) > LONGEST_ATTRIBUTES:
        told = told[:LONGEST_ATTRIBUTES] + "\n" + _("… cut here; the API gives the whole")
    return Line(place, span.name, span.outcome == "error", attributes=told)
