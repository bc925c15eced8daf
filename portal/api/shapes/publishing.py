"""What is published, and what comes of it."""

from __future__ import annotations

from portal.api.shapes.cards import RISK, STABILITY
from portal.api.shapes.words import (
    BOOLEAN,
    INTEGER,
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

FINDING_FIELDS: dict[str, Shape] = {
    "code": TEXT,
    "severity": one_of("error", "warning", "advice"),
    "path": TEXT,
    "line": maybe(INTEGER),
    "message": TEXT,
    "hint": TEXT,
}
FINDING = record(**FINDING_FIELDS)
RUNTIMES = {
    "type": "object",
    "additionalProperties": record(verdict=one_of("loads", "loss", "fails"), notes=TEXTS),
}
RESULT = record(
    name=TEXT,
    version=TEXT,
    status=one_of("published", "unchanged", "conflict", "rejected", "checked"),
    bundle_sha256=TEXT,
    risk_level=TEXT,
    findings=listed(ref("Finding")),
    runtimes=RUNTIMES,
)
DECLARED: dict[str, Shape] = {
    "team": TEXT,
    "version": TEXT,
    "set": TEXT,
    "risk_level": RISK,
    "stability": STABILITY,
    "permissions": TEXTS,
    "tags": TEXTS,
    "notes": TEXT,
    "dry_run": BOOLEAN,
}
PUBLISH_JSON = partly(
    ("team", "metadata"),
    **DECLARED,
    metadata={**partly(("name", "description"), name=TEXT, description=TEXT)},
    instructions=TEXT,
    resources={
        "type": "object",
        "additionalProperties": {"anyOf": [TEXT, record(base64=TEXT)]},
    },
)
PUBLISH_FORM = partly(
    ("team", "file"),
    **DECLARED,
    file={"type": "string", "format": "binary"},
)
