"""Subjects whose traces are erased."""

from __future__ import annotations

from portal.api.shapes.words import INTEGER, MOMENT, TEXT, TEXTS, maybe, one_of, partly, record

ERASE = partly(("value",), value=TEXT, reason=TEXT)
ERASURE = record(
    id=TEXT,
    state=one_of("waiting", "running", "done"),
    masks=TEXTS,
    reason=TEXT,
    requested_by=TEXT,
    requested_at=MOMENT,
    begins_at=MOMENT,
    finished_at=maybe(MOMENT),
    traces=INTEGER,
    calls=INTEGER,
    spans=INTEGER,
    tasks=INTEGER,
    lost=INTEGER,
    lost_until=maybe(MOMENT),
)
