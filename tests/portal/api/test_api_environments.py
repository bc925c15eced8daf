"""GET, POST /api/v1/environments; GET, PATCH, DELETE /api/v1/environments/{name}."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.http import HttpResponse
from pytest_django import DjangoAssertNumQueries

from catalog.models import Environment, JournalEntry
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller
from tests.portal.api.test_api_schema import examples, same_shape

pytestmark = pytest.mark.django_db
PATH = "environments/production"
MOST_QUERIES = 6


@pytest.fixture
def ada(cast: make.Cast) -> Caller:
    return caller(cast, "ada")


def patch(who: Caller, body: Any, path: str = PATH, **headers: str) -> HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return who.send("PATCH", path, data=json.dumps(body), content_type="application/json", headers=named)


def test_everyone_reads_them_in_their_order(
    cast: make.Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    nora = caller(cast, "nora", ("read",))
    with django_assert_max_num_queries(MOST_QUERIES):
        told = nora.get("environments").json()
    assert [one["name"] for one in told["items"]] == ["development", "staging", "production"]
    assert told["next"] is None
    assert told["items"][0]["warnings"] == [
        "High-risk releases need no approval: what a publisher proposes here reaches agents at once."
    ]
    first = nora.get("environments?limit=2").json()
    rest = nora.get(f"environments?limit=2&cursor={first['next']}").json()
    assert [one["name"] for one in rest["items"]] == ["production"]
    assert nora.get(PATH).json() == told["items"][2]
    assert told["items"][2] == {
        "name": "production",
        "title": "Production",
        "order": 30,
        "permissions": ["network", "filesystem.read", "filesystem.write", "shell", "secrets", "send"],
        "highest_risk": "high",
        "lowest_stability": "stable",
        "approvals_low": 1,
        "approvals_medium": 1,
        "approvals_high": 2,
        "second_confirmation": True,
        "outside_approval": False,
        "owner_may_start": False,
        "call_confirmation": "high",
        "script_confirmation": "high",
        "needs_idempotency": True,
        "needs_evaluation": False,
        "soak_minutes": 60,
        "retention_days": 90,
        "revision": 0,
        "warnings": [],
    }
    assert_problem(nora.get("environments/moon"), 404, "not-found")


def test_create_as_the_example_does(ada: Caller) -> None:
    sent, answered = examples("environment_create")
    made = ada.post("environments", sent[0], Idempotency_Key="k-1")
    assert made.status_code == 201
    assert made.json() == {**answered["201"][0], "warnings": []}
    assert made["ETag"] == ada.get("environments/preview")["ETag"]
    again = ada.post("environments", sent[0], Idempotency_Key="k-1")
    assert again.content == made.content
    assert_problem(ada.post("environments", sent[0]), 409, "environment-taken")
    assert_problem(ada.post("environments", {**sent[0], "name": "b", "order": 20}), 409, "environment-taken")
    assert Environment.objects.count() == 4
    sent, answered = examples("environment_change")
    changed = patch(ada, sent[0], "environments/preview")
    assert changed.json() == answered["200"][0]
    same_shape(answered["200"][0], changed.json())


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "", "title": "T"}, "name"),
        ({"name": "New York", "title": "T"}, "name"),
        ({"name": "new", "title": "T"}, "name"),
        ({"name": "a"}, "title"),
        ({"name": "a", "title": "T\nT"}, "title"),
        ({"name": "a", "title": "T", "id": "x"}, "id"),
    ],
)
def test_create_refuses(ada: Caller, body: dict[str, Any], field: str) -> None:
    told = assert_problem(ada.post("environments", body), 422, "field-invalid")
    assert [error["field"] for error in told["errors"]] == [field]
    assert Environment.objects.count() == 3


def test_change_what_is_named(ada: Caller) -> None:
    told = patch(
        ada, {"approvals_high": 3, "owner_may_start": True, "permissions": ["send", "network"]}
    ).json()
    assert (told["approvals_high"], told["owner_may_start"]) == (3, True)
    assert told["permissions"] == ["network", "send"]
    assert told["revision"] == 1
    entry = JournalEntry.objects.get(verb__startswith="environment")
    assert (entry.verb, entry.actor, entry.target) == ("environment.change", "ada", "environment production")
    assert entry.before is not None
    assert set(entry.before) == {"approvals_high", "owner_may_start", "permissions"}
    assert patch(ada, {"permissions": []}).json()["permissions"] == []
    assert patch(ada, {}).json()["approvals_high"] == 3
    assert patch(ada, {"order": 5}).json()["order"] == 5
    assert_problem(patch(ada, {"order": 20}), 409, "environment-taken")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", ""),
        ("title", 5),
        ("title", "x" * 61),
        ("order", 0),
        ("permissions", None),
        ("permissions", ["teleport"]),
        ("permissions", 5),
        ("highest_risk", "extreme"),
        ("lowest_stability", None),
        ("approvals_low", 6),
        ("approvals_medium", "1"),
        ("approvals_high", True),
        ("second_confirmation", "perhaps"),
        ("call_confirmation", "maybe"),
        ("soak_minutes", 43_201),
        ("retention_days", 0),
        ("name", "shops"),
        ("revision", 7),
        ("approval_high", 1),
    ],
)
def test_every_wrong_field_is_named(ada: Caller, name: str, value: Any) -> None:
    told = assert_problem(patch(ada, {name: value, "needs_evaluation": 5}), 422, "field-invalid")
    assert {error["field"] for error in told["errors"]} == {name, "needs_evaluation"}
    assert not JournalEntry.objects.filter(verb__startswith="environment").exists()


def test_a_body_that_is_none(ada: Caller) -> None:
    assert_problem(patch(ada, []), 400, "body-invalid")
    assert_problem(ada.post("environments", "nothing"), 400, "body-invalid")


def test_if_match_overwrites_nothing(ada: Caller) -> None:
    tag = ada.get(PATH)["ETag"]
    changed = patch(ada, {"approvals_high": 3}, If_Match=tag)
    assert changed.status_code == 200
    assert changed["ETag"] != tag
    late = assert_problem(patch(ada, {"approvals_high": 1}, If_Match=tag), 412, "environment-changed")
    assert changed["ETag"] in late["detail"]
    for weak in (f"W/{changed['ETag']}", '"other"', "nonsense"):
        assert_problem(patch(ada, {"approvals_high": 1}, If_Match=weak), 412, "environment-changed")
    assert Environment.objects.get(name="production").approvals_high == 3
    assert patch(ada, {"title": "Shops"}, If_Match=f'"other", {changed["ETag"]}').status_code == 200
    assert patch(ada, {"approvals_high": 4}, If_Match="*").status_code == 200


def test_remove(ada: Caller, cast: make.Cast) -> None:
    make.token(agent=make.agent(team=cast.payments))
    told = assert_problem(ada.send("DELETE", PATH), 409, "environment-in-use")
    assert "tokens: 1" in told["detail"]
    stale = {"If-Match": '"other"'}
    assert_problem(ada.send("DELETE", "environments/staging", headers=stale), 412, "environment-changed")
    key = {"Idempotency-Key": "end-1"}
    first, again = (ada.send("DELETE", "environments/staging", headers=key) for _ in range(2))
    assert first.json()["name"] == "staging"
    assert first.content == again.content
    assert_problem(ada.send("DELETE", "environments/staging"), 404, "not-found")
    assert ada.send("DELETE", "environments/development").status_code == 200


def test_the_last_one_stays(ada: Caller) -> None:
    Environment.objects.exclude(name="production").delete()
    assert_problem(ada.send("DELETE", PATH), 409, "environment-in-use")


def test_who_may(cast: make.Cast) -> None:
    body = {"name": "preview", "title": "Preview"}
    for name in ("ines", "mara", "lena", "ravi", "nora"):
        other = caller(cast, name)
        assert_problem(other.post("environments", body), 403, "not-allowed")
        assert_problem(patch(other, {"title": "Mine"}), 403, "not-allowed")
        assert_problem(other.send("DELETE", PATH), 403, "not-allowed")
    narrow = caller(cast, "ada", ("read", "publish", "release"))
    assert narrow.get("environments").status_code == 200
    assert_problem(narrow.post("environments", body), 403, "scope-missing")
    assert_problem(patch(narrow, {"title": "Mine"}), 403, "scope-missing")
    assert_problem(narrow.send("DELETE", PATH), 403, "scope-missing")
    assert_problem(caller(cast, "ada", ("admin",)).get("environments"), 403, "scope-missing")
    assert_problem(Caller().get("environments"), 401, "not-authenticated")
    assert caller(cast, "ada").send("PUT", PATH).status_code == 405
    assert Environment.objects.count() == 3
