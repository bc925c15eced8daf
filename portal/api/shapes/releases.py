"""Releases, and what is done to them."""

from __future__ import annotations

from portal.api.shapes.words import (
    BOOLEAN,
    INTEGER,
    JSON,
    MOMENT,
    SHA256,
    TEXT,
    Shape,
    listed,
    maybe,
    one_of,
    partly,
    record,
)

STATES = (
    *("proposed", "approved", "canary", "live", "rejected", "halted"),
    *("rolled_back", "superseded", "withdrawn", "expired"),
)
RELEASE_FIELDS: dict[str, Shape] = {
    "id": TEXT,
    "state": one_of(*STATES),
    "skill": TEXT,
    "version": TEXT,
    "bundle_sha256": SHA256,
    "environment": TEXT,
    "percent": INTEGER,
    "previous": maybe(TEXT),
    "note": TEXT,
    "proposer": maybe(TEXT),
    "proposed_at": MOMENT,
    "changed_at": MOMENT,
    "expires_at": maybe(MOMENT),
}
RELEASE = record(
    **RELEASE_FIELDS,
    needs=record(approvals=INTEGER, confirmation=BOOLEAN),
    approvals=listed(record(user=TEXT, note=TEXT, at=MOMENT)),
    gates=listed(record(name=TEXT, passed=BOOLEAN, detail=TEXT)),
    canary=JSON,
    transitions=listed(
        record(
            **{"n": INTEGER, "action": TEXT, "from": maybe(one_of(*STATES)), "to": one_of(*STATES)},
            by=maybe(TEXT),
            reason=TEXT,
            at=MOMENT,
        )
    ),
)
PROPOSE = partly(
    ("skill", "version", "environment"),
    skill=TEXT,
    version=TEXT,
    environment=TEXT,
    note=TEXT,
    canary=partly((), percent=INTEGER, steps=listed(INTEGER)),
)
ACT = partly((), note=TEXT, confirm=TEXT, reason=TEXT, percent=INTEGER)
