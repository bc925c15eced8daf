"""POST /api/v1/skills/{name}/degrade and …/restore, and what the feed makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from catalog import resolution
from catalog.models import Degradation, Environment, JournalEntry, Skill, State, Version
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db
PATH = "skills/refund-check"
REASON = "It grants what it should not."
BODY = {"environments": ["production"], "reason": REASON}


@pytest.fixture(autouse=True)
def served(refunds: Version) -> None:
    """refund-check is live in production."""


def other(cast: make.Cast, name: str = "refund-issue", **fields: Any) -> Skill:
    version = make.version(name, cast=cast, **fields)
    make.release(version, "production", cast=cast)
    return version.skill


def test_it_answers_where_the_skill_is_off(ines: Caller, cast: make.Cast) -> None:
    other(cast)
    told = ines.post(f"{PATH}/degrade", {**BODY, "fallback": "refund-issue"}).json()
    at = told["switched_off"]["production"].pop("at")
    assert at
    assert told["switched_off"] == {
        "production": {"reason": REASON, "fallback": "refund-issue", "by": "ines"}
    }
    assert told["environments"]["production"]["live"] == "1.0.0"
    assert ines.get(PATH).json()["switched_off"]["production"]["by"] == "ines"
    (row,) = [one for one in ines.get("skills").json()["items"] if one["name"] == "refund-check"]
    assert row["switched_off"]["production"]["at"] == at
    told = ines.post(f"{PATH}/restore", {"reason": "Mended."}).json()
    assert told["switched_off"] == {}
    entry = JournalEntry.objects.order_by("-n")[0]
    assert (entry.verb, entry.actor, entry.after) == (
        "skill.restore",
        "ines",
        {"off": False, "reason": "Mended."},
    )


def test_everywhere_where_no_environment_is_named(ines: Caller) -> None:
    told = ines.post(f"{PATH}/degrade", {"reason": REASON}).json()
    assert set(told["switched_off"]) == {"development", "staging", "production"}
    told = ines.post(f"{PATH}/restore", {"environments": ["staging"]}).json()
    assert set(told["switched_off"]) == {"development", "production"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"environments": ["production"]}, "reason-missing"),
        ({**BODY, "reason": "  "}, "reason-missing"),
        ({**BODY, "environments": ["moon"]}, "field-invalid"),
        ({**BODY, "environments": []}, "field-invalid"),
        ({**BODY, "environments": 3}, "field-invalid"),
        ({**BODY, "fallback": 3}, "field-invalid"),
        ({**BODY, "fallback": "refund-chek"}, "fallback-invalid"),
        ({**BODY, "fallback": "refund-check"}, "fallback-invalid"),
    ],
)
def test_what_is_wrong_is_told(ines: Caller, body: dict[str, Any], code: str) -> None:
    assert_problem(ines.post(f"{PATH}/degrade", body), 422, code)
    assert not Degradation.objects.exists()


def test_an_unknown_fallback_names_near_ones(ines: Caller, cast: make.Cast) -> None:
    other(cast)
    told = assert_problem(
        ines.post(f"{PATH}/degrade", {**BODY, "fallback": "refund-isue"}), 422, "fallback-invalid"
    )
    assert told["near"][0] == "refund-issue"
    Skill.objects.filter(folder="refund-issue").update(visibility="team", team=cast.support, owner=None)
    told = assert_problem(
        ines.post(f"{PATH}/degrade", {**BODY, "fallback": "refund-issue"}), 422, "fallback-invalid"
    )
    assert told["near"] == ["refund-check"]


def test_who_may(cast: make.Cast, ines: Caller) -> None:
    for name in ("sven", "lena", "ravi", "ada", "nora"):
        for act in ("degrade", "restore"):
            told = assert_problem(caller(cast, name).post(f"{PATH}/{act}", BODY), 403, "not-allowed")
            assert "In Production this needs an approver, or a publisher in Payments." in told["detail"]
    assert_problem(caller(cast, "mara", ("read",)).post(f"{PATH}/degrade", BODY), 403, "scope-missing")
    assert_problem(Caller().post(f"{PATH}/degrade", BODY), 401, "not-authenticated")
    assert caller(cast, "mara").post(f"{PATH}/degrade", BODY).status_code == 200
    assert ines.get(f"{PATH}/degrade").status_code == 405
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert_problem(caller(cast, "sven").post(f"{PATH}/degrade", BODY), 404, "not-found")


def test_what_is_on_is_not_restored(ines: Caller) -> None:
    assert_problem(ines.post(f"{PATH}/restore"), 409, "wrong-state")


def test_a_key_does_it_once(ines: Caller) -> None:
    first = ines.post(f"{PATH}/degrade", BODY, Idempotency_Key="one")
    ines.post(f"{PATH}/restore")
    again = ines.post(f"{PATH}/degrade", BODY, Idempotency_Key="one")
    assert again.json() == first.json()
    assert not Degradation.objects.filter(restored_at=None).exists()


# -- the feed


def feed(desk: Caller) -> dict[str, dict[str, Any]]:
    """The list at the next poll, by name."""
    resolution.forget_cached()
    return {one["name"]: one for one in desk.get("feed").json()["skills"]}


def told_of(item: dict[str, Any]) -> tuple[Any, ...]:
    return item["available"], item["unavailable_reason"], item["fallback"], item["fallback_for"]


def test_the_feed_says_so_and_what_stands_in(ines: Caller, cast: make.Cast, desk: Caller) -> None:
    other(cast)
    before = desk.get("feed")
    assert told_of(feed(desk)["refund-check"]) == (True, None, None, [])
    ines.post(f"{PATH}/degrade", {**BODY, "fallback": "refund-issue"})
    seen = feed(desk)
    told = f"Switched off: {REASON} Use refund-issue instead."
    assert told_of(seen["refund-check"]) == (False, told, "refund-issue", [])
    assert told_of(seen["refund-issue"]) == (True, None, None, ["refund-check"])
    assert desk.get("feed", If_None_Match=before["ETag"]).status_code == 200
    ines.post(f"{PATH}/restore")
    assert told_of(feed(desk)["refund-check"]) == (True, None, None, [])
    assert told_of(feed(desk)["refund-issue"]) == (True, None, None, [])


def test_it_is_neither_advertised_nor_a_tool(ines: Caller, desk: Caller) -> None:
    assert "refund-check" in desk.get("feed/advertise").content.decode()
    names = [one["name"] for one in desk.get("feed/tools?scripts=true").json()["tools"]]
    assert names == ["load_skill", "read_skill_resource", "run_skill_script"]
    ines.post(f"{PATH}/degrade", BODY)
    resolution.forget_cached()
    assert "refund-check" not in desk.get("feed/advertise").content.decode()
    names = [one["name"] for one in desk.get("feed/tools?scripts=true").json()["tools"]]
    assert names == ["load_skill"]


@pytest.mark.parametrize("rest", ["", "/resources/references/rules.md", "/bundle.zip"])
def test_it_is_not_read_pinned_or_not(ines: Caller, cast: make.Cast, desk: Caller, rest: str) -> None:
    make.release(make.version("refund-check", "1.1.0", cast=cast), "production", cast=cast)
    other(cast)
    ines.post(f"{PATH}/degrade", {**BODY, "fallback": "refund-issue"})
    resolution.forget_cached()
    for pin in ("", "?version=1.0.0", "?version=1.1.0"):
        told = assert_problem(desk.get(f"feed/skills/refund-check{rest}{pin}"), 409, "skill-switched-off")
        assert told["fallback"] == "refund-issue"
        assert told["detail"] == (
            f"refund-check cannot be read in production. Switched off: {REASON} Use refund-issue instead."
        )
    assert_problem(desk.get(f"feed/skills/refund-check{rest}?version=7.0.0"), 410, "version-gone")
    ines.post(f"{PATH}/restore")
    ines.post(f"{PATH}/degrade", BODY)
    resolution.forget_cached()
    assert (
        assert_problem(desk.get(f"feed/skills/refund-check{rest}"), 409, "skill-switched-off")["fallback"]
        is None
    )


def test_both_arms_are_off_and_keep_their_names(ines: Caller, cast: make.Cast, desk: Caller) -> None:
    version = make.version("refund-check", "1.1.0", cast=cast)
    make.release(version, "production", cast=cast, state=State.CANARY, percent=50)
    ines.post(f"{PATH}/degrade", BODY)
    resolution.forget_cached()
    seen = set()
    for n in range(20):
        answer = desk.get(f"feed?key=k{n}")
        (item,) = answer.json()["skills"]
        assert item["available"] is False
        seen.add((item["version"], answer["X-Quartermaster-Assignment"]))
    assert seen == {("1.0.0", "refund-check=stable"), ("1.1.0", "refund-check=candidate")}


def test_dependents_are_unavailable_with_the_reason(ines: Caller, cast: make.Cast, desk: Caller) -> None:
    other(cast, "refund-letter").latest.dependencies.create(folder="refund-check", minimum="1.0.0")
    other(cast, "refund-mail").latest.dependencies.create(folder="refund-letter", minimum="1.0.0")
    ines.post(f"{PATH}/degrade", BODY)
    seen = feed(desk)
    assert told_of(seen["refund-letter"])[:2] == (
        False,
        f"refund-check is needed, and is unavailable here itself: switched off: {REASON}",
    )
    assert (
        seen["refund-mail"]["unavailable_reason"]
        == "refund-letter is needed, and is unavailable here itself."
    )


def test_other_environments_know_nothing_of_it(ines: Caller, cast: make.Cast) -> None:
    make.release(Version.objects.get(), "staging", cast=cast)
    there = Caller(make.token(agent=make.agent("stage", team=cast.payments), environment="staging")[1])
    ines.post(f"{PATH}/degrade", BODY)
    assert told_of(feed(there)["refund-check"]) == (True, None, None, [])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("switched off", "Its fallback refund-issue is switched off too."),
        ("rolled back", "Its fallback refund-issue is not live here."),
        ("yanked", "Its fallback refund-issue is not live here."),
        ("deleted", "Its fallback refund-issue is gone."),
        ("lacks something", "Its fallback refund-issue is unavailable here itself."),
        ("not allowed", "Its fallback refund-issue is unavailable here itself."),
        ("team alone", "Its fallback is for one team alone by now."),
    ],
)
def test_a_fallback_that_is_lost_is_told_as_such(
    ines: Caller, cast: make.Cast, desk: Caller, change: str, sentence: str
) -> None:
    stand_in = other(cast)
    ines.post(f"{PATH}/degrade", {**BODY, "fallback": "refund-issue"})
    if change == "switched off":
        ines.post("skills/refund-issue/degrade", BODY)
    elif change == "rolled back":
        release = stand_in.releases.get()
        assert (
            caller(cast, "mara").post(f"releases/{release.pk}/rollback", {"reason": "x"}).status_code == 200
        )
    elif change == "yanked":
        ines.post("skills/refund-issue/versions/1.0.0/yank", {"reason": "x"})
    elif change == "deleted":
        ines.send("DELETE", "skills/refund-issue")
    elif change == "lacks something":
        Version.objects.get(skill=stand_in).dependencies.create(folder="nowhere", minimum="1.0.0")
    elif change == "not allowed":
        Version.objects.filter(skill=stand_in).update(permissions=["shell"])
        Environment.objects.update(permissions=[])
    else:
        Skill.objects.filter(pk=stand_in.pk).update(visibility="team", team=cast.support, owner=None)
    seen = feed(desk)
    assert told_of(seen["refund-check"]) == (False, f"Switched off: {REASON} {sentence}", None, [])
    told = assert_problem(desk.get("feed/skills/refund-check"), 409, "skill-switched-off")
    assert (told["fallback"], sentence in told["detail"]) == (None, True)
    if "refund-issue" in seen:
        assert seen["refund-issue"]["fallback_for"] == []


def test_a_fallback_beyond_an_agents_limits_is_no_help(ines: Caller, cast: make.Cast) -> None:
    other(cast)
    agent = make.agent("narrow", team=cast.payments)
    agent.skills.add(Skill.objects.get(folder="refund-check"))
    ines.post(f"{PATH}/degrade", {**BODY, "fallback": "refund-issue"})
    narrow = Caller(make.token(agent=agent)[1])
    sentence = f"Switched off: {REASON} Its fallback is not served to this agent."
    assert told_of(feed(narrow)["refund-check"]) == (False, sentence, None, [])
    told = assert_problem(narrow.get("feed/skills/refund-check"), 409, "skill-switched-off")
    assert told["fallback"] is None
    wide = Caller(make.token(agent=make.agent("wide", team=cast.payments))[1])
    assert feed(wide)["refund-issue"]["fallback_for"] == ["refund-check"]
    agent.skills.set([Skill.objects.get(folder="refund-issue")])
    assert feed(narrow)["refund-issue"]["fallback_for"] == []


# -- what an environment does not allow any more


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ({"permissions": []}, "Not allowed here: network, send."),
        ({"highest_risk": "low"}, "The risk is medium; up to low is allowed here."),
    ],
)
def test_what_the_policy_no_longer_allows_is_unavailable(
    cast: make.Cast, desk: Caller, policy: dict[str, Any], sentence: str
) -> None:
    Environment.objects.update(permissions=["network", "send"])
    fields = {"risk_level": "medium", "permissions": ("network", "send")}
    first = other(cast, "refund-mail", **fields)
    make.release(make.version("refund-mail", "1.1.0", cast=cast, **fields), "production", cast=cast)
    needing = other(cast, "refund-note")
    needing.versions.get().dependencies.create(folder="refund-mail", minimum="1.0.0")
    assert feed(desk)["refund-mail"]["available"] is True
    Environment.objects.update(**policy)
    seen = feed(desk)
    assert told_of(seen["refund-mail"]) == (False, sentence, None, [])
    told = f"{sentence[0].lower()}{sentence[1:]}"
    assert seen["refund-note"]["unavailable_reason"] == (
        f"refund-mail is needed, and is unavailable here itself: {told}"
    )
    assert "refund-mail" not in desk.get("feed/advertise").content.decode()
    pinned = desk.get("feed/skills/refund-mail?version=1.0.0").json()
    assert (pinned["version"], pinned["available"], pinned["unavailable_reason"]) == (
        "1.0.0",
        False,
        sentence,
    )
    assert first.name == "refund-mail"
