"""The feed: what an agent is served, and when it has changed."""

from __future__ import annotations

from typing import Any

import pytest

from catalog import lifecycle, resolution
from catalog.journal import Actor
from catalog.models import Agent, Environment, Risk, Skill, SkillTag, State, Version
from governance import rollouts, usage
from governance.models import ReadCount
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db

# The contract names these, and agents rely on each.
FIELDS = [
    "skill_id",
    "name",
    "folder",
    "description",
    "version",
    "bundle_sha256",
    "stability",
    "risk_level",
    "tags",
    "license",
    "compatibility",
    "metadata",
    "provenance",
    "permissions",
    "allowed_tools",
    "when_to_use",
    "context",
    "context_fields",
    "paths",
    "arguments",
    "argument_hint",
    "user_invocable",
    "model_invocable",
    "model",
    "model_hint",
    "input_schema",
    "output_schema",
    "dependencies",
    "idempotency",
    "cache",
    "timeout_ms",
    "errors",
    "retry",
    "alternatives",
    "has_resources",
    "has_scripts",
    "needs_confirmation",
    "available",
    "unavailable_reason",
]


def names(answer: object) -> list[str]:
    """The folder names of a feed."""
    return [skill["folder"] for skill in answer.json()["skills"]]


def agent_of(desk: Caller) -> Agent:
    """The agent behind the caller."""
    assert desk.secret
    return Agent.objects.get()


def test_every_field_of_the_contract(desk: Caller, refunds: Version) -> None:
    answer = desk.get("feed")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    body = answer.json()
    assert list(body) == ["environment", "revision", "skills"]
    assert (body["environment"], body["revision"]) == ("production", 1)
    (skill,) = body["skills"]
    assert set(FIELDS) <= skill.keys()
    assert skill["bundle_sha256"] == refunds.bundle_sha256
    assert (skill["skill_id"], skill["version"]) == ("refund-check", "1.0.0")
    assert (skill["has_resources"], skill["has_scripts"]) == (True, True)
    assert (skill["allowed_tools"], skill["available"], skill["unavailable_reason"]) == (None, True, None)
    assert skill["provenance"]["publisher"] == "ines"
    assert "has_manifest" not in skill


def test_the_fields_of_a_tool(desk: Caller, cast: make.Cast) -> None:
    more = (
        "dependencies: {refund-check: 1.0.0}\ntimeout: 1.5\ncache_ttl: 60\n"
        "alternatives: [refund-check]\nmodel_hint: small\n"
    )
    tool = make.version(
        "refund.issue", cast=cast, files={"manifest.yaml": make.manifest(more=more), "run.py": b"pass\n"}
    )
    make.release(make.version(cast=cast), "production", cast=cast)
    make.release(tool, "production", cast=cast)
    body = desk.get("feed").json()
    # What a skill depends on comes before it.
    assert [skill["folder"] for skill in body["skills"]] == ["refund-check", "refund-issue"]
    skill = body["skills"][1]
    assert (skill["name"], skill["folder"]) == ("refund.issue", "refund-issue")
    assert skill["dependencies"] == {"refund-check": "1.0.0"}
    assert skill["idempotency"] == {"declared": True, "fields": ["order_id"]}
    assert (skill["timeout_ms"], skill["cache"], skill["model_hint"]) == (1500, {"ttl_ms": 60000}, "small")
    assert skill["input_schema"]["required"] == ["order_id"]
    assert skill["permissions"] == ["network"]


