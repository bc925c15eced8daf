"""Releases by REST: proposing, deciding, who may, and who sees them."""

from __future__ import annotations

from typing import Any

import pytest

from catalog import resolution
from catalog.models import Environment, Release, Skill, State, Version
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db

WHERE = {"skill": "refund-check", "version": "1.0.0", "environment": "production"}


@pytest.fixture
def version(cast: make.Cast) -> Version:
    """refund-check 1.0.0, released nowhere."""
    return make.version(cast=cast)


def act(who: Caller, release_id: str, action: str, **body: Any) -> Any:
    """What comes of an action."""
    return who.post(f"releases/{release_id}/{action}", body)


def test_propose_approve_start_and_roll_back(cast: make.Cast, version: Version, desk: Caller) -> None:
    ines, mara = caller(cast, "ines"), caller(cast, "mara")
    made = ines.post("releases", {**WHERE, "note": "First one."})
    assert made.status_code == 201
    body = made.json()
    wanted = {"id", "state", "skill", "version", "bundle_sha256", "environment", "needs", "gates"}
    assert wanted <= body.keys()
    assert (body["state"], body["skill"], body["note"]) == ("proposed", "refund-check", "First one.")
    assert body["needs"] == {"approvals": 1, "confirmation": False}
    assert all(list(gate) == ["name", "passed", "detail", "overridden"] for gate in body["gates"])
    key = body["id"]
    assert_problem(act(ines, key, "approve"), 403, "not-allowed")
    assert_problem(act(mara, key, "start"), 409, "wrong-state")
    approved = act(mara, key, "approve", note="Fine.")
    assert (approved.status_code, approved.json()["state"]) == (200, "approved")
    assert approved.json()["approvals"][0]["note"] == "Fine."
    assert act(mara, key, "start", percent=25).json()["state"] == "canary"
    assert act(mara, key, "advance", percent=60).json()["percent"] == 60
    assert act(mara, key, "advance", percent=100).json()["state"] == "live"
    resolution.forget_cached()
    assert desk.get("feed").json()["skills"][0]["version"] == "1.0.0"
    assert_problem(act(mara, key, "rollback"), 422, "reason-missing")
    rolled = act(mara, key, "rollback", reason="Wrong totals.").json()
    assert rolled["state"] == "rolled_back"
    assert [(one["action"], one["from"], one["to"], one["by"]) for one in rolled["transitions"]] == [
        ("propose", None, "proposed", "ines"),
        ("approve", "proposed", "approved", "mara"),
        ("start", "approved", "canary", "mara"),
        ("advance", "canary", "canary", "mara"),
        ("advance", "canary", "live", "mara"),
        ("rollback", "live", "rolled_back", "mara"),
    ]
    resolution.forget_cached()
    assert desk.get("feed").json()["skills"] == []


def test_development_needs_no_approval(cast: make.Cast, version: Version) -> None:
    made = caller(cast, "ines").post("releases", {**WHERE, "environment": "development"})
    assert made.status_code == 201
    assert (made.json()["state"], made.json()["percent"]) == ("live", 100)
    again = caller(cast, "ines").post("releases", {**WHERE, "environment": "development"})
    assert_problem(again, 409, "wrong-state")


def test_high_risk_needs_two_and_a_second_confirmation(cast: make.Cast) -> None:
    risky = make.version("wipe-disk", cast=cast, risk_level="high")
    ines, mara, otto = (caller(cast, name) for name in ("ines", "mara", "otto"))
    made = ines.post("releases", {**WHERE, "skill": "wipe-disk", "version": risky.version}).json()
    assert made["needs"] == {"approvals": 2, "confirmation": True}
    assert_problem(act(mara, made["id"], "approve"), 422, "confirmation-missing")
    assert_problem(act(mara, made["id"], "approve", confirm="wipe"), 422, "confirmation-missing")
    assert act(mara, made["id"], "approve", confirm="wipe-disk").json()["state"] == "proposed"
    assert_problem(act(mara, made["id"], "approve", confirm="wipe-disk"), 409, "wrong-state")
    assert act(otto, made["id"], "approve", confirm="wipe-disk").json()["state"] == "approved"


def test_a_shut_gate(cast: make.Cast, version: Version) -> None:
    Environment.objects.filter(name="production").update(highest_risk="low", permissions=[])
    risky = make.version("mailer", cast=cast, permissions=("send",), risk_level="medium")
    made = caller(cast, "ines").post("releases", {**WHERE, "skill": "mailer", "version": risky.version})
    assert {gate["name"] for gate in made.json()["gates"] if not gate["passed"]} >= {"permissions", "risk"}
    mara, key = caller(cast, "mara"), made.json()["id"]
    act(mara, key, "approve")
    assert_problem(act(mara, key, "start"), 409, "gates-shut")


def test_reject_withdraw_halt(cast: make.Cast, version: Version) -> None:
    ines, mara = caller(cast, "ines"), caller(cast, "mara")
    first = ines.post("releases", WHERE).json()["id"]
    assert_problem(act(mara, first, "reject"), 422, "reason-missing")
    assert act(mara, first, "reject", reason="Not yet.").json()["state"] == "rejected"
    assert_problem(act(mara, first, "approve"), 409, "wrong-state")
    second = ines.post("releases", WHERE).json()["id"]
    assert_problem(act(mara, second, "withdraw"), 403, "not-allowed")
    assert act(ines, second, "withdraw").json()["state"] == "withdrawn"
    third = make.release(version, "production", cast=cast, state=State.CANARY)
    assert act(ines, str(third.pk), "halt", reason="Too many errors.").json()["state"] == "halted"


