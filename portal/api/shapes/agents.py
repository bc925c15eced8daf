"""Agents and tokens, and what is sent about them."""

from __future__ import annotations

from portal.api.shapes.words import (
    INTEGER,
    MOMENT,
    TEXT,
    TEXTS,
    Shape,
    listed,
    maybe,
    one_of,
    partly,
    record,
)

# As in `catalog.tokens`, which the settings cannot read.
OF_AGENTS = ("feed", "traces:write", "evaluations:write")
OF_USERS = ("read", "publish", "release", "traces:read", "evaluations:write", "admin")
RISK = one_of("low", "medium", "high")
LIMITS: dict[str, Shape] = {
    "description": TEXT,
    "tags": TEXTS,
    "skills": TEXTS,
    "sets": TEXTS,
    "skill_tags": TEXTS,
    "highest_risk": RISK,
    "template": TEXT,
}
AGENT = record(
    name=TEXT,
    team=TEXT,
    **LIMITS,
    environments=TEXTS,
    created_at=MOMENT,
    last_seen_at=maybe(MOMENT),
    retired_at=maybe(MOMENT),
)
MAKE_AGENT = partly(("name", "team"), name=TEXT, team=TEXT, **LIMITS)
CHANGE_AGENT = partly((), **LIMITS)
SCOPE = one_of(*dict.fromkeys((*OF_AGENTS, *OF_USERS)))
TOKEN_FIELDS: dict[str, Shape] = {
    "id": TEXT,
    "name": TEXT,
    "prefix": TEXT,
    "agent": maybe(TEXT),
    "environment": maybe(TEXT),
    "user": maybe(TEXT),
    "scopes": listed(SCOPE),
    "state": one_of("valid", "replaced", "expired", "revoked"),
    "created_at": MOMENT,
    "expires_at": MOMENT,
    "last_used_at": maybe(MOMENT),
    "revoked_at": maybe(MOMENT),
    "replaced_by": maybe(TEXT),
}
TOKEN = record(**TOKEN_FIELDS)
# null where the answer is a repetition.
ISSUED = record(**TOKEN_FIELDS, secret=maybe(TEXT))
ISSUE = partly(
    ("environment", "scopes"), environment=TEXT, scopes=listed(one_of(*OF_AGENTS)), name=TEXT, days=INTEGER
)
ROTATE = partly((), overlap_hours=INTEGER, days=INTEGER)
