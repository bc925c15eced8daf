"""What an agent is served: by environment, by its limits, by its place in a canary, and for how long."""

from __future__ import annotations

import gc
import json
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from catalog import availability, caches, lifecycle, pins, resolution, rollout, snapshots
from catalog.models import Agent, Environment, Release, Skill, SkillSet, SkillTag, State, Version
from catalog.resolution import Feed, Gone, Unknown
from governance import rollouts
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db
NOW = make.NOW


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the clock of the process's memory forward."""
    ahead = [0.0]
    monkeypatch.setattr(caches, "monotonic", lambda: 1000.0 + ahead[0])

    def forward(seconds: float) -> None:
        ahead[0] += seconds

    return forward


def feed(agent: Agent, where: str = "production", key: str = "") -> Feed:
    """What the agent is served."""
    return resolution.feed_of(agent_id=agent.pk, environment_id=make.environment(where).pk, key=key)


def live(
    cast: make.Cast, name: str, number: str = "1.0.0", where: str = "production", **fields: Any
) -> Release:
    """A skill that is live."""
    version = make.version(name, number, cast=cast, body=f"{name} {number}\n", **fields)
    return make.release(version, where, cast=cast)


def tool(cast: make.Cast, name: str, where: str = "", **fields: Any) -> Version:
    """A tool skill, live where a place is named."""
    row = make.publication(crew.tool(name, **fields), team=cast.payments).row
    assert row is not None
    if where:
        make.release(row, where, cast=cast)
    return row


def test_environments_do_not_see_each_other(cast: make.Cast) -> None:
    agent = make.agent(team=cast.payments)
    live(cast, "refund-check")
    live(cast, "order-status", where="staging")
    assert set(feed(agent).served) == {"refund-check"}
    assert set(feed(agent, "staging").served) == {"order-status"}
    assert set(feed(agent, "development").served) == set()


@pytest.mark.parametrize("state", ["proposed", "approved", "rejected", "withdrawn", "halted", "rolled_back"])
def test_what_is_not_live_is_not_served(cast: make.Cast, state: str) -> None:
    make.release(make.version(cast=cast), "production", cast=cast, state=state)
    assert feed(make.agent(team=cast.payments)).served == {}


def test_a_deleted_skill_is_served_no_more(cast: make.Cast) -> None:
    live(cast, "refund-check")
    Skill.objects.update(deleted_at=NOW)
    assert feed(make.agent(team=cast.payments)).served == {}


# -- limits of the agent


@pytest.mark.parametrize(
    ("limits", "served"),
    [
        ({}, {"low-one", "high-one", "other"}),
        ({"skills": ["low-one"]}, {"low-one"}),
        ({"sets": ["desk"]}, {"low-one", "high-one"}),
        ({"tags": ["money"]}, {"low-one", "other"}),
        ({"tags": ["money", "more"]}, {"low-one", "high-one", "other"}),
        ({"highest_risk": "low"}, {"low-one", "other"}),
        ({"sets": ["desk"], "tags": ["money"]}, {"low-one"}),
        ({"skills": ["other"], "sets": ["desk"]}, set()),
        ({"sets": ["desk"], "highest_risk": "medium"}, {"low-one"}),
        ({"sets": ["empty"]}, set()),
        ({"tags": ["unknown"]}, set()),
    ],
)
def test_limits_of_an_agent(cast: make.Cast, limits: dict[str, Any], served: set[str]) -> None:
    live(cast, "low-one", tags=("money",))
    live(cast, "high-one", risk_level="high", tags=("more",))
    live(cast, "other", tags=("money",))
    make.skill_set("desk", *Skill.objects.filter(folder__in=("low-one", "high-one")))
    make.skill_set("empty")
    agent = make.agent(
        team=cast.payments,
        skill_tags=limits.get("tags", []),
        highest_risk=limits.get("highest_risk", "high"),
    )
    agent.skills.set(Skill.objects.filter(folder__in=limits.get("skills", ())))
    agent.sets.set(SkillSet.objects.filter(slug__in=limits.get("sets", ())))
    assert set(feed(agent).served) == served


