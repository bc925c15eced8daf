"""The declared answers: which address, asked how, answers whom how (spec 4.5).

`who` names those who may, by the letters of `world.PEOPLE`; all others who are signed in are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone

from tests import make
from tests.roles.world import EVERYONE, Thing, World

# What an address holds where the thing that it names is not there.
MISSING = {
    "name": "no-such-skill",
    "fingerprint": "0" * 16,
    "release_id": "01a22c57-0000-7000-8000-000000000000",
    "appeal_id": "01a22c57-0000-7000-8000-000000000000",
}
# Answered to everyone alike, signed in or not, and told of elsewhere.
UNASKED = frozenset(
    {
        "sign-in",
        "sign-out",
        "welcome",
        "healthz",
        "readyz",
        "favicon",
        "api-index",
        "api-schema",
        "api-unknown",
    }
)
Sent = Mapping[str, Any] | Callable[[World, Thing | None], Mapping[str, Any]]


@dataclass(frozen=True)
class Row:
    """One address and method; `place` is what of a thing its path names ("" for none: it is not bound to a skill)."""

    name: str
    who: str
    method: str = "GET"
    place: str = ""
    ok: int = 200
    refused: int = 403
    kwargs: Mapping[str, str] = field(default_factory=dict)
    uses: Mapping[str, str] = field(
        default_factory=dict
    )  # an argument of the address → its id in `World.ids`
    data: Sent = field(default_factory=dict)
    agent: int = 403
    others: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    def __str__(self) -> str:
        told = (self.method, self.name, *self.kwargs.values(), *self.uses.values(), self.place, self.note)
        return " ".join(filter(None, told))

    @property
    def is_api(self) -> bool:
        """Whether it is asked with a token."""
        return self.name.startswith("api-")

    @property
    def is_bound(self) -> bool:
        """Whether it is about a skill, which somebody may not see."""
        return bool(self.place)

    def expected(self, who: str) -> int:
        """The status for somebody who sees the thing."""
        if who == "-":
            return 401 if self.is_api else 302
        if who == "t":
            return self.agent
        return self.ok if who in self.who else self.others.get(who, self.refused)

    def path(self, world: World, thing: Thing | None) -> str:
        """The address for the thing, or for one that is not there."""
        ids = {name: world.ids[key] for name, key in self.uses.items()}
        return reverse(self.name, kwargs={**_named(self.name, self.place, thing), **self.kwargs, **ids})

    def sent(self, world: World, thing: Thing | None) -> Mapping[str, Any]:
        """The form or body."""
        return self.data(world, thing) if callable(self.data) else self.data


def _named(address: str, place: str, thing: Thing | None) -> dict[str, str]:
    """The arguments of an address that names this of a thing: skill, version, spare, finding, appeal or a state."""
    if place in {"skill", "version", "spare", "finding"}:
        name = {"name": thing.skill.folder if thing else MISSING["name"]}
        if place == "skill":
            return name
        chosen = (thing.spare if place == "spare" else thing.version).version if thing else "1.0.0"
        if place != "finding":
            return {**name, "version": chosen}
        key = "finding_id" if address.startswith("api-") else "fingerprint"
        return {
            **name,
            "version": chosen,
            key: thing.finding.fingerprint if thing else MISSING["fingerprint"],
        }
    if place == "appeal":
        return {"appeal_id": str(thing.appeal.pk) if thing else MISSING["appeal_id"]}
    if place and place != "skill-sent":
        return {"release_id": str(thing.releases[place].pk) if thing else MISSING["release_id"]}
    return {}


TEAM = "pq"  # publishers of the owning team
DECIDE = "ao"  # approvers who neither proposed nor published
REASON = {"reason": "Because."}


def _propose(world: World, thing: Thing | None) -> Mapping[str, Any]:
    version = thing.spare.version if thing else "1.5.0"
    return {"version": version, "environment": "production", "percent": "100"}


def _api_propose(world: World, thing: Thing | None) -> Mapping[str, Any]:
    skill = thing.skill.folder if thing else MISSING["name"]
    return {"skill": skill, "version": "1.5.0", "environment": "production"}


def _confirm(world: World, thing: Thing | None) -> Mapping[str, Any]:
    return {**REASON, "confirm": thing.skill.folder if thing else "x", "password": make.PASSWORD}


def _lend(world: World, thing: Thing | None) -> Mapping[str, Any]:
    return {"taker": "otto", "ends_at": (timezone.now() + timedelta(days=3)).isoformat(), **REASON}


def _acts(name: str, ok: int) -> tuple[Row, ...]:
    """What is done with releases, in the portal or by REST."""

    def act(action: str, state: str, who: str, data: Sent, good: int = ok) -> Row:
        return Row(name, who, "POST", state, ok=good, kwargs={"action": action}, data=data)

    return (
        act("approve", "proposed", DECIDE, _confirm),
        act("reject", "proposed", DECIDE, REASON),
        act("withdraw", "proposed", TEAM, REASON),
        act("override", "proposed", "o", {"gate": "stability", **REASON}, 422),
        act("break_glass", "proposed", "o", _confirm),
        # Staging lets the owning team start and advance what is approved.
        act("start", "approved", TEAM + DECIDE, {"percent": 100}),
        act("advance", "canary", TEAM + DECIDE, {"percent": 50}),
        act("halt", "canary", TEAM + DECIDE, REASON),
        act("resume", "halted", DECIDE, {"percent": 10}),
        act("rollback", "live", TEAM + DECIDE, REASON),
    )


PAGES: tuple[Row, ...] = (
    Row("skill-list", EVERYONE),
    Row("search", EVERYONE),
    Row("profile", EVERYONE),
    Row("environment-choose", EVERYONE, "POST", ok=302),
    Row("inbox", EVERYONE),
    Row("publish", "pqs"),
    Row("publish", "pqs", "POST", ok=422),
    Row("publish-check", "pqs", "POST", ok=422),
    *(
        Row(name, EVERYONE, place=place)
        for name, place in (
            ("skill-detail", "skill"),
            ("version-files", "skill"),
            ("version-compare", "skill"),
            ("version-list", "skill"),
            ("version-detail", "version"),
            ("version-bundle", "version"),
            ("release-list", "skill"),
            ("release-detail", "proposed"),
            ("appeal-detail", "appeal"),
        )
    ),
    Row("version-file", EVERYONE, place="version", kwargs={"path": "SKILL.md"}),
    Row("version-edit", TEAM, place="version"),
    Row("version-edit", TEAM, "POST", "version"),
    Row("version-rescan", TEAM + "d", "POST", "version", ok=302),
    Row("finding-appeal", TEAM, place="finding"),
    Row("finding-appeal", TEAM, "POST", "finding", ok=302, data=REASON),
    Row("appeal-detail", DECIDE, "POST", "appeal", ok=302, data={"decision": "grant", "note": "Seen."}),
    *(
        Row("version-act", who, method, "spare", ok=ok, kwargs={"action": action}, data=REASON)
        for action, who in (("yank", TEAM), ("deprecate", TEAM), ("revoke", "d"))
        for method, ok in (("GET", 200), ("POST", 302))
    ),
    Row("skill-settings", TEAM + "d", place="skill"),
    Row("release-propose", TEAM, place="skill"),
    Row("release-propose", TEAM, "POST", "skill", ok=302, data=_propose),
    *_acts("release-act", 302),
    Row("skill-settings", TEAM + "d", "POST", "skill", ok=302, data={"visibility": "team"}),
    Row("skill-transfer", TEAM + "d", "POST", "skill", ok=422),
    Row("skill-delete", TEAM + "d", "POST", "skill", ok=422),
    Row("skill-degrade", TEAM + DECIDE, place="skill"),
    Row(
        "skill-degrade", TEAM + DECIDE, "POST", "skill", ok=302, data={"environments": "production", **REASON}
    ),
    Row("skill-restore", TEAM + DECIDE, place="skill"),
    Row(
        "skill-restore",
        TEAM + DECIDE,
        "POST",
        "skill",
        ok=302,
        data={"environments": "development", **REASON},
    ),
    # Traces: analysts, and publishers of the team's own skills.
    Row("trace-list", "pqsl"),
    Row("intake", "pqsld"),
    Row("trace-detail", "pql", kwargs={"trace_id": "trace-open"}, refused=404, note="open"),
    Row("trace-detail", "pql", kwargs={"trace_id": "trace-shut"}, refused=404, note="shut"),
    # What tells of oneself.
    Row("notice-list", EVERYONE),
    Row("notice-bell", EVERYONE, ok=302, note="outside of a page"),
    Row("notice-read-all", EVERYONE, "POST", ok=302),
    Row("notice-open", "p", uses={"notice_id": "notice"}, ok=302, refused=404),
    Row("notice-read", "p", "POST", uses={"notice_id": "notice"}, ok=302, refused=404),
    Row("token-list", EVERYONE),
    Row("token-issue", EVERYONE, "POST", ok=200, data={"name": "x", "scopes": "read", "days": "30"}),
    Row("token-revoke", "p", "POST", uses={"token_id": "own_token"}, ok=302, refused=404),
    Row("token-revoke", TEAM + "d", "POST", uses={"token_id": "agent_token"}, ok=302, refused=404),
    Row("token-rotate", "p", uses={"token_id": "own_token"}, refused=404),
    Row("token-rotate", "p", "POST", uses={"token_id": "own_token"}, ok=422, refused=404),
    Row("token-rotate", TEAM + "d", "POST", uses={"token_id": "agent_token"}, ok=422, refused=404),
    # Agents of a team: its publishers, and administrators.
    Row("agent-list", EVERYONE, note="of agents that the user sees"),
    Row("agent-create", "pqsd"),
    Row("agent-create", "pqsd", "POST", ok=422),
    *(
        Row(name, TEAM + "d", method, kwargs={"name": "front-desk"}, ok=ok, refused=404, data=data)
        for name, method, ok, data in (
            ("agent-detail", "GET", 200, {}),
            ("agent-settings", "GET", 200, {}),
            ("agent-settings", "POST", 302, {"highest_risk": "low"}),
            ("agent-transfer", "POST", 422, {}),
            ("agent-retire", "POST", 422, {}),
            ("agent-tokens-revoke", "POST", 302, {}),
            ("agent-token-issue", "POST", 422, {}),
        )
    ),
    # Environments and teams are known to everyone signed in, and changed by administrators.
    Row("environment-list", EVERYONE),
    Row("environment-detail", EVERYONE, kwargs={"name": "production"}),
    Row("team-list", EVERYONE),
    Row("team-detail", EVERYONE, kwargs={"slug": "payments"}),
    *(
        Row(name, "d", method, kwargs=kwargs, ok=ok)
        for name, method, kwargs, ok in (
            ("environment-create", "GET", {}, 200),
            ("environment-create", "POST", {}, 422),
            ("environment-detail", "POST", {"name": "production"}, 422),
            ("environment-preview", "POST", {"name": "production"}, 422),
            ("environment-move", "POST", {"name": "production"}, 400),
            ("environment-delete", "GET", {"name": "production"}, 200),
            ("environment-delete", "POST", {"name": "production"}, 422),
            ("team-create", "GET", {}, 200),
            ("team-create", "POST", {}, 422),
            ("team-rename", "POST", {"slug": "payments"}, 422),
            ("team-remove", "POST", {"slug": "payments"}, 409),
            ("team-grant", "POST", {"slug": "payments"}, 422),
            ("person-list", "GET", {}, 200),
            ("person-invite", "GET", {}, 200),
            ("person-invite", "POST", {}, 422),
            ("person-detail", "GET", {"username": "ravi"}, 200),
            ("person-grant", "POST", {"username": "ravi"}, 422),
            ("person-link", "POST", {"username": "ravi"}, 200),
            ("person-close", "GET", {"username": "ravi"}, 200),
            ("person-close", "POST", {"username": "ravi"}, 422),
            ("person-open", "POST", {"username": "ravi"}, 409),
            ("erasure-list", "GET", {}, 200),
            ("erasure-preview", "POST", {}, 422),
            ("erasure-create", "POST", {}, 422),
            ("masking", "GET", {}, 200),
            ("masking-try", "POST", {}, 422),
            ("masking-stored", "GET", {}, 200),
            ("masking-stored", "POST", {}, 302),
            ("masking-rule-create", "GET", {}, 200),
            ("masking-rule-create", "POST", {}, 422),
            ("masking-kind-switch", "GET", {"kind": "EMAIL"}, 200),
            ("masking-kind-switch", "POST", {"kind": "EMAIL"}, 422),
            ("audit-log", "GET", {}, 200),
            ("audit-log-export", "GET", {}, 200),
            ("audit-log-verify", "POST", {}, 200),
        )
    ),
    # Who is asked for by a name that is not there is refused all the same, so that no name leaks.
    Row("person-detail", "d", kwargs={"username": "nobody-of-that-name"}, ok=404, note="missing"),
    Row("erasure-detail", "d", uses={"erasure_id": "erasure"}),
    Row("masking-rule-edit", "d", uses={"rule_id": "rule"}),
    Row("masking-rule-edit", "d", "POST", uses={"rule_id": "rule"}, ok=422),
    Row("masking-rule-switch", "d", "POST", uses={"rule_id": "rule"}, ok=302),
    Row("masking-rule-delete", "d", uses={"rule_id": "rule"}),
    Row("masking-rule-delete", "d", "POST", uses={"rule_id": "rule"}, ok=302),
    Row("grant-remove", "d", "POST", uses={"grant_id": "grant"}, ok=302),
    Row(
        "person-token-revoke",
        "d",
        "POST",
        kwargs={"username": "ines"},
        uses={"token_id": "own_token"},
        ok=302,
    ),
    # Members leave their own team.
    Row("team-leave", "rpq", kwargs={"slug": "payments"}),
    Row("team-leave", "rpq", "POST", kwargs={"slug": "payments"}, ok=302),
    # Rights are lent by those who hold them, and seen by giver and taker.
    Row("delegation-list", EVERYONE),
    Row("delegation-create", "ao"),
    Row("delegation-create", "ao", "POST", ok=422),
    Row("delegation-end", "ald", "POST", uses={"delegation_id": "loan"}, ok=302, refused=404),
)
API: tuple[Row, ...] = (
    *(
        Row(name, EVERYONE, place=place)
        for name, place in (
            ("api-skill-list", ""),
            ("api-skill-detail", "skill"),
            ("api-version-list", "skill"),
            ("api-version-detail", "version"),
            ("api-version-bundle", "version"),
            ("api-release-list", ""),
            ("api-release-detail", "proposed"),
            ("api-inbox", ""),
        )
    ),
    Row("api-version-compare", EVERYONE, place="skill"),
    Row("api-version-file", EVERYONE, place="version", kwargs={"path": "SKILL.md"}),
    Row("api-publish", TEAM, "POST", ok=422, data={"team": "payments"}, note="nothing"),
    Row("api-skill-detail", TEAM + "d", "DELETE", "skill", ok=200, data=REASON),
    Row("api-skill-detail", TEAM + "d", "PATCH", "skill", data={"visibility": "team"}),
    Row("api-skill-transfer", "d", "POST", "skill", data={"team": "support", **REASON}),
    *(
        Row("api-version-act", who, "POST", "spare", kwargs={"action": action}, data=REASON)
        for action, who in (("yank", TEAM), ("deprecate", TEAM), ("revoke", "d"))
    ),
    Row("api-version-rescan", TEAM + "d", "POST", "version"),
    Row("api-finding-appeal", TEAM, "POST", "finding", ok=201, data=REASON),
    Row("api-appeal-list", EVERYONE),
    Row("api-appeal-detail", EVERYONE, place="appeal"),
    Row("api-appeal-decide", DECIDE, "POST", "appeal", kwargs={"decision": "grant"}, data=REASON),
    Row("api-release-list", TEAM, "POST", "skill-sent", ok=201, data=_api_propose),
    *_acts("api-release-act", 200),
    Row("api-skill-degrade", TEAM + DECIDE, "POST", "skill", data={"environments": ["production"], **REASON}),
    Row("api-skill-restore", TEAM + DECIDE, "POST", "skill", data={"environments": ["development"]}),
    Row("api-intake", "pqsld"),
    Row("api-trace-list", EVERYONE, note="of calls that the user may read"),
    Row("api-trace-list", "", "POST", data={"calls": []}, agent=202, note="with no calls"),
    Row("api-otlp-traces", "", "POST", data={"resourceSpans": []}, agent=200, note="with no spans"),
    Row("api-otlp-logs", "", "POST", data={"resourceLogs": []}, agent=200, note="with no records"),
    Row("api-trace-detail", "pql", kwargs={"trace_id": "trace-open"}, refused=404),
    Row("api-trace-detail", "pql", kwargs={"trace_id": "trace-shut"}, refused=404),
    Row("api-token-list", EVERYONE),
    Row("api-token-rotate", "p", "POST", uses={"token_id": "own_token"}, ok=201, refused=404),
    Row("api-token-rotate", TEAM + "d", "POST", uses={"token_id": "agent_token"}, ok=201, refused=404),
    Row("api-token-revoke", "p", "POST", uses={"token_id": "own_token"}, refused=404),
    Row("api-token-revoke", TEAM + "d", "POST", uses={"token_id": "agent_token"}, refused=404),
    Row("api-agent-list", EVERYONE),
    Row("api-agent-list", "pqd", "POST", ok=201, data={"name": "second-desk", "team": "payments"}),
    *(
        Row(name, TEAM + "d", method, kwargs={"name": "front-desk"}, ok=ok, refused=404, data=data)
        for name, method, ok, data in (
            ("api-agent-detail", "GET", 200, {}),
            ("api-agent-detail", "PATCH", 200, {"highest_risk": "low"}),
            ("api-agent-retire", "POST", 200, REASON),
            ("api-agent-tokens", "GET", 200, {}),
            ("api-agent-tokens", "POST", 201, {"environment": "staging", "scopes": ["feed"]}),
        )
    ),
    Row(
        *("api-agent-transfer", "d", "POST"),
        kwargs={"name": "front-desk"},
        data={"team": "support", **REASON},
        refused=404,
        others={"p": 403, "q": 403},  # they see the agent, and do not publish for Support
    ),
    Row("api-environment-list", EVERYONE),
    Row("api-environment-detail", EVERYONE, kwargs={"name": "production"}),
    Row("api-team-list", EVERYONE),
    Row("api-team-detail", EVERYONE, kwargs={"slug": "payments"}),
    *(
        Row(name, "d", method, kwargs=kwargs, ok=ok, data=data)
        for name, method, kwargs, ok, data in (
            ("api-environment-list", "POST", {}, 201, {"name": "canary-land", "title": "Canary land"}),
            ("api-environment-detail", "PATCH", {"name": "production"}, 200, {"approvals_low": 2}),
            ("api-environment-detail", "DELETE", {"name": "production"}, 409, {}),
            ("api-team-list", "POST", {}, 201, {"slug": "tax", "name": "Tax"}),
            ("api-team-detail", "PATCH", {"slug": "payments"}, 200, {"name": "Pay"}),
            ("api-team-detail", "DELETE", {"slug": "payments"}, 409, {}),
            ("api-grant-list", "GET", {}, 200, {}),
            ("api-grant-list", "POST", {}, 201, {"user": "nora", "role": "reader"}),
            ("api-person-list", "GET", {}, 200, {}),
            ("api-person-list", "POST", {}, 201, {"username": "tess"}),
            ("api-person-detail", "GET", {"username": "ravi"}, 200, {}),
            ("api-person-link", "POST", {"username": "ravi"}, 200, {}),
            ("api-person-close", "POST", {"username": "ravi"}, 200, REASON),
            ("api-person-open", "POST", {"username": "ravi"}, 409, {}),
            ("api-subject-erase", "POST", {}, 202, {"value": "anna@example.org"}),
            ("api-erasure-list", "GET", {}, 200, {}),
            ("api-masking-rule-list", "GET", {}, 200, {}),
            ("api-masking-rule-list", "POST", {}, 201, {"kind": "STAFF", "pattern": "EMP", "sample": "EMP"}),
            ("api-masking-try", "POST", {}, 200, {"sample": "x"}),
            ("api-masking-kind-list", "GET", {}, 200, {}),
            ("api-masking-kind-switch", "POST", {"kind": "IP"}, 200, {"is_on": False, **REASON}),
            ("api-audit-log", "GET", {}, 200, {}),
            ("api-audit-log-verify", "GET", {}, 200, {}),
        )
    ),
    Row("api-erasure-detail", "d", uses={"erasure_id": "erasure"}),
    Row("api-masking-rule-detail", "d", "PATCH", uses={"rule_id": "rule"}, data={"is_on": False}),
    Row("api-masking-rule-detail", "d", "DELETE", uses={"rule_id": "rule"}),
    Row("api-grant-remove", "d", "DELETE", uses={"grant_id": "grant"}),
    Row("api-delegation-list", EVERYONE),
    Row("api-delegation-list", "ao", "POST", ok=201, data=_lend),
    Row("api-delegation-end", "ald", "POST", uses={"delegation_id": "loan"}, refused=404),
    Row("api-notice-list", EVERYONE),
    Row("api-notice-read", "p", "POST", uses={"notice_id": "notice"}, refused=404),
    Row("api-notice-read-all", EVERYONE, "POST"),
    # The feed is for agents alone, and tells them of what they are served.
    *(
        Row(name, "", kwargs=kwargs, agent=200)
        for name, kwargs in (
            ("api-feed", {}),
            ("api-feed-advertise", {}),
            ("api-feed-tools", {}),
            ("api-feed-skill", {"name": "refund-check"}),
            ("api-feed-resource", {"name": "refund-check", "path": "references/rules.md"}),
            ("api-feed-bundle", {"name": "refund-check"}),
        )
    ),
    Row("api-feed-advertise", "", "POST", data={"template": "{skills}"}, agent=200),
)
ROWS: tuple[Row, ...] = (*PAGES, *API)
