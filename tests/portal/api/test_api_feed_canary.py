"""Gray releases as agents meet them: by session, by agent, by team and tag, up and down again."""

from __future__ import annotations

from typing import Any

import pytest
from django.db.models import F

from catalog import resolution
from catalog.canaries import Plan
from catalog.models import Agent, Environment, Release, State, Version
from tests import make
from tests.portal.api.callers import Caller, assert_problem

pytestmark = pytest.mark.django_db
SESSIONS = [f"session-{n}" for n in range(200)]


@pytest.fixture
def canary(cast: make.Cast, refunds: Version) -> Release:
    """refund-check 1.1.0 beside 1.0.0."""
    newer = make.version(number="1.1.0", cast=cast, body="# Newer\n")
    return make.release(newer, "production", cast=cast, state=State.CANARY, percent=5)


def change(canary: Release, *, percent: int, **cohort: list[str]) -> None:
    """Serve the canary to so many, and to those; the next poll sees it."""
    plan: dict[str, Any] = {"percent": percent, **cohort}
    Release.objects.filter(pk=canary.pk).update(percent=percent, canary=plan)
    Environment.objects.filter(name="production").update(revision=F("revision") + 1)
    resolution.forget_cached()


def served(desk: Caller, key: str = "") -> str:
    """The version that the caller is served, by the list and by the skill itself."""
    query = f"?key={key}" if key else ""
    answer = desk.get(f"feed{query}")
    (skill,) = answer.json()["skills"]
    loaded = desk.get(f"feed/skills/refund-check{query}")
    assert loaded.json()["version"] == skill["version"]
    arm = "candidate" if skill["version"] == "1.1.0" else "stable"
    assert answer["X-Quartermaster-Assignment"] == f"refund-check={arm}"
    assert loaded["X-Quartermaster-Assignment"] == arm
    return str(skill["version"])


def candidates(desk: Caller) -> set[str]:
    """The sessions that are served the candidate."""
    return {key for key in SESSIONS if served(desk, key) == "1.1.0"}


def test_sessions_through_rises_and_a_fall(desk: Caller, canary: Release) -> None:
    seen: dict[int, set[str]] = {}
    for percent in (5, 25, 50, 99):
        change(canary, percent=percent)
        seen[percent] = candidates(desk)
    assert seen[5] < seen[25] < seen[50] < seen[99]
    # 200 sessions: within three standard deviations of the share.
    assert abs(len(seen[25]) - 50) < 19
    change(canary, percent=25)
    assert candidates(desk) == seen[25]


def test_the_tag_changes_with_the_arm_and_is_good_for_the_same(desk: Caller, canary: Release) -> None:
    change(canary, percent=50)
    tags: dict[str, set[str]] = {"stable": set(), "candidate": set()}
    for key in SESSIONS[:40]:
        answer = desk.get(f"feed?key={key}")
        tags[answer["X-Quartermaster-Assignment"].partition("=")[2]].add(answer["ETag"])
        again = desk.get(f"feed?key={key}", If_None_Match=answer["ETag"])
        assert again.status_code == 304
        assert again["X-Quartermaster-Assignment"] == answer["X-Quartermaster-Assignment"]
    ((stable,), (candidate,)) = tags.values()
    assert stable != candidate
    key = next(key for key in SESSIONS if served(desk, key) == "1.1.0")
    assert desk.get(f"feed?key={key}", If_None_Match=stable).status_code == 200


def test_an_agent_without_a_key_keeps_its_place(desk: Caller, canary: Release) -> None:
    change(canary, percent=50)
    own = served(desk)
    assert own == served(desk, str(Agent.objects.get().pk))
    resolution.forget_cached()
    assert own == served(desk)
    change(canary, percent=0, agents=["front-desk"])
    assert served(desk) == "1.1.0"


