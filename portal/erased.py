"""An erasure as pages and REST show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from governance.erasures import begins_at, longest_retention, lost_until, subject_of
from governance.models import Erasure
from governance.subjects import Subject

State = Erasure.State


@dataclass(frozen=True, slots=True)
class Shown:
    """An erasure with the masks that stand for the value, and by when what is lost will be gone by retention."""

    row: Erasure
    subject: Subject
    begins_at: datetime
    lost_until: datetime | None

    @property
    def is_open(self) -> bool:
        """Whether it is still to be done."""
        return self.row.state != State.DONE

    @property
    def masks(self) -> list[str]:
        """The masks of the value."""
        return self.subject.masks

    @property
    def keys(self) -> int:
        """Under how many keys it was looked for."""
        return len({tag.key_id for tag in self.subject.tags})


def shown(rows: Iterable[Erasure]) -> list[Shown]:
    """The erasures to be shown; policies are asked once for all of them."""
    longest = longest_retention()
    return [Shown(row, subject_of(row), begins_at(row), lost_until(row, longest)) for row in rows]


def show_erasure(one: Shown) -> dict[str, Any]:
    """An erasure as the API answers it."""
    row = one.row
    return {
        "id": str(row.pk),
        "state": row.state,
        "masks": one.masks,
        "reason": row.reason,
        "requested_by": row.requested_by.username,
        "requested_at": row.requested_at,
        "begins_at": one.begins_at,
        "finished_at": row.finished_at,
        "traces": row.traces,
        "calls": row.calls,
        "spans": row.spans,
        "tasks": row.tasks,
        "lost": row.lost,
        "lost_until": one.lost_until,
    }
