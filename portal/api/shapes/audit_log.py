"""The shape of an entry of the audit log."""

from __future__ import annotations

from portal.api.shapes.words import INTEGER, JSON, MOMENT, SHA256, TEXT, record

ENTRY = record(
    n=INTEGER,
    at=MOMENT,
    actor=TEXT,
    verb=TEXT,
    target=TEXT,
    before=JSON,
    after=JSON,
    origin=TEXT,
    hash=SHA256,
)
