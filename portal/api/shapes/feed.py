"""What an agent is served."""

from __future__ import annotations

from portal.api.shapes.cards import CARD, RISK, STABILITY
from portal.api.shapes.words import (
    BOOLEAN,
    INTEGER,
    JSON,
    SHA256,
    TEXT,
    TEXTS,
    Shape,
    listed,
    maybe,
    partly,
    record,
    ref,
)

SKILL_FIELDS: dict[str, Shape] = {
    "skill_id": TEXT,
    "name": TEXT,
    "folder": TEXT,
    "description": TEXT,
    "version": TEXT,
    "bundle_sha256": SHA256,
    "stability": STABILITY,
    "risk_level": RISK,
    "tags": TEXTS,
    **CARD,
    "provenance": JSON,
    "permissions": TEXTS,
    "has_resources": BOOLEAN,
    "has_scripts": BOOLEAN,
    "needs_confirmation": BOOLEAN,
    "available": BOOLEAN,
    "unavailable_reason": maybe(TEXT),
    "fallback": maybe(TEXT),
    "fallback_for": TEXTS,
}
LOADED = record(
    **SKILL_FIELDS,
    skill_name=TEXT,
    instructions=TEXT,
    content=TEXT,
    files=listed(ref("File")),
    resources=listed(
        record(path=TEXT, name=TEXT, description=maybe(TEXT), media_type=TEXT, size=INTEGER, sha256=SHA256)
    ),
    scripts=listed(record(path=TEXT, sha256=SHA256, size=INTEGER)),
)
ADVERTISED = partly(
    ("skills",),
    skills=listed(record(name=TEXT, description=TEXT, has_resources=BOOLEAN, has_scripts=BOOLEAN)),
    note=TEXT,
)
TOOLS = record(tools=listed(record(name=TEXT, description=TEXT, parameters=JSON)))
