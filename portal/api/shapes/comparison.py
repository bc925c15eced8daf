"""What changed between two versions."""

from __future__ import annotations

from portal.api.shapes.words import (
    BOOLEAN,
    INTEGER,
    JSON,
    TEXT,
    TEXTS,
    Shape,
    listed,
    maybe,
    one_of,
    record,
)

PART = one_of("major", "minor", "patch")
DELTA = record(gained=TEXTS, lost=TEXTS)
COMPARED_FIELDS: dict[str, Shape] = {
    "name": TEXT,
    "from": TEXT,
    "to": TEXT,
    "same_bytes": BOOLEAN,
    "files": listed(
        record(
            path=TEXT,
            change=one_of("added", "removed", "changed"),
            size_before=maybe(INTEGER),
            size_after=maybe(INTEGER),
        )
    ),
    "schemas": listed(record(side=one_of("input", "output"), where=TEXT, change=TEXT, bump=PART)),
    "permissions": DELTA,
    "allowed_tools": DELTA,
    # Only the fields that differ.
    "declaration": {"type": "object", "additionalProperties": record(before=JSON, after=JSON)},
    "bump": record(least=PART, named=maybe(PART), honest=BOOLEAN, breaks=BOOLEAN, next=TEXT, why=TEXTS),
}
COMPARED = record(**COMPARED_FIELDS)
