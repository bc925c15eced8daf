"""/api/v1/teams, grants, people and delegations."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.http import HttpResponse
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from catalog.models import Delegation, Grant, IdempotencyKey, JournalEntry, Role, Skill, Team, User
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller
from tests.portal.api.test_api_schema import examples, same_shape

pytestmark = pytest.mark.django_db
MOST_QUERIES = 14


@pytest.fixture
def ada(cast: make.Cast) -> Caller:
    """Ada, administrator, with every scope."""
    return caller(cast, "ada")


@pytest.fixture
def mara(cast: make.Cast) -> Caller:
    """Mara, approver everywhere, with every scope."""
    return caller(cast, "mara")


def patch(who: Caller, path: str, body: Any) -> HttpResponse:
    return who.send("PATCH", path, data=json.dumps(body), content_type="application/json")


def later(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


WRITES: list[tuple[str, str, Any]] = [
    ("POST", "teams", {"name": "Field"}),
    ("PATCH", "teams/payments", {"name": "Money"}),
    ("DELETE", "teams/payments", None),
    ("POST", "grants", {"user": "nora", "role": "admin"}),
    ("POST", "people", {"username": "wen"}),
    ("POST", "people/nora/link", {}),
    ("POST", "people/nora/close", {"reason": "Left."}),
    ("POST", "people/nora/open", {}),
]
READS = ["grants", "people", "people/nora"]


@pytest.mark.parametrize(("method", "path", "body"), WRITES, ids=[f"{row[0]} {row[1]}" for row in WRITES])
def test_writes_need_an_administrator_and_the_scope(
    cast: make.Cast, method: str, path: str, body: Any
) -> None:
    before = (User.objects.count(), Grant.objects.count(), Team.objects.count())
    sent = {"data": json.dumps(body), "content_type": "application/json"} if body is not None else {}
    for name in ("ines", "mara", "nora"):
        assert_problem(caller(cast, name).send(method, path, **sent), 403, "not-allowed")
    assert_problem(caller(cast, "ada", ("read", "release")).send(method, path, **sent), 403, "scope-missing")
    assert_problem(Caller().send(method, path, **sent), 401, "not-authenticated")
    assert (User.objects.count(), Grant.objects.count(), Team.objects.count()) == before
    assert User.objects.get(username="nora").is_active


@pytest.mark.parametrize("path", READS)
def test_reads_for_administrators(cast: make.Cast, ada: Caller, path: str) -> None:
    assert ada.get(path).status_code == 200
    assert_problem(caller(cast, "ines").get(path), 403, "not-allowed")
    assert_problem(caller(cast, "ada", ("read",)).get(path), 403, "scope-missing")
    assert ada.send("PUT", path).status_code == 405


# Teams


def test_everybody_reads_teams_and_sees_their_own_part(cast: make.Cast) -> None:
    make.version(cast=cast)
    make.version("order-find", cast=cast)
    Skill.objects.filter(name="order-find").update(visibility="team")
    told = caller(cast, "nora", ("read",)).get("teams").json()
    assert told == {
        "items": [
            {"slug": "payments", "name": "Payments", "members": 2, "skills": 1},
            {"slug": "support", "name": "Support", "members": 1, "skills": 0},
        ],
        "next": None,
    }
    assert caller(cast, "ines").get("teams?q=PAY").json()["items"][0]["skills"] == 2
    first = caller(cast, "ines").get("teams?limit=1").json()
    assert caller(cast, "ines").get(f"teams?cursor={first['next']}").json()["items"][0]["slug"] == "support"


def test_a_team_tells_its_people(cast: make.Cast) -> None:
    staging = make.environment("staging")
    make.grant(cast.ines, Role.APPROVER, team=cast.payments, environment=staging, may_override=True)
    told = caller(cast, "nora").get("teams/payments").json()
    assert told["people"][0] == {
        "username": "ines",
        "name": "Ines Okafor",
        "roles": [
            {"role": "approver", "environment": "staging", "may_override": True},
            {"role": "publisher", "environment": None, "may_override": False},
        ],
    }
    assert_problem(caller(cast, "nora").get("teams/nowhere"), 404, "not-found")


def test_a_team_is_made_renamed_and_removed(ada: Caller) -> None:
    made = ada.post("teams", {"name": "Field Sales"})
    assert (made.status_code, made.json()["slug"]) == (201, "field-sales")
    assert patch(ada, "teams/field-sales", {"name": "Sales"}).json()["name"] == "Sales"
    assert ada.send("DELETE", "teams/field-sales").json()["name"] == "Sales"
    assert_problem(ada.send("DELETE", "teams/field-sales"), 404, "not-found")
    verbs = JournalEntry.objects.filter(target="team field-sales").order_by("n")
    assert [(one.verb, one.actor, one.origin) for one in verbs] == [
        (verb, "ada", "api 127.0.0.1") for verb in ("team.create", "team.rename", "team.remove")
    ]


def test_teams_that_cannot_be(ada: Caller) -> None:
    assert_problem(ada.post("teams", {}), 422, "field-invalid")
    assert_problem(ada.post("teams", {"name": 7}), 422, "field-invalid")
    assert_problem(ada.post("teams", []), 400, "body-invalid")
    assert_problem(ada.post("teams", {"name": "New"}), 422, "team-invalid")
    assert_problem(ada.post("teams", {"name": "Payments"}), 409, "team-taken")
    assert_problem(patch(ada, "teams/support", {"name": "Payments"}), 409, "team-taken")
    assert_problem(patch(ada, "teams/support", {}), 422, "field-invalid")
    told = assert_problem(ada.send("DELETE", "teams/support"), 409, "team-needed")
    assert "1 role" in told["detail"]


# Grants


def test_a_grant_is_given_listed_and_taken(cast: make.Cast, ada: Caller) -> None:
    body = {"user": "nora", "role": "approver", "environment": "staging", "may_override": True}
    made = ada.post("grants", body)
    assert made.status_code == 201
    told = made.json()
    assert told == {**body, "id": told["id"], "team": None}
    assert ada.post("grants", body).json() == told
    assert ada.post("grants", {key: body[key] for key in ("user", "role", "environment")}).json() == told
    assert ada.get("grants?user=nora").json()["items"] == [told]
    assert {row["user"] for row in ada.get("grants?team=payments").json()["items"]} == {"ines", "ravi"}
    assert {row["user"] for row in ada.get("grants?role=approver").json()["items"]} == {
        "mara",
        "otto",
        "nora",
    }
    assert ada.send("DELETE", f"grants/{told['id']}").json() == told
    assert_problem(ada.send("DELETE", f"grants/{told['id']}"), 404, "not-found")
    assert not cast.nora.grants.exists()


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"role": "reader"}, "field-invalid", "user is missing."),
        ({"user": "nora"}, "field-invalid", "role is missing."),
        ({"user": "nora", "role": "king"}, "field-invalid", "role is 'king'"),
        ({"user": "nora", "role": "reader", "team": "x"}, "field-invalid", "There is no team 'x'."),
        (
            {"user": "nora", "role": "reader", "environment": "x"},
            "field-invalid",
            "no environment 'x'; there",
        ),
        ({"user": "nora", "role": "reader", "may_override": "?"}, "field-invalid", "neither true nor false"),
        ({"user": "who", "role": "reader"}, "user-unknown", "There is no user 'who'."),
        ({"user": "nora", "role": "reader", "may_override": True}, "grant-invalid", "approver alone"),
        ({"user": "nora", "role": "admin", "team": "payments"}, "grant-invalid", "whole instance"),
    ],
)
def test_grants_that_are_none(ada: Caller, body: dict[str, Any], code: str, message: str) -> None:
    assert message in assert_problem(ada.post("grants", body), 422, code)["detail"]


def test_the_last_administrator_stays(cast: make.Cast, ada: Caller) -> None:
    grant = cast.ada.grants.get()
    assert_problem(ada.send("DELETE", f"grants/{grant.pk}"), 409, "last-administrator")
    assert_problem(ada.post("people/ada/close", {"reason": "Left."}), 409, "last-administrator")
    assert ada.get("people/ada").json()["state"] == "active"


def test_a_role_that_is_taken_ends_at_once(cast: make.Cast, ada: Caller, ines: Caller) -> None:
    assert ines.publish(make.skill_md(), dry_run="true").status_code == 200
    ada.send("DELETE", f"grants/{cast.ines.grants.get().pk}")
    assert_problem(ines.publish(make.skill_md(), dry_run="true"), 403, "not-allowed")


# People


def test_an_invitation_and_its_link(ada: Caller) -> None:
    sent, answered = examples("person_invite")
    made = ada.post("people", sent[0])
    assert made.status_code == 201
    same_shape(answered["201"][0], made.json())
    link = made.json()["link"]
    assert made["Cache-Control"] == "no-store"
    assert link.startswith("http://testserver/welcome/")
    assert opens(link)
    again = ada.post("people/wen/link", {}).json()
    assert (again["link"] != link, again["mailed"]) == (True, False)
    assert (opens(link), opens(again["link"])) == (False, True)


def test_a_link_is_kept_nowhere(ada: Caller) -> None:
    for path, body in (("people", {"username": "wen"}), ("people/wen/link", {})):
        first, repeated = (ada.post(path, body, Idempotency_Key=path) for _ in range(2))
        assert opens(first.json()["link"])
        assert repeated.json() == {**first.json(), "link": None}
        uid = first.json()["link"].split("/")[-3]
        assert uid not in str(list(IdempotencyKey.objects.values())) + str(
            list(JournalEntry.objects.values())
        )


def test_a_link_goes_by_mail_where_mail_is_on(
    ada: Caller, settings: Settings, mailoutbox: list[EmailMessage]
) -> None:
    settings.MAIL_IS_ON = True
    made = ada.post("people", {"username": "wen", "email": "wen@example.org"}).json()
    assert made["mailed"]
    assert mailoutbox[0].to == ["wen@example.org"]
    path = made["link"].removeprefix("http://testserver")
    assert f"\n{settings.PORTAL_URL}{path}\n" in mailoutbox[0].body
    assert not ada.post("people/nora/link", {}).json()["mailed"]
    settings.EMAIL_BACKEND = "tests.portal.api.test_api_people.Broken"
    assert ada.post("people/wen/link", {}).json()["mailed"] is False
    assert len(mailoutbox) == 1


class Broken(BaseEmailBackend):
    """A mail server that cannot be reached."""

    def send_messages(self, email_messages: Any) -> int:
        raise ConnectionRefusedError


def opens(link: str) -> bool:
    return Client().get(link.removeprefix("http://testserver")).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "field-invalid"),
        ({"username": "a b"}, 422, "account-invalid"),
        ({"username": "wen", "email": "x"}, 422, "account-invalid"),
        ({"username": "INES"}, 409, "account-taken"),
        ({"username": "wen", "grants": "x"}, 422, "field-invalid"),
        ({"username": "wen", "grants": ["x"]}, 400, "body-invalid"),
        ({"username": "wen", "grants": [{"role": "king"}]}, 422, "field-invalid"),
        ({"username": "wen", "grants": [{"role": "admin", "team": "payments"}]}, 422, "grant-invalid"),
    ],
)
def test_invitations_that_are_none(ada: Caller, body: dict[str, Any], status: int, code: str) -> None:
    assert_problem(ada.post("people", body), status, code)
    assert not User.objects.filter(username="wen").exists()


def test_people_are_listed_and_found(cast: make.Cast, ada: Caller) -> None:
    told = ada.get("people?limit=3").json()
    assert [row["username"] for row in told["items"]] == ["ada", "ines", "lena"]
    more = ada.get(f"people?cursor={told['next']}").json()["items"]
    assert [row["username"] for row in more] == ["mara", "nora", "otto", "ravi", "sven"]
    assert ada.get("people?q=okafor").json()["items"][0]["grants"][0]["team"] == "payments"
    assert ada.get("people?state=closed").json()["items"] == []
    assert_problem(ada.get("people/nobody"), 404, "not-found")


def test_a_person_in_full(cast: make.Cast, ada: Caller) -> None:
    make.version(cast=cast)
    token, secret = make.token(user=cast.ines)
    make.delegation(cast.mara, cast.ines, starts_at=datetime.now(UTC))
    answer = ada.get("people/ines")
    told = answer.json()
    assert told["skills"] == ["refund-check"]
    assert [row["prefix"] for row in told["tokens"]] == [token.prefix]
    assert (told["delegations"][0]["giver"], told["delegations"][0]["in_force"]) == ("mara", True)
    assert secret not in answer.content.decode()
    assert token.sha256 not in answer.content.decode()


def test_an_account_is_closed_and_opened(cast: make.Cast, ada: Caller, ines: Caller) -> None:
    make.version(cast=cast)
    sent, answered = examples("person_close")
    assert ines.get("skills").status_code == 200
    told = ada.post("people/ines/close", sent[0])
    assert told.status_code == 200
    same_shape(answered["200"][0], told.json())
    assert (told.json()["state"], told.json()["grants"]) == ("closed", [])
    assert_problem(ines.get("skills"), 401, "token-invalid")
    assert Skill.objects.get().owner == cast.ravi
    assert_problem(ada.post("people/ines/close", sent[0]), 409, "account-state")
    assert_problem(ada.post("people/ines/link", {}), 422, "account-invalid")
    assert ada.post("people/ines/open", {}).json()["state"] == "waiting"
    assert_problem(ada.post("people/ines/open", {}), 409, "account-state")
    assert_problem(ines.get("skills"), 401, "token-invalid")


def test_closings_that_are_none(cast: make.Cast, ada: Caller) -> None:
    make.version(cast=cast)
    path = "people/ines/close"
    assert_problem(ada.post(path, {}), 422, "reason-missing")
    assert_problem(ada.post(path, {"reason": "x", "successor": "who"}), 422, "user-unknown")
    assert_problem(ada.post(path, {"reason": "x", "successor": "sven"}), 422, "user-unknown")
    assert_problem(ada.post(path, {"reason": "x", "successors": {"payments": 1}}), 422, "field-invalid")
    assert User.objects.get(username="ines").is_active
    assert ada.post(path, {"reason": "x", "successor": "ravi"}).status_code == 200


# Delegations


def test_rights_are_lent_listed_and_ended(cast: make.Cast, mara: Caller) -> None:
    sent, answered = examples("delegation_create")
    body = {**sent[0], "starts_at": later(1), "ends_at": later(15)}
    made = mara.post("delegations", body)
    assert made.status_code == 201
    same_shape(answered["201"][0], made.json())
    told = made.json()
    assert (told["giver"], told["taker"], told["state"], told["in_force"]) == (
        "mara",
        "otto",
        "planned",
        False,
    )
    assert caller(cast, "otto").get("delegations").json()["items"] == [told]
    assert caller(cast, "lena").get("delegations").json()["items"] == []
    assert caller(cast, "ada").get("delegations").json()["items"] == [told]
    assert caller(cast, "ada", ("release",)).get("delegations").json()["items"] == []
    path = f"delegations/{told['id']}/end"
    assert_problem(caller(cast, "lena").post(path), 404, "not-found")
    assert_problem(caller(cast, "ada", ("release",)).post(path), 403, "scope-missing")
    assert_problem(caller(cast, "otto", ("read",)).post(path), 403, "scope-missing")
    ended = caller(cast, "otto").post(path).json()
    assert ended["state"] == "ended"
    assert mara.post(path).json() == ended
    assert JournalEntry.objects.filter(verb="delegation.end", actor="otto").count() == 1


def test_a_lent_right_holds_in_the_next_request(cast: make.Cast, mara: Caller) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state="proposed")
    nora, path = caller(cast, "nora"), f"releases/{release.pk}/approve"
    assert_problem(nora.post(path), 403, "not-allowed")
    made = mara.post("delegations", {"taker": "nora", "ends_at": later(1), "reason": "Ill."})
    assert made.json()["in_force"]
    assert nora.post(path).status_code == 200


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"ends_at": "x", "taker": "nora"}, "field-invalid"),
        ({"taker": "nora"}, "field-invalid"),
        ({"ends_at": 1}, "field-invalid"),
        ({"taker": "nora", "ends_at": 1, "team": "x"}, "field-invalid"),
        ({"taker": "who", "ends_at": 1}, "user-unknown"),
        ({"taker": "mara", "ends_at": 1}, "not-lendable"),
        ({"taker": "nora", "ends_at": 91}, "not-lendable"),
        ({"taker": "nora", "ends_at": -1}, "not-lendable"),
        ({"taker": "nora", "ends_at": 1, "reason": ""}, "reason-missing"),
    ],
)
def test_loans_that_are_none(mara: Caller, body: dict[str, Any], code: str) -> None:
    days = body.get("ends_at")
    told = {"reason": "Leave.", **body, **({"ends_at": later(days)} if isinstance(days, int) else {})}
    assert_problem(mara.post("delegations", told), 422, code)
    assert not Delegation.objects.exists()


def test_who_may_not_lend(cast: make.Cast) -> None:
    body = {"taker": "nora", "ends_at": later(1), "reason": "Leave."}
    for name in ("ines", "ada", "ravi"):
        assert_problem(caller(cast, name).post("delegations", body), 403, "not-allowed")
    assert_problem(caller(cast, "mara", ("read",)).post("delegations", body), 403, "scope-missing")
    desk = Caller(make.token(agent=make.agent(team=cast.payments), scopes=("feed",))[1])
    assert_problem(desk.post("delegations", body), 403, "scope-missing")


# All of them


def test_a_key_is_answered_once(cast: make.Cast, ada: Caller, mara: Caller) -> None:
    loan = {"taker": "nora", "ends_at": later(1), "reason": "Leave."}
    for who, path, body in (
        (ada, "teams", {"name": "Field"}),
        (ada, "grants", {"user": "nora", "role": "reader"}),
        (mara, "delegations", loan),
    ):
        first, again = (who.post(path, body, Idempotency_Key="k-" + path) for _ in range(2))
        assert first.status_code == 201
        assert first.content == again.content
    assert Team.objects.filter(name="Field").count() == Delegation.objects.count() == 1


def test_examples_of_teams_and_grants(ada: Caller) -> None:
    for name, path in (("team_create", "teams"), ("grant_create", "grants")):
        sent, answered = examples(name)
        made = ada.post(path, sent[0])
        assert made.status_code == 201
        same_shape(answered["201"][0], made.json())


def test_queries_do_not_grow(
    cast: make.Cast, ada: Caller, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(20):
        one = make.user(f"p{n}")
        make.grant(one, Role.READER, team=make.team(f"t{n}"))
        make.grant(one, Role.APPROVER)
        make.delegation(one, cast.ada, starts_at=datetime.now(UTC))
    for path in ("teams", "grants", "people", "delegations", "people/ada", "teams/payments"):
        with django_assert_max_num_queries(MOST_QUERIES):
            ada.get(path)