def test_the_limit_is_the_effective_risk(cast: make.Cast) -> None:
    live(cast, "refund-check")
    Version.objects.update(suggested_risk="high")
    assert feed(make.agent(team=cast.payments, highest_risk="medium")).served == {}


def test_sets_and_tags_reach_agents_without_a_release(
    cast: make.Cast, clock: Callable[[float], None]
) -> None:
    live(cast, "refund-check")
    desk = make.skill_set("desk")
    by_set, by_tag = make.agent(team=cast.payments), make.agent("b", team=cast.payments, skill_tags=["money"])
    by_set.sets.add(desk)
    assert feed(by_set).served == feed(by_tag).served == {}
    etags = feed(by_set).etag, feed(by_tag).etag
    desk.skills.add(Skill.objects.get())
    SkillTag.objects.create(skill=Skill.objects.get(), tag="money")
    clock(1.0)
    assert set(feed(by_set).served) == set(feed(by_tag).served) == {"refund-check"}
    assert etags[0] != feed(by_set).etag
    assert etags[1] != feed(by_tag).etag


# -- dependencies


def test_dependencies_come_first(cast: make.Cast) -> None:
    tool(cast, "z.base", "production")
    tool(cast, "m.middle", "production", needs={"z.base": "1.0.0"})
    tool(cast, "a.top", "production", needs={"m.middle": "1.0.0", "z.base": "1.0.0"})
    live(cast, "b-alone")
    assert list(feed(make.agent(team=cast.payments)).served) == ["z-base", "m-middle", "a-top", "b-alone"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("rolled back", "b-two 1.2.0 or newer is needed; none is live."),
        ("yanked", "b-two 1.2.0 or newer is needed; none is live."),
        ("revoked", "b-two 1.2.0 or newer is needed; none is live."),
        ("deleted", "b-two 1.2.0 or newer is needed; none is live."),
        ("newer", None),
        ("major", "b-two 1.2.0 or newer is needed; 2.0.0 is live."),
    ],
)
def test_what_lacks_a_dependency_is_unavailable_and_breaks_nothing(
    cast: make.Cast, change: str, reason: str | None
) -> None:
    needed = tool(cast, "b.two", "production", version="1.2.0")
    tool(cast, "a.one", "production", needs={"b.two": "1.2.0"})
    live(cast, "c-alone")
    agent = make.agent(team=cast.payments)
    assert feed(agent).served["a-one"].item["available"] is True
    mara, ines, ada = (crew.actor(user) for user in (cast.mara, cast.ines, cast.ada))
    if change == "rolled back":
        release = Release.objects.get(version=needed)
        rollouts.roll_back(release=release, actor=mara, reason="Wrong.", now=NOW)
    elif change == "yanked":
        lifecycle.yank(version=needed, actor=ines, reason="Wrong.", now=NOW)
    elif change == "revoked":
        lifecycle.revoke(version=needed, actor=ada, reason="Wrong.", now=NOW)
    elif change == "deleted":
        Skill.objects.filter(folder="b-two").update(deleted_at=NOW)
    else:
        tool(cast, "b.two", "production", version={"newer": "1.10.0", "major": "2.0.0"}[change])
    resolution.forget_cached()
    served = feed(agent).served
    assert served["a-one"].item["available"] is (reason is None)
    assert served["a-one"].item["unavailable_reason"] == reason
    assert served["c-alone"].item["available"] is True


def test_what_needs_something_unavailable_is_unavailable_too(cast: make.Cast) -> None:
    tool(cast, "z.base", "production")
    tool(cast, "m.middle", "production", needs={"z.base": "1.0.0"})
    top = tool(cast, "a.top", "production", needs={"m.middle": "1.0.0"})
    lifecycle.yank(
        version=Version.objects.get(skill__folder="z-base"), actor=crew.actor(cast.ines), reason="", now=NOW
    )
    served = feed(make.agent(team=cast.payments)).served
    assert [served[name].item["unavailable_reason"] for name in ("m-middle", "a-top")] == [
        "z-base 1.0.0 or newer is needed; none is live.",
        "m-middle is needed, and is unavailable here itself.",
    ]
    lacking = availability.missing_dependencies(top, make.environment("production"))
    assert lacking == ["m-middle is needed, and is unavailable here itself."]
    assert (
        availability.unavailable({"a": "1.0.0", "b": "1.0.0"}, {"a": {"b": "1.0.0"}, "b": {"a": "1.0.0"}})
        == {}
    )


