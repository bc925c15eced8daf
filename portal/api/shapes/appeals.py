"""Appeals of findings, and scans that bring findings up to date."""

from __future__ import annotations

from portal.api.shapes.cards import RISK
from portal.api.shapes.words import INTEGER, MOMENT, SHA256, TEXT, maybe, one_of, partly, record

APPEAL_STATE = one_of("waiting", "granted", "refused")
APPEAL = record(
    id=TEXT,
    state=APPEAL_STATE,
    skill=TEXT,
    version=TEXT,
    finding=SHA256,
    code=TEXT,
    reason=TEXT,
    by=maybe(TEXT),
    made_at=MOMENT,
    decided_by=maybe(TEXT),
    decided_at=maybe(MOMENT),
    note=TEXT,
    effective_risk=RISK,
)
# To refuse needs a reason, to grant may have one.
DECIDE = partly((), reason=TEXT)
RESCAN = record(
    name=TEXT,
    version=TEXT,
    gained=INTEGER,
    lost=INTEGER,
    suggested_risk=record(before=RISK, after=RISK),
    effective_risk=RISK,
)
