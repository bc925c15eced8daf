"""Agents by REST: who registers, limits, transfers and retires them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.http import HttpResponse

from catalog import caches
from catalog.models import Agent, JournalEntry, Token, Version
from catalog.tokens import USER_SCOPES
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller
from tests.portal.api.test_api_schema import examples, same_shape

pytestmark = pytest.mark.django_db

MADE = {"name": "till", "team": "payments", "highest_risk": "medium", "skill_tags": ["money"]}


def patch(who: Caller, path: str, body: Any, **headers: str) -> HttpResponse:
    """A PATCH of JSON."""
    more = {"headers": {name.replace("_", "-"): value for name, value in headers.items()}}
    return who.send("PATCH", path, data=json.dumps(body), content_type="application/json", **more)


@pytest.fixture
def till(cast: make.Cast) -> Agent:
    """An agent of Payments."""
    return make.agent("till", team=cast.payments)


def test_an_agent_is_registered_read_changed_and_retired(ines: Caller, refunds: Version) -> None:
    made = ines.post("agents", {**MADE, "skills": ["refund-check"], "tags": "pilot, desk"})
    assert made.status_code == 201, made.content
    body = made.json()
    assert body == ines.get("agents/till").json()
    assert (body["skills"], body["tags"], body["environments"]) == (["refund-check"], ["pilot", "desk"], [])
    assert ines.get("agents").json() == {"items": [body], "next": None}
    changed = patch(ines, "agents/till", {"highest_risk": "low", "skills": [], "template": "Use {skills}"})
    assert changed.json() == {**body, "highest_risk": "low", "skills": [], "template": "Use {skills}"}
    _, secret = make.token(agent=Agent.objects.get())
    assert Caller(secret).get("feed").status_code == 200
    assert ines.get("agents/till").json()["environments"] == ["production"]
    retired = ines.post("agents/till/retire", {"reason": "Replaced."}).json()
    assert retired["retired_at"]
    assert retired["environments"] == []
    assert Caller(secret).get("feed").status_code == 401
    assert ines.post("agents/till/retire", {"reason": "Again."}).json() == retired
    assert ines.get("agents").json()["items"] == []
    assert ines.get("agents?retired=true").json()["items"] == [retired]
    assert_problem(patch(ines, "agents/till", {"highest_risk": "high"}), 409, "agent-retired")
    assert_problem(ines.post("agents", MADE), 409, "agent-taken")
    verbs = list(JournalEntry.objects.filter(target="agent till").order_by("n").values_list("verb", "origin"))
    assert verbs == [(f"agent.{one}", "api 127.0.0.1") for one in ("create", "settle", "retire")]


def test_limits_bite_at_the_next_poll(
    ines: Caller, cast: make.Cast, desk: Caller, refunds: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [one["name"] for one in desk.get("feed").json()["skills"]] == ["refund-check"]
    before = desk.get("feed")["ETag"]
    assert patch(ines, "agents/front-desk", {"skill_tags": ["money"]}).status_code == 200
    clock = caches.monotonic
    monkeypatch.setattr(caches, "monotonic", lambda: clock() + 2)
    answer = desk.get("feed", If_None_Match=before)
    assert answer.status_code == 200
    assert answer.json()["skills"] == []
    assert_problem(desk.get("feed/skills/refund-check"), 404, "skill-not-found")


def test_the_examples(cast: make.Cast) -> None:
    ines = caller(cast, "ines")
    sent, answered = examples("agent_create")
    made = ines.post("agents", sent[0])
    assert made.status_code == 201
    same_shape(answered["201"][0], made.json())
    sent, answered = examples("agent_change")
    same_shape(answered["200"][0], patch(ines, "agents/front-desk", sent[0]).json())
    _, answered = examples("agent")
    same_shape(answered["200"][0], ines.get("agents/front-desk").json())
    sent, answered = examples("agent_token_issue")
    issued = ines.post("agents/front-desk/tokens", sent[0])
    assert issued.status_code == 201
    same_shape(answered["201"][0], issued.json())
    sent, answered = examples("token_rotate")
    rotated = ines.post(f"tokens/{issued.json()['id']}/rotate", sent[0])
    assert rotated.status_code == 201
    same_shape(answered["201"][0], rotated.json())


@pytest.mark.parametrize(
    ("sent", "status", "code", "told"),
    [
        ({"name": ""}, 422, "field-invalid", "name is missing."),
        ({"name": "a b"}, 422, "field-invalid", "a b is no name of an agent"),
        ({"name": "new"}, 422, "field-invalid", "a page has that name"),
        ({"team": "moon"}, 422, "team-unknown", "There is no team 'moon'."),
        ({"team": "support"}, 403, "not-allowed", "Agents of Support are made by its publishers."),
        ({"highest_risk": "x"}, 422, "field-invalid", "give one of low, medium, high"),
        ({"skills": ["no-such"]}, 422, "field-invalid", "There is no skill named 'no-such'."),
        ({"sets": ["none"]}, 422, "field-invalid", "There is no set 'none'."),
        ({"tags": 7}, 422, "field-invalid", "tags is not a list of names"),
        ({"description": "x" * 2001}, 422, "field-invalid", "at most 2000 are taken"),
        ({"template": "Nothing"}, 422, "template-invalid", "The template has no {skills}"),
    ],
)
def test_wrong_fields(ines: Caller, sent: dict[str, Any], status: int, code: str, told: str) -> None:
    assert told in assert_problem(ines.post("agents", {**MADE, **sent}), status, code)["detail"]
    assert not Agent.objects.exists()


def test_wrong_fields_of_a_change_change_nothing(ines: Caller, till: Agent) -> None:
    for body in ({"highest_risk": "x", "tags": ["a"]}, {"skills": ["no-such"], "tags": ["a"]}, [1]):
        assert patch(ines, "agents/till", body).status_code in {400, 422}
    till.refresh_from_db()
    assert (till.highest_risk, till.tags) == ("high", [])
    assert_problem(ines.post("agents/till/retire", {}), 422, "reason-missing")
    assert_problem(ines.post("agents/till/transfer", {"team": "moon", "reason": "x"}), 422, "team-unknown")


@pytest.mark.parametrize("name", ["sven", "mara", "lena", "ravi", "nora"])
def test_others_find_nothing(cast: make.Cast, till: Agent, name: str) -> None:
    who = caller(cast, name)
    assert who.get("agents").json()["items"] == []
    for answer in (
        who.get("agents/till"),
        patch(who, "agents/till", {"highest_risk": "low"}),
        who.post("agents/till/retire", {"reason": "x"}),
        who.post("agents/till/transfer", {"team": "support", "reason": "x"}),
        who.get("agents/till/tokens"),
        who.post("agents/till/tokens", {"environment": "production", "scopes": ["feed"]}),
    ):
        assert_problem(answer, 404, "not-found")
    assert_problem(who.post("agents", {**MADE, "name": "mine"}), 403, "not-allowed")
    till.refresh_from_db()
    assert (till.highest_risk, till.retired_at) == ("high", None)


def test_a_publisher_elsewhere(cast: make.Cast, till: Agent) -> None:
    make.grant(cast.nora, "publisher", team=cast.payments, environment=make.environment("staging"))
    make.token(agent=till)
    nora = caller(cast, "nora")
    assert nora.get("agents/till").status_code == 200
    assert_problem(patch(nora, "agents/till", {"highest_risk": "low"}), 403, "not-allowed")
    assert_problem(nora.post("agents/till/retire", {"reason": "x"}), 403, "not-allowed")


def test_a_transfer(cast: make.Cast, till: Agent) -> None:
    body = {"team": "support", "reason": "They run it."}
    assert_problem(caller(cast, "ines").post("agents/till/transfer", body), 403, "not-allowed")
    assert caller(cast, "ada").post("agents/till/transfer", body).json()["team"] == "support"
    assert caller(cast, "ines").get("agents/till").status_code == 404
    assert caller(cast, "sven").get("agents/till").status_code == 200


CALLS: dict[str, Callable[[Caller], HttpResponse]] = {
    "list": lambda who: who.get("agents"),
    "read": lambda who: who.get("agents/till"),
    "create": lambda who: who.post("agents", {**MADE, "name": "other"}),
    "change": lambda who: patch(who, "agents/till", {"highest_risk": "low"}),
    "transfer": lambda who: who.post("agents/till/transfer", {"team": "payments", "reason": "x"}),
    "retire": lambda who: who.post("agents/till/retire", {"reason": "x"}),
    "tokens": lambda who: who.get("agents/till/tokens"),
    "issue": lambda who: who.post("agents/till/tokens", {"environment": "staging", "scopes": ["feed"]}),
}
READS = {"list", "read", "tokens"}


@pytest.mark.parametrize("call", list(CALLS))
@pytest.mark.parametrize("scope", USER_SCOPES)
@pytest.mark.parametrize("name", ["ines", "ada"])
def test_each_scope_and_call(cast: make.Cast, till: Agent, name: str, scope: str, call: str) -> None:
    """A publisher writes with `publish`, an administrator with `admin`: a scope opens what its owner may."""
    needed = "read" if call in READS else {"ines": "publish", "ada": "admin"}[name]
    answer = CALLS[call](caller(cast, name, (scope,)))
    if scope == needed:
        assert answer.status_code in {200, 201}, answer.content
    else:
        assert_problem(answer, 403, "scope-missing")


def test_tokens_of_agents_and_nobody(cast: make.Cast, till: Agent, desk: Caller) -> None:
    for call in CALLS.values():
        assert_problem(call(desk), 403, "scope-missing")
        assert_problem(call(Caller()), 401, "not-authenticated")


def test_a_key_is_used_once(ines: Caller) -> None:
    first = ines.post("agents", MADE, Idempotency_Key="k-1")
    again = ines.post("agents", MADE, Idempotency_Key="k-1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert_problem(
        ines.post("agents", {**MADE, "name": "x"}, Idempotency_Key="k-1"), 422, "idempotency-key-reused"
    )


def test_pages_and_filters(cast: make.Cast, django_assert_max_num_queries: Any) -> None:
    for n in range(7):
        agent = make.agent(f"desk-{n}", team=cast.payments if n % 2 else cast.support)
        make.token(agent=agent)
    make.agent("gone", team=cast.payments, retired_at=datetime.now(UTC))
    ada = caller(cast, "ada")
    ada.get("agents")
    with django_assert_max_num_queries(12):
        first = ada.get("agents?limit=4").json()
    assert [one["name"] for one in first["items"]] == ["desk-0", "desk-1", "desk-2", "desk-3"]
    rest = ada.get(f"agents?limit=4&cursor={first['next']}").json()
    assert [one["name"] for one in rest["items"]] == ["desk-4", "desk-5", "desk-6"]
    assert rest["next"] is None
    assert len(ada.get("agents?team=support").json()["items"]) == 4
    assert Token.objects.filter(agent__isnull=False).count() == 7
