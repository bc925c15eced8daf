"""Calls by REST: each taken once, read by those who may, every filter."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from catalog.models import Skill, State, Version
from governance.models import Call, CallDetail, TaskOutcome
from governance.otlp import Span
from governance.traces import ingest
from portal.api import traces as api_traces
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db


def call(call_id: str = "c-1", **fields: Any) -> dict[str, Any]:
    """A call that went well."""
    return {
        "call_id": call_id,
        "trace_id": "t-1",
        "skill": "refund-check",
        "version": "1.0.0",
        "outcome": "ok",
        "started_at": "2026-11-30T12:00:00Z",
        "duration_ms": 12,
        **fields,
    }


def report(desk: Caller, *calls: Any, **more: Any) -> dict[str, Any]:
    """Report calls; answers what became of them."""
    answer = desk.post("traces", {"calls": list(calls), **more})
    assert answer.status_code == 202, answer.content[:300]
    told: dict[str, Any] = answer.json()
    return told


@pytest.fixture
def lena(cast: make.Cast) -> Caller:
    """Lena, the analyst."""
    return caller(cast, "lena")


def test_everything_that_a_call_holds(desk: Caller, lena: Caller, refunds: Version) -> None:
    sent = call(
        parent_id="p-1",
        session_id="s-1",
        kind="script",
        attempt=2,
        fallback_for="other",
        replanned=True,
        model="m-1",
        user_intent="Give the money back",
        candidates=["a", "b"],
        selection_reason="The better one",
        parameters={"order": "A-1"},
        output=[1, None, "x"],
        outcome="error",
        failed_stage="execution",
        error_code="upstream_timeout",
        retryable=True,
        duration_ms=2010.4,
        input_tokens=10,
        output_tokens=20,
        cost="0.0042",
        currency="eur",
        cache_hit=False,
        spans=[{"span_id": "x", "name": "http", "start_ms": 1, "duration_ms": 2, "attributes": {"a": 1}}],
    )
    assert report(desk, sent) == {"accepted": 1, "duplicates": 0, "rejected": []}
    body = lena.get("traces/t-1").json()
    (read,) = body["calls"]
    same = {
        *("call_id", "trace_id", "parent_id", "session_id", "skill", "version", "kind", "attempt"),
        *("fallback_for", "replanned", "model", "user_intent", "candidates", "selection_reason"),
        *("parameters", "output", "outcome", "failed_stage", "error_code", "retryable", "started_at"),
        *("input_tokens", "output_tokens", "cost", "cache_hit"),
    }
    assert {name: read[name] for name in same} == {name: sent[name] for name in same}
    assert (read["duration_ms"], read["currency"]) == (2010, "EUR")
    assert (read["environment"], read["agent"], read["known"], read["arm"]) == (
        *("production", "front-desk", True, "stable"),
    )
    assert read["spans"][0]["attributes"] == {"a": 1}
    assert lena.get("traces").json()["items"][0].keys() < read.keys()


def test_each_call_is_taken_once(desk: Caller) -> None:
    first = report(desk, call("c-1"), call("c-2"), call("c-1", outcome="error"))
    assert first == {"accepted": 2, "duplicates": 1, "rejected": []}
    again = report(desk, call("c-2"), call("c-3"))
    assert again == {"accepted": 1, "duplicates": 1, "rejected": []}
    assert Call.objects.get(call_id="c-1").outcome == "ok"
    assert Call.objects.count() == 3


def test_another_agent_may_use_the_same_id(desk: Caller, cast: make.Cast) -> None:
    other = make.agent("back-office", team=cast.support)
    there = Caller(make.token(agent=other, scopes=("traces:write",))[1])
    assert report(desk, call())["accepted"] == report(there, call())["accepted"] == 1
    staging = make.token(agent=other, environment="staging", scopes=("traces:write",))[1]
    assert report(Caller(staging), call())["accepted"] == 1


def test_an_unknown_skill_is_kept_as_it_was_named(desk: Caller, lena: Caller, refunds: Version) -> None:
    report(desk, call("c-1", skill="no.such_skill", version="9.9"), call("c-2", version="7.0.0"))
    report(desk, call("c-3", skill=None, outcome="error", failed_stage="selection", candidates=["a"]))
    items = {item["call_id"]: item for item in lena.get("traces").json()["items"]}
    assert (items["c-1"]["skill"], items["c-1"]["version"], items["c-1"]["known"]) == (
        *("no.such_skill", "9.9", False),
    )
    assert items["c-2"]["known"] is False
    assert Call.objects.get(call_id="c-2").skill == refunds.skill
    assert items["c-3"]["skill"] is None


def test_the_arm_of_a_gray_release(desk: Caller, cast: make.Cast, refunds: Version) -> None:
    newer = make.version(number="1.1.0", cast=cast, body="# Newer\n")
    make.release(newer, "production", cast=cast, state=State.CANARY)
    report(desk, call("c-1"), call("c-2", version="1.1.0"), call("c-3", version="1.1.1"))
    arms = dict(Call.objects.values_list("call_id", "arm"))
    assert arms == {"c-1": "stable", "c-2": "candidate", "c-3": ""}


def test_tasks(desk: Caller) -> None:
    tasks = [
        {"task_id": "task-1", "trace_id": "t-1", "completed": True, "calls": 3, "replans": 1},
        *({"task_id": ""}, {"task_id": "task-2"}, 5, {"task_id": "task-3", "completed": "yes"}),
        {"task_id": {"a": 1}, "completed": True},
        {"task_id": "task-4", "completed": False, "calls": -1},
    ]
    told = report(desk, tasks=tasks)
    assert told["accepted"] == 0
    assert [(one["index"], one["code"]) for one in told["rejected_tasks"]] == [
        *((1, "task-id-missing"), (2, "completed-missing"), (3, "task-invalid")),
        *((4, "field-invalid"), (5, "field-invalid"), (6, "field-invalid")),
    ]
    row = TaskOutcome.objects.get()
    assert (row.task_id, row.completed, row.calls, row.replans) == ("task-1", True, 3, 1)
    assert report(desk, tasks=tasks[:1])["rejected"] == []
    assert TaskOutcome.objects.count() == 1


def test_filters(desk: Caller, lena: Caller, refunds: Version) -> None:
    ever = "since=2001-01-01T00:00:00Z"
    report(
        desk,
        call("c-1", started_at="2026-11-30T10:00:00Z", user_intent="Refund 100% of it"),
        call("c-2", started_at="2026-11-30T11:00:00+01:00", skill="other", version="2.0.0"),
        call("c-3", outcome="error", failed_stage="output", user_intent="Write to ina@example.com"),
    )

    def found(query: str) -> list[str]:
        return sorted(item["call_id"] for item in lena.get(f"traces?{query}").json()["items"])

    for query, ids in {
        "": ["c-1", "c-2", "c-3"],
        "skill=refund-check": ["c-1", "c-3"],
        "skill=refund.check": ["c-1", "c-3"],
        "version=2.0.0": ["c-2"],
        "environment=production": ["c-1", "c-2", "c-3"],
        "environment=staging": [],
        "agent=front-desk": ["c-1", "c-2", "c-3"],
        "outcome=error": ["c-3"],
        "stage=output": ["c-3"],
        "since=2026-11-30T11:00:00Z": ["c-3"],
        "until=2026-11-30T10:30:00Z": ["c-1", "c-2"],
        f"q=REFUND&{ever}": ["c-1", "c-3"],
        f"q=100%25&{ever}": ["c-1"],
        f"q=ina@example.com&{ever}": ["c-3"],
        f"q=%25&{ever}": ["c-1"],
        f"q=t-1&{ever}": ["c-1", "c-2", "c-3"],
    }.items():
        assert found(query) == ids, query
    for bad in ("since=x", "until=0001-01-01T00:00:00%2B14:00", "since=9999-12-31T23:59:59-14:00"):
        assert_problem(lena.get(f"traces?{bad}"), 400, "field-invalid")


def test_who_reads_traces(cast: make.Cast, desk: Caller, refunds: Version) -> None:
    theirs = make.version("order-lookup", team=cast.support, publisher=cast.sven)
    assert theirs
    report(desk, call("c-1"), call("c-2", trace_id="t-2", skill="order-lookup"))
    report(desk, call("c-3", trace_id="t-3", skill="nobodys"))

    def ids(name: str) -> list[str]:
        return sorted(item["call_id"] for item in caller(cast, name).get("traces").json()["items"])

    assert ids("lena") == ["c-1", "c-2", "c-3"]
    assert ids("ines") == ["c-1"]
    assert ids("sven") == ["c-2"]
    for name in ("ravi", "mara", "nora", "ada"):
        assert ids(name) == []
    assert_problem(caller(cast, "ines").get("traces/t-2"), 404, "trace-not-found")
    hidden, none = (caller(cast, "ines").get(f"traces/{key}") for key in ("t-2", "t-9"))
    assert hidden.content == none.content.replace(b"t-9", b"t-2")
    assert_problem(caller(cast, "lena", ("read",)).get("traces"), 403, "scope-missing")
    assert_problem(desk.get("traces"), 403, "scope-missing")
    assert_problem(caller(cast, "lena").post("traces", {"calls": []}), 403, "scope-missing")
    Skill.objects.update(deleted_at=make.NOW)
    assert ids("lena") == ["c-1", "c-2", "c-3"]


def test_a_trace_id_may_hold_a_slash(desk: Caller, lena: Caller) -> None:
    report(desk, call(trace_id="a/b c"))
    assert lena.get("traces/a/b%20c").json()["calls"][0]["call_id"] == "c-1"


def test_bare_digits_are_an_id(desk: Caller, lena: Caller) -> None:
    report(desk, call(trace_id="13812345678"))
    assert lena.get("traces/13812345678").json()["trace_id"] == "13812345678"


def test_a_personal_value_in_an_id_finds_its_mask(desk: Caller, lena: Caller) -> None:
    report(desk, call(trace_id="mara@example.org", skill="ina@example.org", version="+49 30 901820"))
    assert lena.get("traces/mara@example.org").json()["calls"][0]["call_id"] == "c-1"
    for query in ("skill=ina@example.org", "version=%2B49 30 901820"):
        assert len(lena.get(f"traces?{query}").json()["items"]) == 1, query


def test_a_search_without_a_start_goes_back_thirty_days(desk: Caller, lena: Caller) -> None:
    now = timezone.now()
    for name, days in (("c-new", 29), ("c-old", 31)):
        report(desk, call(name, started_at=(now - timedelta(days=days)).isoformat(), error_code="late"))

    def found(query: str) -> list[str]:
        return [item["call_id"] for item in lena.get(f"traces?{query}").json()["items"]]

    assert found("q=late") == ["c-new"]
    assert found("q=late&since=2001-01-01T00:00:00Z") == ["c-new", "c-old"]
    until = (now - timedelta(days=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert found(f"q=late&until={until}") == ["c-old"]


def test_a_call_without_payloads_is_answered(desk: Caller, lena: Caller) -> None:
    report(desk, call())
    CallDetail.objects.all().delete()
    (read,) = lena.get("traces/t-1").json()["calls"]
    assert (read["user_intent"], read["parameters"], read["spans"]) == ("", None, [])


def test_what_is_around_the_calls_comes_along(desk: Caller, lena: Caller, refunds: Version) -> None:
    report(desk, call(parent_id="turn"))
    told = Call.objects.get()
    start = timezone.now()
    span = Span("t-1", "turn", "", "chat", True, start, 20, {"prompt": "It is mara@example.org"})
    elsewhere = Span("t-1", "turn", "", "chat", False, start, 20, {})
    for spans, where in ((span, told.environment), (elsewhere, make.environment("staging"))):
        ingest(calls=[], spans=[spans], agent_id=told.agent_id, environment_id=where.pk, now=start)
    answer = lena.get("traces/t-1").json()
    assert [one["source"] for one in answer["calls"]] == ["rest"]
    [found] = answer["context"]
    assert (found["span_id"], found["parent_id"], found["outcome"]) == ("turn", None, "error")
    assert (found["agent"], found["environment"]) == ("front-desk", "production")
    assert found["attributes"]["prompt"].startswith("It is [EMAIL·")


def test_calls_of_one_moment_stay_in_the_order_of_their_agent(
    desk: Caller, lena: Caller, refunds: Version
) -> None:
    report(desk, call("c-9"), call("c-2"), call("c-5"), call("c-2", outcome="error"))
    told = lena.get("traces/t-1").json()["calls"]
    assert [(one["call_id"], one["outcome"]) for one in told] == [("c-9", "ok"), ("c-2", "ok"), ("c-5", "ok")]


def test_a_space_in_the_header_may_be_escaped(desk: Caller, refunds: Version) -> None:
    answer = desk.post("traces", {"calls": [call()]}, Authorization=f"Bearer%20{desk.secret}")
    assert answer.status_code == 202


def test_a_currency_that_grows_in_capitals_takes_no_call_along(desk: Caller, refunds: Version) -> None:
    told = report(desk, call("c-1", cost="1", currency="ßßß"), call("c-2", cost="1", currency="€"))
    assert told == {"accepted": 2, "duplicates": 0, "rejected": []}
    first = Call.objects.get(call_id="c-1")
    assert first.currency == "SSS"
    odd = first.agent_id, first.environment_id
    calls = [call("c-3", cost="1", currency="\0a\ud800")]
    ingest(calls=calls, agent_id=odd[0], environment_id=odd[1], now=timezone.now())
    assert Call.objects.get(call_id="c-3").currency == "\ufffdA\ufffd"


def test_ids_that_read_the_same_when_masked_stay_apart(desk: Caller, lena: Caller, refunds: Version) -> None:
    """Masks are longer than these addresses, so that what tells the ids apart lies behind the end of the column."""
    long = "a@b.co " * 26
    ids = [f"{long}-one", f"{long}-two"]
    told = report(desk, *(call(one, trace_id=one, parent_id=ids[0]) for one in ids))
    assert (told["accepted"], told["duplicates"]) == (2, 0)
    assert report(desk, call(ids[1], trace_id=ids[1]))["duplicates"] == 1
    for one in ids:
        (found,) = lena.get(f"traces/{one}").json()["calls"]
        assert "a@b.co" not in found["call_id"]
        assert re.fullmatch(r"(\[EMAIL·[0-9a-f]{4}\] )+~[a-z]{12}", found["call_id"])
        assert (len(found["call_id"]) <= 200, found["trace_id"]) == (True, found["call_id"])
        assert found["parent_id"] == Call.objects.get(call_id=found["parent_id"]).call_id
        assert lena.get(f"traces/{found['trace_id']}").json()["trace_id"] == found["trace_id"]


def test_a_batch_of_empty_spans_is_refused(
    desk: Caller, refunds: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_traces, "MOST_SPANS", 6)
    calls = [call(f"c-{n}", spans=[{}] * 3) for n in range(3)]
    assert_problem(desk.post("traces", {"calls": calls}), 413, "batch-too-large")
    assert not Call.objects.exists()
    assert report(desk, *calls[:2], None, {"spans": 3})["accepted"] == 2


def test_a_number_that_nothing_holds_takes_no_other_call_along(desk: Caller, refunds: Version) -> None:
    body = json.dumps({"calls": [call("c-1"), call("c-2", parameters={"n": 7, "m": 2**70})]})
    answer = desk.post("traces", body.replace("7,", "9" * 5000 + ",").encode())
    assert answer.json()["accepted"] == 2
    assert CallDetail.objects.get(call__call_id="c-2").parameters == {"n": None, "m": 2**70}