# -- canary


def canary(cast: make.Cast, percent: int, name: str = "refund-check") -> Release:
    """1.0.0 live and 1.1.0 a canary."""
    live(cast, name)
    version = make.version(name, "1.1.0", cast=cast, body=f"{name} 1.1\n")
    return make.release(version, "production", cast=cast, state=State.CANARY, percent=percent)


def arms(agent: Agent, keys: int = 400, name: str = "refund-check") -> dict[str, str]:
    """The version of each caller."""
    ask = {"agent_id": agent.pk, "environment_id": make.environment("production").pk}
    return {f"key-{n}": resolution.feed_of(**ask, key=f"key-{n}").served[name].version for n in range(keys)}


def test_a_canary_is_sticky_and_monotone(cast: make.Cast) -> None:
    release, agent = canary(cast, 20), make.agent(team=cast.payments)
    before = arms(agent)
    assert before == arms(agent)
    resolution.forget_cached()
    assert before == arms(agent)
    share = sum(version == "1.1.0" for version in before.values()) / len(before)
    assert 0.12 < share < 0.28
    for percent in (21, 50, 99):
        rollouts.advance(release=release, actor=crew.actor(cast.mara), percent=percent, now=NOW)
        resolution.forget_cached()
        after = arms(agent)
        moved = {(before[key], after[key]) for key in before if before[key] != after[key]}
        assert moved <= {("1.0.0", "1.1.0")}
        before = after


def test_skills_are_independent(cast: make.Cast) -> None:
    canary(cast, 50)
    canary(cast, 50, "order-status")
    agent = make.agent(team=cast.payments)
    one, other = arms(agent), arms(agent, name="order-status")
    both = sum(one[key] == other[key] == "1.1.0" for key in one) / len(one)
    assert 0.17 < both < 0.33


def test_without_a_key_it_is_the_agents_place(cast: make.Cast) -> None:
    canary(cast, 50)
    agent = make.agent(team=cast.payments)
    assert (
        feed(agent).served["refund-check"].version
        == feed(agent, key=str(agent.pk)).served["refund-check"].version
    )


def test_arm_and_etag_tell_the_callers_apart(cast: make.Cast) -> None:
    canary(cast, 50)
    agent = make.agent(team=cast.payments)
    seen = {
        feed(agent, key=f"key-{n}").etag: feed(agent, key=f"key-{n}").arms["refund-check"] for n in range(40)
    }
    assert sorted(seen.values()) == ["candidate", "stable"]


def test_a_canary_of_the_first_version_serves_the_others_nothing(cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast, state=State.CANARY, percent=50)
    agent = make.agent(team=cast.payments)
    found = {"refund-check" in feed(agent, key=f"key-{n}").served for n in range(40)}
    assert found == {True, False}


@pytest.mark.parametrize(("percent", "share"), [(1, 0.01), (25, 0.25), (50, 0.5)])
def test_it_is_fair(percent: int, share: float) -> None:
    places = (
        rollout.bucket_of(seed="seed", skill="refund-check", environment="production", key=f"caller-{n}")
        for n in range(100_000)
    )
    found = sum(rollout.is_candidate(bucket=place, percent=percent) for place in places) / 100_000
    assert abs(found - share) <= 0.005


@pytest.mark.parametrize("key", ["a", "", "\ud800", "会话", "k" * 10_000])
def test_any_key_has_a_place(key: str) -> None:
    place = rollout.bucket_of(seed="s", skill="x", environment="e", key=key)
    assert 0 <= place < rollout.BUCKETS
    assert place == rollout.bucket_of(seed="s", skill="x", environment="e", key=key)


# -- versions that are asked for by number