@pytest.mark.parametrize(
    ("canary", "percent"), [({"percent": 10}, 10), ({"steps": [5, 25, 100]}, 5), (None, 100), ({}, 100)]
)
def test_a_canary_begins_with_its_share(
    cast: make.Cast, version: Version, canary: object, percent: int
) -> None:
    body = {**WHERE, "environment": "development", "canary": canary}
    made = caller(cast, "ines").post("releases", body).json()
    assert made["percent"] == percent
    assert made["state"] == ("live" if percent == 100 else "canary")


@pytest.mark.parametrize(
    "wrong",
    [
        *({"skill": 5}, {"skill": ""}, {"version": None}, {"environment": ["production"]}, {"note": {}}),
        *({"canary": 5}, {"canary": {"percent": 0}}, {"canary": {"percent": 101}}),
        *({"canary": {"percent": "10"}}, {"canary": {"percent": True}}, {"canary": {"steps": [25, 5]}}),
        *({"canary": {"steps": "5"}}, {"canary": {"percent": 10, "steps": [5, 25]}}),
        *({"canary": {"guard": {"max_error_rate": 1.1}}}, {"canary": {"guard": {"most_errors": 0.1}}}),
        *(
            {"canary": {"agents": ["nobody"]}},
            {"canary": {"teams": ["nobody"]}},
            {"canary": {"agent": "desk"}},
        ),
        *({"canary": {"steps": [5, 50], "soak_minutes": 59}}, {"canary": {"soak_minutes": -1}}),
        {"environment": "moon"},
    ],
)
def test_a_wrong_field(cast: make.Cast, version: Version, wrong: dict[str, Any]) -> None:
    answer = caller(cast, "ines").post("releases", {**WHERE, **wrong})
    code = "environment-unknown" if wrong == {"environment": "moon"} else "field-invalid"
    assert_problem(answer, 422, code)
    assert not Release.objects.exists()


def test_wrong_fields_of_actions(cast: make.Cast, version: Version) -> None:
    key = str(make.release(version, "production", cast=cast, state=State.APPROVED).pk)
    mara = caller(cast, "mara")
    for action, body in (
        *(("start", {"percent": value}) for value in (0, 101, "5", 1.5, [], True)),
        *(("advance", body) for body in ({}, {"percent": None}, {"percent": {}})),
        *(("reject", {"reason": value}) for value in (5, ["x"], "x" * 30_000)),
    ):
        assert_problem(act(mara, key, action, **body), 422, "field-invalid")
    assert_problem(mara.post(f"releases/{key}/start", []), 400, "body-invalid")
    assert_problem(act(mara, key, "fly"), 404, "action-unknown")
    assert Release.objects.get().state == State.APPROVED


def test_who_may_propose(cast: make.Cast, version: Version) -> None:
    for name in ("sven", "mara", "lena", "ravi", "ada", "nora"):
        assert_problem(caller(cast, name).post("releases", WHERE), 403, "not-allowed")
    assert_problem(caller(cast, "ines", ("read", "publish")).post("releases", WHERE), 403, "scope-missing")
    assert not Release.objects.exists()


def test_a_list_with_filters(cast: make.Cast, version: Version) -> None:
    make.release(version, "staging", cast=cast)
    make.release(version, "production", cast=cast, state=State.PROPOSED)
    ravi = caller(cast, "ravi", ("read",))

    def states(query: str) -> list[str]:
        return [one["state"] for one in ravi.get(f"releases{query}").json()["items"]]

    assert sorted(states("")) == ["live", "proposed"]
    assert states("?environment=staging") == ["live"]
    assert states("?state=proposed") == ["proposed"]
    assert states("?skill=refund-check&environment=production&state=live") == []
    assert_problem(ravi.get("releases?skill=no-such-skill"), 404, "not-found")
    assert states("?environment=%27%22--&state=%F0%9F%98%80") == []


def test_releases_of_a_team_only_skill_look_like_none(cast: make.Cast, version: Version) -> None:
    key = str(make.release(version, "production", cast=cast, state=State.PROPOSED).pk)
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    sven, nora = caller(cast, "sven"), caller(cast, "nora")
    for who in (sven, nora):
        assert who.get("releases").json()["items"] == []
        hidden, none = who.get(f"releases/{key}"), who.get(f"releases/{key[:-4]}0000")
        assert_problem(hidden, 404, "not-found")
        assert hidden.content.replace(key[-4:].encode(), b"0000") == none.content
        assert_problem(act(who, key, "approve"), 404, "not-found")
        assert_problem(who.post("releases", WHERE), 404, "not-found")
        filtered = who.get("releases?skill=refund-check")
        assert filtered.content == who.get("releases?skill=refund-chick").content.replace(b"chick", b"check")
    assert caller(cast, "ravi").get(f"releases/{key}").status_code == 200
