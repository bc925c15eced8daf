"""Skills and versions of the record."""

from __future__ import annotations

from portal.api.shapes.appeals import APPEAL_STATE
from portal.api.shapes.cards import CARD, RISK, STABILITY
from portal.api.shapes.publishing import FINDING_FIELDS, RUNTIMES
from portal.api.shapes.words import (
    BOOLEAN,
    INTEGER,
    JSON,
    MOMENT,
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

SWITCHED_OFF = record(reason=TEXT, fallback=maybe(TEXT), by=maybe(TEXT), at=MOMENT)
CATALOG_SKILL = record(
    skill_id=TEXT,
    name=TEXT,
    folder=TEXT,
    team=TEXT,
    owner=maybe(TEXT),
    visibility=one_of("organisation", "team"),
    sets=TEXTS,
    tags=TEXTS,
    latest_version=maybe(TEXT),
    description=TEXT,
    risk_level=maybe(RISK),
    stability=maybe(STABILITY),
    environments={
        "type": "object",
        "additionalProperties": record(live=maybe(TEXT), canary=maybe(TEXT), percent=maybe(INTEGER)),
    },
    switched_off={"type": "object", "additionalProperties": SWITCHED_OFF},
    created_at=MOMENT,
    updated_at=MOMENT,
)
OWNERSHIP = record(
    name=TEXT,
    team=TEXT,
    visibility=one_of("organisation", "team"),
    owner=maybe(TEXT),
    maintainers=TEXTS,
    deleted_at=maybe(MOMENT),
)
DEGRADE = partly(("reason",), environments=TEXTS, fallback=TEXT, reason=TEXT)
RESTORE = partly((), environments=TEXTS, reason=TEXT)
SETTLE = partly((), visibility=one_of("organisation", "team"), owner=TEXT, maintainers=TEXTS)
VERSION_FIELDS: dict[str, Shape] = {
    "name": TEXT,
    "version": TEXT,
    "version_text": TEXT,
    "description": TEXT,
    "bundle_sha256": SHA256,
    "artifact_sha256": SHA256,
    "risk_level": RISK,
    "suggested_risk": RISK,
    "effective_risk": RISK,
    "permissions": TEXTS,
    "tags": TEXTS,
    "stability": STABILITY,
    "declaration_sha256": SHA256,
    "size": INTEGER,
    "file_count": INTEGER,
    "has_resources": BOOLEAN,
    "has_scripts": BOOLEAN,
    "notes": TEXT,
    "provenance": JSON,
    "publisher": maybe(TEXT),
    "published_at": MOMENT,
    "yanked_at": maybe(MOMENT),
    "revoked_at": maybe(MOMENT),
    "deprecated_at": maybe(MOMENT),
}
VERSION = record(
    **VERSION_FIELDS,
    **CARD,
    findings=listed(record(id=SHA256, **FINDING_FIELDS, appeal=maybe(APPEAL_STATE))),
    runtimes=RUNTIMES,
    files=listed(ref("File")),
)