def read(agent: Agent, version: str | None, days: float = 0, name: str = "refund-check") -> str:
    """The version that is read."""
    now = NOW + timedelta(days=days)
    return pins.read_version(feed=feed(agent), name=name, version=version, now=now).version


@pytest.mark.parametrize(("days", "readable"), [(0, True), (29.9, True), (30.1, False)])
@pytest.mark.parametrize("end", ["superseded", "rolled back", "halted"])
def test_what_was_served_stays_readable_for_30_days(
    cast: make.Cast, end: str, days: float, readable: bool
) -> None:
    agent = make.agent(team=cast.payments)
    live(cast, "refund-check")
    if end == "superseded":
        live(cast, "refund-check", "1.1.0")
        asked = "1.0.0"
    else:
        version, asked = make.version(number="1.1.0", cast=cast, body="1.1\n"), "1.1.0"
        state = State.ROLLED_BACK if end == "rolled back" else State.HALTED
        make.release(version, "production", cast=cast, state=state)
    resolution.forget_cached()
    if readable:
        assert read(agent, asked, days) == asked
        return
    with pytest.raises(Gone, match=rf"^Version {asked} of refund-check is not served in production\.$"):
        read(agent, asked, days)


def test_without_a_number_it_is_the_served_one(cast: make.Cast) -> None:
    agent = make.agent(team=cast.payments)
    live(cast, "refund-check")
    assert read(agent, None) == read(agent, "1.0.0", 400) == "1.0.0"


def test_what_was_never_served_here_is_gone(cast: make.Cast) -> None:
    agent = make.agent(team=cast.payments)
    live(cast, "refund-check")
    for number, state in (("1.1.0", "proposed"), ("1.2.0", "rejected")):
        version = make.version(number=number, cast=cast, body=f"{number}\n")
        make.release(version, "production", cast=cast, state=state)
    make.release(make.version(number="1.3.0", cast=cast, body="1.3\n"), "staging", cast=cast)
    for number in ("1.1.0", "1.2.0", "1.3.0", "9.9.9", "", "nonsense"):
        with pytest.raises(Gone):
            read(agent, number)


def test_a_pin_does_not_widen_the_limits_of_an_agent(cast: make.Cast) -> None:
    live(cast, "refund-check", risk_level="high")
    live(cast, "refund-check", "1.1.0")
    agent = make.agent(team=cast.payments, highest_risk="low")
    assert read(agent, None) == "1.1.0"
    with pytest.raises(Gone):
        read(agent, "1.0.0")


@pytest.mark.parametrize("name", ["refund-check", "refund.check", "refund_check"])
def test_both_names_are_understood(cast: make.Cast, name: str) -> None:
    live(cast, "refund-check")
    assert read(make.agent(team=cast.payments), None, name=name) == "1.0.0"


def test_an_unknown_name_tells_near_ones_that_the_agent_is_served(cast: make.Cast) -> None:
    live(cast, "refund-check")
    live(cast, "refund-checks", risk_level="high")
    agent = make.agent(team=cast.payments, highest_risk="low")
    with pytest.raises(Unknown) as unknown:
        read(agent, None, name="refund-chek")
    assert unknown.value.near == ["refund-check"]


def test_a_pinned_version_says_what_it_lacks_and_whose_arm_it_is(cast: make.Cast) -> None:
    needed = tool(cast, "b.two", "production")
    tool(cast, "a.one", "production", needs={"b.two": "1.0.0"})
    tool(cast, "a.one", "production", version="1.1.0")
    agent = make.agent(team=cast.payments)
    old = pins.read_version(feed=feed(agent), name="a-one", version="1.0.0", now=NOW)
    assert (old.item["available"], old.arm, feed(agent).get("a-one").arm) == (True, "pinned", "stable")
    lifecycle.yank(version=needed, actor=crew.actor(cast.ines), reason="", now=NOW)
    resolution.forget_cached()
    old = pins.read_version(feed=feed(agent), name="a-one", version="1.0.0", now=NOW)
    assert old.item["unavailable_reason"] == "b-two 1.0.0 or newer is needed; none is live."


