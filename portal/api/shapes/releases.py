"""Releases, and what is done to them."""

from __future__ import annotations

from portal.api.shapes.words import (
    BOOLEAN,
    INTEGER,
    MOMENT,
    NUMBER,
    SHA256,
    TEXT,
    TEXTS,
    Shape,
    listed,
    maybe,
    one_of,
    partly,
    record,
    ref,
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
    "next_step_at": maybe(MOMENT),
    "previous": maybe(TEXT),
    "note": TEXT,
    "proposer": maybe(TEXT),
    "proposed_at": MOMENT,
    "changed_at": MOMENT,
    "expires_at": maybe(MOMENT),
}
CANARY = partly(
    (),
    percent=INTEGER,
    steps=listed(INTEGER),
    soak_minutes=INTEGER,
    guard=partly((), max_error_rate=maybe(NUMBER), max_p95_ms=maybe(INTEGER), min_calls=maybe(INTEGER)),
    agents=TEXTS,
    teams=TEXTS,
    tags=TEXTS,
)
WAITING = record(
    **RELEASE_FIELDS,
    approvals=record(held=INTEGER, needed=INTEGER),
    shut=TEXTS,
    live=maybe(TEXT),
)
INBOX = record(
    **{name: listed(WAITING) for name in ("decide", "void", "start", "holds", "blocked", "approved", "mine")},
    appeals=listed(ref("Appeal")),
)
RELEASE = record(
    **RELEASE_FIELDS,
    needs=record(approvals=INTEGER, confirmation=BOOLEAN),
    approvals=listed(record(user=TEXT, right_of=TEXT, note=TEXT, at=MOMENT)),
    gates=listed(record(name=TEXT, passed=BOOLEAN, detail=TEXT, overridden=TEXT)),
    overrides=listed(record(gate=TEXT, detail=TEXT, reason=TEXT, by=TEXT, at=MOMENT)),
    canary=CANARY,
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
    canary=CANARY,
)
ACT = partly((), note=TEXT, confirm=TEXT, reason=TEXT, percent=INTEGER, gate=TEXT)
