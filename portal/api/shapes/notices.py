"""The shape of a notice."""

from __future__ import annotations

from portal.api.shapes.words import MOMENT, TEXT, maybe, record

NOTICE = record(
    id=TEXT,
    verb=TEXT,
    text=TEXT,
    reason=TEXT,
    skill=maybe(TEXT),
    version=maybe(TEXT),
    environment=maybe(TEXT),
    release=maybe(TEXT),
    page=maybe(TEXT),
    at=MOMENT,
    read_at=maybe(MOMENT),
)