def test_a_pin_of_the_other_arm_is_of_that_arm(cast: make.Cast) -> None:
    canary(cast, 50)
    agent = make.agent(team=cast.payments)
    for number, arm in (("1.0.0", "stable"), ("1.1.0", "candidate")):
        for n in range(6):
            seen = resolution.feed_of(
                agent_id=agent.pk, environment_id=make.environment("production").pk, key=f"key-{n}"
            )
            assert pins.read_version(feed=seen, name="refund-check", version=number, now=NOW).arm == arm


def test_a_pin_is_read_once(cast: make.Cast, django_assert_num_queries: Any) -> None:
    live(cast, "refund-check")
    live(cast, "refund-check", "1.1.0")
    seen = feed(make.agent(team=cast.payments))
    for number in ("1.0.0", "7.0.0"):
        for queries in (2 if number == "1.0.0" else 1, 0):
            with django_assert_num_queries(queries), suppress(Gone):
                pins.read_version(feed=seen, name="refund-check", version=number, now=NOW)


def test_what_is_revoked_is_not_remembered_as_a_pin(cast: make.Cast) -> None:
    first = live(cast, "refund-check").version
    live(cast, "refund-check", "1.1.0")
    agent = make.agent(team=cast.payments)
    assert read(agent, "1.0.0") == "1.0.0"
    before = feed(agent).revision
    lifecycle.revoke(version=first, actor=crew.actor(cast.ada), reason="Malware.", now=NOW)
    resolution._snapshots.clear()
    assert feed(agent).revision == before + 1
    with pytest.raises(Gone):
        read(agent, "1.0.0")


# -- a revision, a snapshot, a second


def test_what_two_callers_are_served_alike_is_put_together_once(cast: make.Cast) -> None:
    canary(cast, 50)
    one, other = make.agent(team=cast.payments), make.agent("other", team=cast.payments)
    found = {id(feed(one, key=f"key-{n}")) for n in range(40)}
    assert len(found) == 2
    assert feed(one, key="key-1").body == feed(one, key="key-1").body
    assert json.loads(feed(one).body) == {
        "environment": "production",
        "revision": feed(one).revision,
        "skills": [dict(served.item) for served in feed(one).served.values()],
    }
    assert feed(one).etag == feed(other, key=str(one.pk)).etag


