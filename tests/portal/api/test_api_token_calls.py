"""Tokens by REST: issued, listed, replaced and revoked, by whom, and with which scopes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from catalog.models import Agent, IdempotencyKey, Token
from catalog.tokens import AGENT_SCOPES, USER_SCOPES, digest_of
from portal.api.shapes import agents as shapes
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db

ISSUE = {"environment": "production", "scopes": ["feed", "traces:write"], "name": "main"}


@pytest.fixture
def till(cast: make.Cast) -> Agent:
    """An agent of Payments."""
    return make.agent("till", team=cast.payments)


def own(who: Caller) -> Token:
    """The token that the caller holds."""
    return Token.objects.get(sha256=digest_of(who.secret))


def test_a_token_is_issued_replaced_and_revoked(ines: Caller, till: Agent) -> None:
    answer = ines.post("agents/till/tokens", ISSUE)
    assert answer.status_code == 201
    assert answer["Cache-Control"] == "no-store"
    first = answer.json()
    assert Caller(first["secret"]).get("feed").json()["environment"] == "production"
    assert (first["agent"], first["scopes"], first["state"]) == ("till", ["feed", "traces:write"], "valid")
    life = datetime.fromisoformat(first["expires_at"]) - datetime.fromisoformat(first["created_at"])
    assert life == timedelta(days=90)
    answer = ines.post(f"tokens/{first['id']}/rotate", {"overlap_hours": 2})
    assert answer.status_code == 201
    assert answer["Cache-Control"] == "no-store"
    second = answer.json()
    for secret in (first["secret"], second["secret"]):
        assert Caller(secret).get("feed").status_code == 200
    listed = ines.get("agents/till/tokens").json()["items"]
    assert [(one["id"], one["state"]) for one in listed] == [
        (second["id"], "valid"),
        (first["id"], "replaced"),
    ]
    assert listed[1]["replaced_by"] == second["id"]
    assert "secret" not in listed[0]
    told = assert_problem(ines.post(f"tokens/{first['id']}/rotate"), 409, "wrong-state")
    assert "is replaced already; issue a new one." in told["detail"]
    for _ in range(2):
        revoked = ines.post(f"tokens/{second['id']}/revoke").json()
        assert revoked["state"] == "revoked"
    assert Caller(second["secret"]).get("feed").status_code == 401
    assert_problem(ines.post(f"tokens/{second['id']}/rotate"), 409, "wrong-state")


def test_the_old_one_ends_with_the_overlap(
    ines: Caller, till: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, secret = make.token(agent=till)
    ines.post(f"tokens/{old.pk}/rotate", {"overlap_hours": 1})
    began = timezone.now()
    for minutes, status in ((59, 200), (61, 401)):
        monkeypatch.setattr(timezone, "now", lambda minutes=minutes: began + timedelta(minutes=minutes))
        assert Caller(secret).get("feed").status_code == status
    assert ines.get("agents/till/tokens").json()["items"][-1]["state"] == "expired"


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (
            {"environment": "moon"},
            "There is no environment 'moon'; there are development, staging, production.",
        ),
        ({"environment": ""}, "environment is missing."),
        ({"scopes": []}, "scopes is missing; give some of feed, traces:write, evaluations:write."),
        ({"scopes": ["admin"]}, "scopes holds 'admin'"),
        ({"days": 0}, "days is not a whole number from 1 to 365."),
        ({"days": 366}, "days is not a whole number from 1 to 365."),
        ({"days": "90"}, "days is not a whole number from 1 to 365."),
        ({"name": "x" * 121}, "at most 120 are taken"),
    ],
)
def test_wrong_fields(ines: Caller, till: Agent, sent: dict[str, Any], told: str) -> None:
    count = Token.objects.count()
    answer = ines.post("agents/till/tokens", {**ISSUE, **sent})
    assert told in assert_problem(answer, 422, "field-invalid")["detail"]
    for body in ({"overlap_hours": 169}, {"overlap_hours": -1}, {"days": 366}, {"overlap_hours": True}):
        token = own(ines)
        assert_problem(ines.post(f"tokens/{token.pk}/rotate", body), 422, "field-invalid")
    assert Token.objects.count() == count


def test_ones_own_tokens(cast: make.Cast, till: Agent) -> None:
    ines = caller(cast, "ines", ("read", "publish"))
    make.token(agent=till)
    caller(cast, "sven")
    (mine,) = ines.get("tokens").json()["items"]
    assert (mine["user"], mine["agent"], mine["prefix"]) == ("ines", None, ines.secret[:8])
    answer = ines.post(f"tokens/{mine['id']}/rotate", {"overlap_hours": 0})
    assert answer.status_code == 201
    assert_problem(ines.get("tokens"), 401, "token-invalid")
    fresh = Caller(answer.json()["secret"])
    assert [one["state"] for one in fresh.get("tokens").json()["items"]] == ["valid", "expired"]
    assert fresh.post(f"tokens/{own(fresh).pk}/revoke").status_code == 200
    assert_problem(fresh.get("tokens"), 401, "token-invalid")


def test_a_token_of_few_scopes_gets_hold_of_none_with_more(cast: make.Cast) -> None:
    ada, small = caller(cast, "ada"), caller(cast, "ada", ("read",))
    for act in ("rotate", "revoke"):
        told = assert_problem(small.post(f"tokens/{own(ada).pk}/{act}"), 403, "scope-missing")
        assert "lacks the scope admin and evaluations:write and publish" in told["detail"]
    assert Token.objects.count() == 2
    assert ada.post(f"tokens/{own(small).pk}/rotate").status_code == 201
    assert small.post(f"tokens/{own(small).pk}/revoke").status_code == 200


@pytest.mark.parametrize("scope", USER_SCOPES)
def test_a_token_of_any_scope_replaces_itself(cast: make.Cast, scope: str) -> None:
    who = caller(cast, "ines", (scope,))
    fresh = who.post(f"tokens/{own(who).pk}/rotate")
    assert fresh.json()["scopes"] == [scope]
    assert Caller(fresh.json()["secret"]).post(f"tokens/{fresh.json()['id']}/revoke").status_code == 200


@pytest.mark.parametrize("scope", USER_SCOPES)
@pytest.mark.parametrize("name", ["ines", "ada"])
@pytest.mark.parametrize("act", ["rotate", "revoke"])
def test_tokens_of_agents_by_scope(cast: make.Cast, till: Agent, name: str, scope: str, act: str) -> None:
    token, _ = make.token(agent=till)
    answer = caller(cast, name, (scope,)).post(f"tokens/{token.pk}/{act}")
    if scope == {"ines": "publish", "ada": "admin"}[name]:
        assert answer.status_code in {200, 201}
    else:
        assert_problem(answer, 403, "scope-missing")


def test_whose_tokens_one_finds(cast: make.Cast, till: Agent) -> None:
    of_till, _ = make.token(agent=till)
    of_mara, _ = make.token(user=cast.mara)
    for name in ("sven", "mara", "lena", "ravi", "nora"):
        who = caller(cast, name)
        for act in ("rotate", "revoke"):
            assert_problem(who.post(f"tokens/{of_till.pk}/{act}"), 404, "not-found")
    for name in ("ines", "ada"):
        for act in ("rotate", "revoke"):
            assert_problem(caller(cast, name).post(f"tokens/{of_mara.pk}/{act}"), 404, "not-found")
    assert_problem(caller(cast, "ada").post(f"tokens/{uuid4()}/rotate"), 404, "not-found")
    assert not Token.objects.exclude(revoked_at=None).exists()


def test_a_publisher_for_one_environment(cast: make.Cast, till: Agent) -> None:
    make.grant(cast.nora, "publisher", team=cast.payments, environment=make.environment("staging"))
    nora, (token, _) = caller(cast, "nora"), make.token(agent=till)
    assert_problem(nora.post("agents/till/tokens", ISSUE), 403, "not-allowed")
    assert nora.post("agents/till/tokens", {**ISSUE, "environment": "staging"}).status_code == 201
    for act in ("rotate", "revoke"):
        assert_problem(nora.post(f"tokens/{token.pk}/{act}"), 403, "not-allowed")


def test_agents_and_nobody(cast: make.Cast, desk: Caller) -> None:
    token = own(desk)
    for path in (f"tokens/{token.pk}/rotate", f"tokens/{token.pk}/revoke"):
        assert_problem(desk.post(path), 403, "scope-missing")
        assert_problem(Caller().post(path), 401, "not-authenticated")
    assert_problem(desk.get("tokens"), 403, "scope-missing")


def test_a_repeated_request_gets_no_secret_and_makes_no_token(ines: Caller, till: Agent) -> None:
    first = ines.post("agents/till/tokens", ISSUE, Idempotency_Key="k-1")
    again = ines.post("agents/till/tokens", ISSUE, Idempotency_Key="k-1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == {**first.json(), "secret": None}
    assert again["Idempotency-Replayed"] == "true"
    assert Token.objects.filter(agent=till).count() == 1
    assert first.json()["secret"] not in str(IdempotencyKey.objects.values().get())
    # Whoever lost the answer replaces the token that nobody holds.
    path = f"tokens/{first.json()['id']}/rotate"
    second = ines.post(path, {"overlap_hours": 0}, Idempotency_Key="k-2").json()
    assert Caller(second["secret"]).get("feed").status_code == 200
    assert Caller(first.json()["secret"]).get("feed").status_code == 401


def test_the_document_knows_all_scopes() -> None:
    assert (shapes.OF_AGENTS, shapes.OF_USERS) == (AGENT_SCOPES, USER_SCOPES)


def test_a_token_never_gives_more_than_its_owner_has(cast: make.Cast, till: Agent) -> None:
    """Scopes narrow rights: with all of them, a reader manages no agent and ends nobody's token."""
    ravi = caller(cast, "ravi")
    assert_problem(ravi.post("agents", {"name": "mine", "team": "payments"}), 403, "not-allowed")
    make.grant(cast.ravi, "publisher", team=cast.payments)
    assert ravi.post("agents/till/tokens", ISSUE).status_code == 201
    cast.ravi.grants.all().delete()
    assert_problem(ravi.post("agents/till/tokens", ISSUE), 404, "not-found")
