"""Teams, people, grants and delegations."""

from __future__ import annotations

from portal.api.shapes.words import (
    BOOLEAN,
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
    ref,
)

ROLE = one_of("reader", "publisher", "approver", "analyst", "admin")
TEAM_FIELDS: dict[str, Shape] = {"slug": TEXT, "name": TEXT, "members": INTEGER, "skills": INTEGER}
TEAM_DETAIL = record(
    **TEAM_FIELDS,
    people=listed(
        record(
            username=TEXT,
            name=TEXT,
            roles=listed(record(role=ROLE, environment=maybe(TEXT), may_override=BOOLEAN)),
        )
    ),
)
TEAM_NEW = partly(("name",), name=TEXT, slug=TEXT)
GRANT = record(id=TEXT, user=TEXT, role=ROLE, team=maybe(TEXT), environment=maybe(TEXT), may_override=BOOLEAN)
WANTED: dict[str, Shape] = {
    "role": ROLE,
    "team": maybe(TEXT),
    "environment": maybe(TEXT),
    "may_override": BOOLEAN,
}
GRANT_NEW = partly(("user", "role"), user=TEXT, **WANTED)
PERSON_FIELDS: dict[str, Shape] = {
    "username": TEXT,
    "name": TEXT,
    "email": TEXT,
    "state": one_of("active", "waiting", "closed"),
    "superuser": BOOLEAN,
    "last_sign_in": maybe(MOMENT),
    "grants": listed(ref("Grant")),
}
DETAIL_FIELDS: dict[str, Shape] = {
    **PERSON_FIELDS,
    "tokens": listed(
        record(
            id=TEXT,
            prefix=TEXT,
            name=TEXT,
            scopes=TEXTS,
            expires_at=MOMENT,
            last_used_at=maybe(MOMENT),
            revoked_at=maybe(MOMENT),
        )
    ),
    "skills": TEXTS,
    "delegations": listed(ref("Delegation")),
}
PERSON_DETAIL = record(**DETAIL_FIELDS)
# The link is there in the first answer alone.
LINK: dict[str, Shape] = {"link": maybe(TEXT), "mailed": BOOLEAN}
INVITED = record(**DETAIL_FIELDS, **LINK)
INVITE = partly(
    ("username",), username=TEXT, name=TEXT, email=TEXT, grants=listed(partly(("role",), **WANTED))
)
CLOSE = partly(
    ("reason",),
    reason=TEXT,
    successor=TEXT,
    successors={"type": "object", "additionalProperties": TEXT},
)
DELEGATION = record(
    id=TEXT,
    giver=TEXT,
    taker=TEXT,
    team=maybe(TEXT),
    environment=maybe(TEXT),
    reason=TEXT,
    starts_at=MOMENT,
    ends_at=MOMENT,
    ended_at=maybe(MOMENT),
    state=one_of("planned", "running", "over", "ended"),
    in_force=BOOLEAN,
)
LEND = partly(
    ("taker", "ends_at", "reason"),
    taker=TEXT,
    team=maybe(TEXT),
    environment=maybe(TEXT),
    starts_at=maybe(MOMENT),
    ends_at=MOMENT,
    reason=TEXT,
)