def test_of_many_who_come_first_one_compiles(shared_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cast = make.cast()
    live(cast, "refund-check")
    agent, where, compiled = make.agent(team=cast.payments), make.environment("production"), []

    def compile_slowly(environment_id: Any) -> Any:
        compiled.append(environment_id)
        time.sleep(0.2)
        return snapshots.compile_snapshot(environment_id)

    monkeypatch.setattr(resolution, "compile_snapshot", compile_slowly)
    done = crew.together(
        [lambda: len(resolution.feed_of(agent_id=agent.pk, environment_id=where.pk).served)] * 8
    )
    assert done == [1] * 8
    assert len(compiled) == 1


def test_agents_of_the_same_limits_share_what_is_put_together(cast: make.Cast) -> None:
    canary(cast, 50)
    one, other = make.agent(team=cast.payments), make.agent("other", team=cast.payments)
    assert feed(one, key="key-1") is feed(other, key="key-1")
    limited = make.agent("limited", team=cast.payments, highest_risk="low")
    assert feed(limited, key="key-1").offer is not feed(one, key="key-1").offer
    assert feed(limited, key="key-1").body == feed(one, key="key-1").body


def test_what_an_older_revision_came_to_is_let_go(cast: make.Cast, clock: Callable[[float], None]) -> None:
    canary(cast, 50)
    agent = make.agent(team=cast.payments)
    older = weakref.ref(feed(agent, key="key-1").offer)
    assert feed(agent, key="key-1").body
    live(cast, "order-status")
    clock(1.0)
    assert set(feed(agent).served) == {"refund-check", "order-status"}
    gc.collect()
    assert older() is None


def test_a_change_is_seen_within_a_second(cast: make.Cast, clock: Callable[[float], None]) -> None:
    agent = make.agent(team=cast.payments)
    live(cast, "refund-check")
    first = feed(agent)
    live(cast, "order-status")
    clock(0.9)
    assert feed(agent).etag == first.etag
    clock(0.1)
    assert set(feed(agent).served) == {"refund-check", "order-status"}
    assert feed(agent).revision == first.revision + 1


def test_a_limit_is_seen_within_a_second(cast: make.Cast, clock: Callable[[float], None]) -> None:
    agent = make.agent(team=cast.payments)
    live(cast, "refund-check", risk_level="high")
    assert feed(agent).served
    Agent.objects.update(highest_risk="low")
    clock(0.9)
    assert feed(agent).served
    clock(0.1)
    assert feed(agent).served == {}


def test_within_the_second_nothing_is_asked(
    cast: make.Cast, clock: Callable[[float], None], django_assert_num_queries: Any
) -> None:
    agent, where = make.agent(team=cast.payments), make.environment("production")
    live(cast, "refund-check")
    ask = {"agent_id": agent.pk, "environment_id": where.pk}
    resolution.feed_of(**ask)
    with django_assert_num_queries(0):
        for n in range(50):
            resolution.feed_of(**ask, key=f"key-{n}")
    clock(1.0)
    with django_assert_num_queries(2):  # the revision, and the agent with its limits
        resolution.feed_of(**ask)


def test_a_snapshot_takes_a_few_questions_however_many_skills(
    cast: make.Cast, django_assert_max_num_queries: Any
) -> None:
    for n in range(6):
        tool(cast, f"t.n{n}", "production", needs={f"t.n{n - 1}": "1.0.0"} if n else {})
    with django_assert_max_num_queries(5):
        snapshot = snapshots.compile_snapshot(make.environment("production").pk)
    assert list(snapshot.slots) == [f"t-n{n}" for n in range(6)]


def test_an_item_says_what_the_contract_asks(cast: make.Cast) -> None:
    tool(cast, "refund.issue", "production")
    item = feed(make.agent(team=cast.payments)).served["refund-issue"].item
    assert {
        "skill_id", "name", "folder", "description", "version", "bundle_sha256", "stability", "risk_level", "tags",
        "license", "compatibility", "metadata", "provenance", "permissions", "allowed_tools", "when_to_use",
        "context", "context_fields", "paths", "arguments", "argument_hint", "user_invocable", "model_invocable",
        "model", "model_hint", "input_schema", "output_schema", "dependencies", "idempotency", "cache",
        "timeout_ms", "errors", "retry", "alternatives", "has_resources", "has_scripts", "needs_confirmation",
        "available", "unavailable_reason",
    } <= set(item)  # fmt: skip
    assert "has_manifest" not in item


@pytest.mark.parametrize(
    ("policy", "risk", "needed"),
    [("never", "high", False), ("high", "medium", False), ("high", "high", True), ("always", "low", True)],
)
def test_whether_calls_need_a_confirmation(cast: make.Cast, policy: str, risk: str, needed: bool) -> None:
    Environment.objects.update(call_confirmation=policy)
    live(cast, "refund-check", risk_level=risk)
    item = feed(make.agent(team=cast.payments)).served["refund-check"].item
    assert item["needs_confirmation"] is needed


def test_a_team_only_skill_is_served_to_its_teams_agents_alone(cast: make.Cast) -> None:
    version = make.version("refund-check", cast=cast)
    make.release(version, "staging", cast=cast)
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    staging = make.environment("staging")
    own, foreign = (
        Agent.objects.create(name=name, team=team, created_at=make.NOW)
        for name, team in (("own-bot", cast.payments), ("foreign-bot", cast.support))
    )
    resolution.forget_cached()
    assert list(resolution.feed_of(agent_id=own.pk, environment_id=staging.pk).served) == ["refund-check"]
    assert not resolution.feed_of(agent_id=foreign.pk, environment_id=staging.pk).served
    feed = resolution.feed_of(agent_id=foreign.pk, environment_id=staging.pk)
    with pytest.raises(resolution.Unknown):
        pins.read_version(feed=feed, name="refund-check", version="1.0.0", now=make.NOW)