def test_a_dependency_that_is_not_live_makes_a_skill_unavailable(desk: Caller, cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    files = {
        "manifest.yaml": make.manifest(more="dependencies: {refund-check: 1.0.0}\n"),
        "run.py": b"pass\n",
    }
    make.release(make.version("refund.issue", cast=cast, files=files), "production", cast=cast)
    live = Version.objects.get(skill__folder="refund-check").releases.get()
    mara = Actor(user=cast.mara)
    rollouts.roll_back(release=live, actor=mara, reason="Wrong totals.", now=make.NOW)
    resolution.forget_cached()
    (skill,) = desk.get("feed").json()["skills"]
    assert skill["available"] is False
    assert "refund-check 1.0.0 or newer is needed" in skill["unavailable_reason"]
    assert "refund-issue" not in desk.get("feed/advertise").content.decode()


def test_etag_and_not_modified(desk: Caller, cast: make.Cast, refunds: Version) -> None:
    etag = desk.get("feed")["ETag"]
    assert etag.startswith('"1-')
    for sent in (etag, f"W/{etag}", f'"other", {etag}', f'"other",W/{etag} , "third"', "*"):
        answer = desk.get("feed", If_None_Match=sent)
        assert (answer.status_code, answer.content) == (304, b""), sent
        assert answer["ETag"] == etag
        assert "Content-Type" not in answer
    for sent in ('"other"', "", '"1-', etag.strip('"')):
        assert desk.get("feed", If_None_Match=sent).status_code == 200, sent
    make.release(make.version("order-lookup", cast=cast), "production", cast=cast)
    resolution.forget_cached()
    answer = desk.get("feed", If_None_Match=etag)
    assert answer.status_code == 200
    assert answer["ETag"] != etag
    assert answer.json()["revision"] == 2


def test_fields(desk: Caller, refunds: Version) -> None:
    (skill,) = desk.get("feed?fields=name,version,nothing").json()["skills"]
    assert skill == {"name": "refund-check", "version": "1.0.0"}
    (skill,) = desk.get("feed?fields=").json()["skills"]
    assert set(FIELDS) <= skill.keys()


def test_a_gray_release_by_key(desk: Caller, cast: make.Cast, refunds: Version) -> None:
    newer = make.version(number="1.1.0", cast=cast, body="# Newer\n")
    make.release(newer, "production", cast=cast, state=State.CANARY, percent=50)
    served = {}
    for n in range(40):
        answer = desk.get(f"feed?key=session-{n}")
        (skill,) = answer.json()["skills"]
        served.setdefault(skill["version"], answer)
        arm = {"1.0.0": "stable", "1.1.0": "candidate"}[skill["version"]]
        assert answer["X-Quartermaster-Assignment"] == f"refund-check={arm}"
        again = desk.get(f"feed?key=session-{n}")
        assert again["ETag"] == answer["ETag"]
        one = desk.get(f"feed/skills/refund-check?key=session-{n}")
        assert (one.json()["version"], one["X-Quartermaster-Assignment"]) == (skill["version"], arm)
    assert served.keys() == {"1.0.0", "1.1.0"}
    assert served["1.0.0"]["ETag"] != served["1.1.0"]["ETag"]
    # Without a key it is the agent itself, which stays where it is.
    assert len({desk.get("feed")["ETag"] for _ in range(5)}) == 1


def test_head_is_get_without_a_body_and_counts_nothing(desk: Caller, refunds: Version) -> None:
    answer = desk.head("feed")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["ETag"] == desk.get("feed")["ETag"]
    usage.flush()
    assert ReadCount.objects.get().count == 1


def test_environments_do_not_see_each_other(cast: make.Cast, refunds: Version) -> None:
    make.release(make.version("order-lookup", cast=cast), "staging", cast=cast)
    agent = make.agent(team=cast.payments)
    there = {
        name: Caller(make.token(agent=agent, environment=name)[1])
        for name in ("development", "staging", "production")
    }
    assert {name: names(one.get("feed")) for name, one in there.items()} == {
        "development": [],
        "staging": ["order-lookup"],
        "production": ["refund-check"],
    }
    assert_problem(there["staging"].get("feed/skills/refund-check"), 404, "skill-not-found")
    assert_problem(there["staging"].get("feed/skills/refund-check?version=1.0.0"), 404, "skill-not-found")
    assert_problem(there["production"].get("feed/skills/order-lookup/bundle.zip"), 404, "skill-not-found")
    assert "order-lookup" not in there["production"].get("feed/skills/order-lookupp").json()["near"]


@pytest.mark.parametrize("limit", ["skills", "sets", "tags", "risk"])
def test_an_agent_is_limited(desk: Caller, cast: make.Cast, limit: str) -> None:
    wanted = make.skill("order-lookup", cast=cast, tags=("orders",))
    other = make.skill("refund-check", cast=cast, tags=("money",), risk_level="medium")
    for skill in (wanted, other):
        make.release(skill.latest, "production", cast=cast)
    assert names(desk.get("feed")) == ["order-lookup", "refund-check"]
    etag = desk.get("feed")["ETag"]
    agent = agent_of(desk)
    if limit == "skills":
        agent.skills.add(wanted)
    elif limit == "sets":
        agent.sets.add(make.skill_set("orders", wanted))
        Environment.objects.update(revision=99)
    elif limit == "tags":
        Agent.objects.update(skill_tags=["orders"])
    else:
        Agent.objects.update(highest_risk=Risk.LOW)
    resolution.forget_cached()
    answer = desk.get("feed", If_None_Match=etag)
    assert names(answer) == ["order-lookup"]
    for path in ("", "/bundle.zip", "/resources/SKILL.md", "?version=1.0.0"):
        told = assert_problem(desk.get(f"feed/skills/refund-check{path}"), 404, "skill-not-found")
        assert "refund-check" not in told["near"]
    assert "refund-check" not in desk.get("feed/advertise").content.decode()


def test_revoked_is_nowhere_and_deprecated_is_said(desk: Caller, cast: make.Cast, refunds: Version) -> None:
    actor = Actor(user=cast.ines)
    lifecycle.deprecate(version=refunds, actor=actor, reason="Use the new one.", now=make.NOW)
    resolution.forget_cached()
    assert desk.get("feed").json()["skills"][0]["stability"] == "deprecated"
    lifecycle.revoke(version=refunds, actor=Actor(user=cast.ada), reason="Malware.", now=make.NOW)
    resolution.forget_cached()
    assert names(desk.get("feed")) == []
    assert_problem(desk.get("feed/skills/refund-check?version=1.0.0"), 404, "skill-not-found")


def test_reads_are_counted_by_what_was_read(desk: Caller, refunds: Version) -> None:
    etag = desk.get("feed")["ETag"]
    desk.get("feed", If_None_Match=etag)
    desk.get("feed/advertise")
    desk.get("feed/advertise?format=json")
    assert_problem(desk.get("feed/advertise?format=yaml"), 400, "format-unknown")
    assert_problem(desk.post("feed/advertise", {"template": "no skills"}), 422, "template-invalid")
    desk.get("feed/skills/refund-check")
    zip_tag = desk.get("feed/skills/refund-check/bundle.zip")["ETag"]
    desk.get("feed/skills/refund-check/bundle.zip", If_None_Match=zip_tag)
    desk.get("feed/skills/refund-check/resources/rules.md")
    desk.get("feed/skills/refund-check/resources/none.md")
    desk.get("feed/tools")
    usage.flush()
    counted = dict(ReadCount.objects.values_list("read", "count"))
    assert counted == {"advertised": 3, "loaded": 2, "resource": 1}
    row = ReadCount.objects.first()
    assert row is not None
    assert (row.version_id, row.agent_id) == (refunds.pk, agent_of(desk).pk)


def test_who_does_not_read_the_feed(cast: make.Cast, refunds: Version) -> None:
    for path in ("feed", "feed/advertise", "feed/tools", "feed/skills/refund-check"):
        assert_problem(Caller().get(path), 401, "not-authenticated")
        assert_problem(caller(cast, "ines").get(path), 403, "scope-missing")
    blind = Caller(make.token(agent=make.agent(team=cast.payments), scopes=("traces:write",))[1])
    assert_problem(blind.get("feed"), 403, "scope-missing")


def test_the_tags_of_a_skill_limit_and_not_those_of_an_old_version(desk: Caller, cast: make.Cast) -> None:
    skill = make.skill(cast=cast, tags=("money",))
    make.release(skill.latest, "production", cast=cast)
    assert list(SkillTag.objects.filter(skill=skill).values_list("tag", flat=True)) == ["money"]
    Agent.objects.update(skill_tags=["money", "other"])
    assert names(desk.get("feed")) == ["refund-check"]
    assert Skill.objects.count() == 1


@pytest.mark.parametrize(
    "path",
    [
        "feed",
        "feed/advertise",
        "feed/tools",
        "feed/skills/refund-check",
        "feed/skills/refund-check?version=0.9.0",
        "feed/skills/refund-check/resources/rules.md",
        "feed/skills/refund-check/bundle.zip",
    ],
)
def test_a_warm_request_asks_the_database_nothing(
    desk: Caller, cast: make.Cast, path: str, django_assert_num_queries: Any
) -> None:
    make.release(make.version(number="0.9.0", cast=cast, body="Old.\n"), "production", cast=cast)
    files = {"references/rules.md": b"# Rules\n"}
    make.release(make.version(number="1.0.0", cast=cast, files=files), "production", cast=cast)
    first = desk.get(path)
    assert first.status_code == 200
    with django_assert_num_queries(0):
        assert desk.get(path).status_code == 200
        assert desk.get(path, If_None_Match=first.get("ETag", "")).status_code in {200, 304}