@pytest.mark.parametrize(
    ("cohort", "named"),
    [
        ({"agents": ["front-desk"]}, True),
        ({"agents": ["back-desk"]}, False),
        ({"teams": ["payments"]}, True),
        ({"teams": ["support"]}, False),
        ({"tags": ["beta"]}, True),
        ({"tags": ["Beta"]}, False),
        ({"tags": ["money"]}, False),
        ({"agents": ["back-desk"], "teams": ["support"], "tags": ["beta"]}, True),
    ],
)
def test_named_callers_get_the_candidate_whatever_their_key(
    cast: make.Cast, desk: Caller, canary: Release, cohort: dict[str, list[str]], named: bool
) -> None:
    Agent.objects.update(tags=["beta", "trial"], skill_tags=[])
    change(canary, percent=0, **cohort)
    wanted = "1.1.0" if named else "1.0.0"
    assert {served(desk, key) for key in ("", *SESSIONS[:20])} == {wanted}
    other = Caller(make.token(agent=make.agent("elsewhere", team=cast.support))[1])
    assert served(other) == ("1.1.0" if "support" in cohort.get("teams", ()) else "1.0.0")


def test_beside_the_named_the_percentage_is_of_all_others(
    cast: make.Cast, desk: Caller, canary: Release
) -> None:
    change(canary, percent=25)
    other = Caller(make.token(agent=make.agent("elsewhere", team=cast.support))[1])
    before = candidates(other)
    change(canary, percent=25, agents=["front-desk"])
    assert candidates(other) == before
    assert candidates(desk) == set(SESSIONS)


def test_a_tag_of_an_agent_is_seen_within_a_second(desk: Caller, canary: Release) -> None:
    change(canary, percent=0, tags=["beta"])
    assert served(desk) == "1.0.0"
    etag = desk.get("feed")["ETag"]
    Agent.objects.update(tags=["beta"])
    resolution._profiles.clear()
    assert served(desk) == "1.1.0"
    assert desk.get("feed", If_None_Match=etag).status_code == 200


def test_a_candidate_beyond_an_agents_limit_leaves_it_the_stable_version(
    cast: make.Cast, desk: Caller, refunds: Version
) -> None:
    risky = make.version(number="1.1.0", cast=cast, body="# Newer\n", risk_level="high")
    canary = make.release(risky, "production", cast=cast, state=State.CANARY, percent=5)
    Agent.objects.update(highest_risk="low")
    change(canary, percent=99, agents=["front-desk"])
    assert {served(desk, key) for key in ("", *SESSIONS[:20])} == {"1.0.0"}


def test_named_callers_of_a_first_version_are_served_it_alone(cast: make.Cast, desk: Caller) -> None:
    first = make.release(make.version(cast=cast), "production", cast=cast, state=State.CANARY, percent=5)
    change(first, percent=0, agents=["front-desk"])
    assert served_names(desk) == ["refund-check"]
    other = Caller(make.token(agent=make.agent("elsewhere", team=cast.payments))[1])
    assert served_names(other) == []
    assert_problem(other.get("feed/skills/refund-check"), 404, "skill-not-found")


def served_names(desk: Caller) -> list[str]:
    """The folders in the feed."""
    return [skill["folder"] for skill in desk.get("feed").json()["skills"]]


def test_a_plan_with_a_cohort_reaches_the_feed(cast: make.Cast, desk: Caller, refunds: Version) -> None:
    newer = make.version(number="1.1.0", cast=cast, body="# Newer\n")
    made = make.release(newer, "production", cast=cast, state=State.CANARY, percent=1)
    stored = Plan(percent=0, teams=("payments",)).as_json()
    Release.objects.filter(pk=made.pk).update(percent=0, canary=stored)
    Environment.objects.update(revision=F("revision") + 1)
    resolution.forget_cached()
    assert served(desk) == "1.1.0"


def test_the_header_of_hundreds_of_canaries_stays_short(cast: make.Cast, desk: Caller) -> None:
    for n in range(3):
        name = f"a-rather-long-name-of-a-skill-{n}"
        make.release(make.version(name, cast=cast, body=f"{n}\n"), "production", cast=cast)
        newer = make.version(name, "1.1.0", cast=cast, body=f"{n} newer\n")
        make.release(newer, "production", cast=cast, state=State.CANARY, percent=50)
    whole = desk.get("feed")["X-Quartermaster-Assignment"]
    assert [part.partition("=")[0] for part in whole.split(", ")] == [
        f"a-rather-long-name-of-a-skill-{n}" for n in range(3)
    ]


def test_a_header_that_would_grow_too_long_is_cut(
    cast: make.Cast, desk: Caller, canary: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolution, "LONGEST_ASSIGNMENT", 10)
    resolution.forget_cached()
    assert desk.get("feed")["X-Quartermaster-Assignment"] == "..."
