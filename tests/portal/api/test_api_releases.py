"""Releases by REST: proposing, deciding, who may, and who sees them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from catalog import resolution
from catalog.models import Delegation, Environment, Release, Skill, State, Version
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


# -- overriding, breaking the glass, resuming


def test_a_gate_is_overridden_with_a_reason(cast: make.Cast, version: Version) -> None:
    cast.mara.grants.update(may_override=True)
    Environment.objects.filter(name="production").update(needs_evaluation=True)
    key = str(make.release(version, "production", cast=cast, state=State.APPROVED).pk)
    ines, mara, otto = (caller(cast, name) for name in ("ines", "mara", "otto"))
    body = {"gate": "evaluation", "reason": "Run by hand."}
    for who in (ines, otto):
        assert_problem(act(who, key, "override", **body), 403, "not-allowed")
    assert_problem(act(mara, key, "override", reason="x"), 422, "field-invalid")
    assert_problem(act(mara, key, "override", gate=["risk"], reason="x"), 422, "field-invalid")
    assert_problem(act(mara, key, "override", gate="evaluation"), 422, "reason-missing")
    for gate in ("luck", "risk", "stability"):
        assert_problem(act(mara, key, "override", gate=gate, reason="x"), 422, "gate-invalid")
    assert_problem(act(mara, key, "start"), 409, "gates-shut")
    done = act(mara, key, "override", **body).json()
    gate = next(one for one in done["gates"] if one["name"] == "evaluation")
    assert (gate["passed"], gate["overridden"]) == (False, "mara: Run by hand.")
    assert [(one["gate"], one["reason"], one["by"]) for one in done["overrides"]] == [
        ("evaluation", "Run by hand.", "mara")
    ]
    assert_problem(act(mara, key, "override", **body), 422, "gate-invalid")
    assert act(mara, key, "start").json()["state"] == "live"
    assert len(ines.get(f"releases/{key}").json()["overrides"]) == 1
    assert_problem(act(mara, key, "override", **body), 409, "wrong-state")


def test_glass_is_broken_with_a_reason(cast: make.Cast) -> None:
    cast.mara.grants.update(may_override=True)
    risky = make.version("wipe-disk", cast=cast, risk_level="high")
    ines, mara, otto = (caller(cast, name) for name in ("ines", "mara", "otto"))
    where = {**WHERE, "skill": "wipe-disk", "version": risky.version}
    key = ines.post("releases", where).json()["id"]
    for who in (ines, otto, caller(cast, "ada")):
        assert_problem(act(who, key, "break_glass", reason="Down."), 403, "not-allowed")
    assert_problem(act(mara, key, "break_glass"), 422, "reason-missing")
    done = act(mara, key, "break_glass", reason="The shop is down.").json()
    assert (done["state"], done["percent"], done["approvals"]) == ("live", 100, [])
    last = done["transitions"][-1]
    assert (last["action"], last["by"], last["reason"]) == ("break_glass", "mara", "The shop is down.")
    assert_problem(act(mara, key, "break_glass", reason="Again."), 409, "wrong-state")


def test_glass_leaves_what_the_policy_forbids(cast: make.Cast, version: Version) -> None:
    cast.mara.grants.update(may_override=True)
    Environment.objects.filter(name="production").update(permissions=[])
    mailer = make.version("mailer", cast=cast, permissions=("send",), risk_level="medium")
    key = str(make.release(mailer, "production", cast=cast, state=State.PROPOSED).pk)
    assert_problem(act(caller(cast, "mara"), key, "break_glass", reason="Down."), 409, "gates-shut")
    assert Release.objects.get().state == State.PROPOSED


def test_a_halted_canary_is_resumed(cast: make.Cast, version: Version) -> None:
    key = str(make.release(version, "production", cast=cast, state=State.HALTED, percent=30).pk)
    ines, mara = caller(cast, "ines"), caller(cast, "mara")
    assert_problem(act(ines, key, "resume"), 403, "not-allowed")
    for percent in (0, 101, "5", True):
        assert_problem(act(mara, key, "resume", percent=percent), 422, "field-invalid")
    done = act(mara, key, "resume").json()
    assert (done["state"], done["percent"]) == ("canary", 30)
    assert_problem(act(mara, key, "resume"), 409, "wrong-state")
    act(mara, key, "halt", reason="Errors.")
    assert act(mara, key, "resume", percent=100).json()["state"] == "live"


def test_a_canary_for_named_callers_in_steps(cast: make.Cast, version: Version) -> None:
    make.agent(team=cast.payments)
    plan = {"percent": 0, "agents": ["front-desk"]}
    mara = caller(cast, "mara")
    key = caller(cast, "ines").post("releases", {**WHERE, "canary": plan}).json()["id"]
    act(mara, key, "approve")
    done = act(mara, key, "start").json()
    assert (done["state"], done["percent"], done["next_step_at"]) == ("canary", 0, None)
    assert done["canary"] == plan
    assert act(mara, key, "advance", percent=40).json()["percent"] == 40
    assert act(mara, key, "advance", percent=0).json()["percent"] == 0


def test_the_plan_of_a_canary_and_its_next_step(cast: make.Cast, version: Version) -> None:
    plan = {
        "steps": [5, 25, 100],
        "soak_minutes": 90,
        "tags": ["beta"],
        "guard": {"max_error_rate": 0.05, "min_calls": 20},
    }
    ines, mara = caller(cast, "ines"), caller(cast, "mara")
    made = ines.post("releases", {**WHERE, "canary": plan}).json()
    guard = {"max_error_rate": 0.05, "max_p95_ms": None, "min_calls": 20}
    assert made["canary"] == {**plan, "percent": 5, "guard": guard}
    act(mara, made["id"], "approve")
    assert act(mara, made["id"], "start").json()["next_step_at"] is None
    del plan["guard"]
    other = make.version("other", cast=cast)
    made = ines.post("releases", {**WHERE, "skill": "other", "version": other.version, "canary": plan}).json()
    assert made["next_step_at"] is None
    act(mara, made["id"], "approve")
    done = act(mara, made["id"], "start").json()
    row = Release.objects.get(pk=made["id"])
    assert row.next_step_at is not None
    assert row.next_step_at - row.changed_at == timedelta(minutes=90)
    assert done["next_step_at"] == row.next_step_at.isoformat().replace("+00:00", "Z")
    listed = ines.get("releases?skill=other").json()["items"]
    assert [one["next_step_at"] for one in listed] == [done["next_step_at"]]


def test_an_approval_names_whose_right_it_was(cast: make.Cast, version: Version) -> None:
    now = timezone.now()
    Delegation.objects.create(
        giver=cast.mara, taker=cast.nora, starts_at=now, ends_at=now + timedelta(hours=1), created_at=now
    )
    key = caller(cast, "ines").post("releases", WHERE).json()["id"]
    done = act(caller(cast, "nora"), key, "approve").json()
    assert [(one["user"], one["right_of"]) for one in done["approvals"]] == [("nora", "mara")]


@pytest.mark.parametrize("action", ["resume", "override", "break_glass"])
def test_a_key_does_it_once(cast: make.Cast, version: Version, action: str) -> None:
    cast.mara.grants.update(may_override=True)
    state = State.HALTED if action == "resume" else State.PROPOSED
    key = str(make.release(version, "production", cast=cast, state=state).pk)
    Environment.objects.filter(name="production").update(needs_evaluation=action != "resume")
    mara, body = caller(cast, "mara"), {"gate": "evaluation", "reason": "Down."}
    first, second = (mara.post(f"releases/{key}/{action}", body, Idempotency_Key="once") for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.content == second.content
    assert Release.objects.get().transitions.filter(action=action).count() == 1


@pytest.mark.parametrize("action", ["resume", "override", "break_glass"])
def test_the_new_actions_need_the_scope(cast: make.Cast, version: Version, action: str) -> None:
    cast.mara.grants.update(may_override=True)
    key = str(make.release(version, "production", cast=cast, state=State.HALTED).pk)
    mara = caller(cast, "mara", ("read", "publish"))
    assert_problem(act(mara, key, action, gate="evaluation", reason="x"), 403, "scope-missing")
    agent = Caller(make.token(agent=make.agent(team=cast.payments))[1])
    assert act(agent, key, action, gate="evaluation", reason="x").status_code == 403


def test_a_note_reads_as_it_was_sent(cast: make.Cast, version: Version) -> None:
    ines, body = (
        caller(cast, "ines"),
        {"skill": "refund-check", "version": "1.0.0", "environment": "production"},
    )
    told = assert_problem(ines.post("releases", {**body, "note": "Safe \u202eton"}), 422, "field-invalid")
    assert told["errors"][0]["message"] == "note holds a hidden control character (U+202E); leave it out."
    assert ines.post("releases", {**body, "note": "Zeile 1\n\tZeile 2 \u200fשלום"}).status_code == 201
