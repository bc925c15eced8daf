"""Retention: what came in longer ago than an environment's policy keeps it goes, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count

import pytest
from django.db import connection
from django.db.models import Exists, OuterRef
from pytest_django import DjangoAssertNumQueries

from catalog.models import Agent, Environment, JobRun
from governance import removal, retention, tasks
from governance.models import Call, ContextSpan, Intake, SubjectTag, TaskOutcome
from governance.retention import CALL_WITHIN, Expired, count_past, expire, expire_once
from tests import make
from tests.governance.traced import ANNA, call, is_sound, kept, report, span, task

pytestmark = pytest.mark.django_db
NOW = make.NOW
LATER = NOW + timedelta(minutes=15)


@pytest.fixture
def desk() -> Agent:
    return make.agent(team=make.cast().payments)


@pytest.fixture
def production() -> Environment:
    return make.environment("production")


def ago(**units: float) -> datetime:
    return NOW - timedelta(**units)


def at(moment: datetime = NOW) -> Callable[[], datetime]:
    return lambda: moment


def run(environment: Environment, **more: datetime) -> Expired:
    return expire(environment=environment, clock=at(), until=LATER, **more)


def test_what_is_older_than_the_policy_goes_with_all_that_belongs_to_it(
    desk: Agent, production: Environment
) -> None:
    old, young = ago(days=90, seconds=1), ago(days=89, hours=23)
    for name, moment in (("old", old), ("young", young)):
        report(
            desk,
            call(name, trace=name, intent=f"Write to {ANNA}"),
            spans=[span(name, trace=name, user=ANNA)],
            tasks=[task(name, trace=name)],
            now=moment,
        )
    assert run(production) == Expired(1, 1, 1, 0, NOW - CALL_WITHIN, finished=True)
    assert kept() == {"calls": ["young"], "spans": ["young"], "tasks": ["young"]}
    assert is_sound()
    assert SubjectTag.objects.count() == 2
    assert run(production) == Expired(0, 0, 0, 0, NOW - CALL_WITHIN, finished=True)


def test_the_server_s_clock_counts_not_the_agent_s(desk: Agent, production: Environment) -> None:
    report(desk, call("slow", trace="t", started_at="2020-01-01T00:00:00Z"), now=ago(days=1))
    report(desk, call("fast", trace="u", started_at=ago(days=89.5).isoformat()), now=ago(days=90.1))
    run(production)
    assert kept()["calls"] == ["slow"]


def test_each_environment_has_its_own_time(desk: Agent) -> None:
    for name in ("development", "staging", "production"):
        report(desk, call(name, trace=name), now=ago(days=45), environment=name)
    for environment in Environment.objects.all():
        run(environment)
    assert kept()["calls"] == ["production", "staging"]
    Environment.objects.filter(name="staging").update(retention_days=10)
    assert run(make.environment("staging")).calls == 1


def test_counters_stay(desk: Agent, production: Environment) -> None:
    report(desk, call("old", trace="t"), now=ago(days=100))
    run(production)
    assert [one.accepted for one in Intake.objects.all()] == [1]


def test_spans_without_a_call_wait_for_a_day(desk: Agent, production: Environment) -> None:
    other = make.agent("second-desk", team=desk.team)
    report(desk, spans=[span("alone", trace="a"), span("called", trace="b")], now=ago(hours=25))
    report(desk, spans=[span("waiting", trace="c")], now=ago(hours=23))
    report(desk, call("late", trace="b"), now=ago(hours=1))
    # Under the same trace id another agent, and another environment, have traces of their own.
    report(other, call("other", trace="a"), now=ago(hours=25))
    report(desk, call("elsewhere", trace="a"), now=ago(hours=25), environment="staging")
    assert run(production).orphans == 1
    assert kept()["spans"] == ["called", "waiting"]


def test_spans_are_asked_once(desk: Agent, production: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    report(desk, *(call(f"c{n}", trace=f"t{n}") for n in range(5)), now=ago(hours=30))
    report(desk, spans=[span(f"s{n}", trace=f"t{n}") for n in range(5)], now=ago(hours=30))
    report(desk, spans=[span("alone", trace="x")], now=ago(hours=29))
    first = run(production)
    assert (first.orphans, first.looked_until) == (1, NOW - CALL_WITHIN)
    # Its call is gone, and it is not asked again: it goes when its own time is up.
    Call.objects.filter(call_id="c0").update(trace_id="moved")
    assert run(production, looked_until=NOW - CALL_WITHIN).orphans == 0
    assert run(production).orphans == 1


@pytest.mark.parametrize("batch", [1, 2, 3, 500])
def test_batches_come_to_the_same(
    desk: Agent, production: Environment, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(retention, "BATCH", batch)
    report(desk, *(call(f"old{n}", trace=f"t{n}") for n in range(4)), now=ago(days=95))
    report(desk, *(call(f"older{n}", trace=f"u{n}") for n in range(3)), now=ago(days=96))
    report(desk, call("young", trace="y"), now=ago(days=1))
    assert run(production).calls == 7
    assert kept()["calls"] == ["young"]


def test_a_run_ends_in_time_and_the_next_goes_on(
    desk: Agent, production: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    report(desk, *(call(f"old{n}", trace=f"t{n}") for n in range(5)), now=ago(days=95))
    minutes = count()

    def clock() -> datetime:
        return NOW + timedelta(minutes=next(minutes))

    cut = expire(environment=production, clock=clock, until=NOW + timedelta(minutes=2.5))
    assert (cut.calls, cut.finished, cut.looked_until) == (4, False, None)
    rest = run(production)
    assert (rest.calls, rest.finished) == (1, True)


def test_once_an_hour_for_each_environment(desk: Agent, production: Environment) -> None:
    report(desk, call("old", trace="t"), now=ago(days=95))
    done = expire_once(environment=production, clock=at())
    assert done is not None
    assert done.calls == 1
    assert expire_once(environment=production, clock=at(NOW + timedelta(minutes=20))) is None
    assert expire_once(environment=make.environment("staging"), clock=at()) is not None
    again = expire_once(environment=production, clock=at(NOW + timedelta(hours=1)))
    assert again is not None
    assert JobRun.objects.filter(name="expire production").count() == 2
    assert JobRun.objects.get(name="expire production", period="2026-11-30T09").result == {
        "calls": 1,
        "spans": 0,
        "tasks": 0,
        "orphans": 0,
        "looked_until": (NOW - CALL_WITHIN).isoformat(),
        "finished": True,
    }


def test_a_run_knows_how_far_the_last_one_came(
    desk: Agent, production: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[datetime | None] = []
    real = retention._take_orphans

    def note(*args: object) -> tuple[int, datetime | None]:
        told.append(args[2])  # type: ignore[arg-type]  # it is `since`
        return real(*args)  # type: ignore[arg-type]  # as above

    monkeypatch.setattr(retention, "_take_orphans", note)
    for hours in range(3):
        expire_once(environment=production, clock=at(NOW + timedelta(hours=hours)))
    assert told == [None, NOW - CALL_WITHIN, NOW - CALL_WITHIN + timedelta(hours=1)]


def test_the_task_runs_in_every_environment() -> None:
    for _ in range(2):
        tasks.expire(left="over")
    assert sorted(JobRun.objects.values_list("name", flat=True)) == [
        "expire development",
        "expire production",
        "expire staging",
    ]


def test_a_batch_takes_few_statements_and_loads_no_row(
    desk: Agent, production: Environment, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    report(desk, *(call(f"old{n}", trace=f"t{n}") for n in range(300)), now=ago(days=95))
    with django_assert_max_num_queries(24) as asked:
        assert run(production).calls == 300
    assert not [
        one for one in asked.captured_queries if "user_intent" in one["sql"] or "skill_text" in one["sql"]
    ]
    assert removal.BATCH == 500


def test_what_a_shorter_time_would_take_is_counted(
    desk: Agent, production: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(desk, *(call(f"c{n}", trace=f"t{n}") for n in range(4)), now=ago(days=20))
    report(desk, call("young", trace="y"), now=ago(days=2))
    assert count_past(environment=production, retention_days=10, now=NOW) == 4
    assert count_past(environment=production, retention_days=30, now=NOW) == 0
    monkeypatch.setattr(retention, "MOST_COUNTED", 3)
    assert count_past(environment=production, retention_days=10, now=NOW) == 3


@pytest.fixture
def traces(desk: Agent) -> list[str]:
    """Traces that PostgreSQL has counted: of empty tables it says of no index that it is better than another."""
    names = [f"t{n}" for n in range(300)]
    for some, moment in ((names[:1], ago(days=2)), (names[1:], NOW)):
        report(
            desk,
            *(call(name, trace=name) for name in some),
            spans=[span(name, trace=name) for name in some],
            tasks=[task(name, trace=name) for name in some],
            now=moment,
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return names


def plan_of(rows: object) -> str:
    """How the database would find the rows, without the cost of a small table speaking for reading all of it."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
    return str(rows.explain())  # type: ignore[attr-defined]  # it is a query


@pytest.mark.parametrize(
    ("model", "index"),
    [
        (Call, "call_by_receipt"),
        (ContextSpan, "context_span_by_receipt"),
        (TaskOutcome, "task_outcome_by_receipt"),
    ],
)
def test_the_index_finds_what_is_old(production: Environment, model: type[Call], index: str) -> None:
    old = model.objects.filter(environment=production, received_at__lt=NOW, received_at__gte=ago(days=1))
    plan = plan_of(old.order_by("received_at").values_list("pk", "received_at")[:500])
    assert index in plan
    assert "SORT" not in plan.upper().replace("TEMP B-TREE", "SORT")


@pytest.mark.usefixtures("traces")
def test_the_index_finds_the_calls_of_a_span(production: Environment) -> None:
    called = Call.objects.filter(
        trace_id=OuterRef("trace_id"), agent=OuterRef("agent_id"), environment=OuterRef("environment_id")
    )
    spans = ContextSpan.objects.filter(environment=production, received_at__lt=ago(days=1))
    assert "call_by_trace" in plan_of(spans.annotate(has_call=Exists(called)).values_list("pk", "has_call"))


@pytest.mark.parametrize(
    ("model", "index"),
    [
        (Call, "call_by_trace"),
        (ContextSpan, "context_span_once"),
        (TaskOutcome, "task_outcome_by_trace"),
    ],
)
def test_the_rows_of_traces_are_found_by_the_trace(
    desk: Agent, production: Environment, traces: list[str], model: type[Call], index: str
) -> None:
    rows = model.objects.filter(trace_id__in=traces[3:5], agent=desk, environment=production)
    plan = plan_of(rows.values_list("pk")[:501])
    assert index in plan or (connection.vendor == "sqlite" and "(trace_id=?" in plan)


@pytest.mark.parametrize(("column", "index"), [("call_id", "subject_tag_once"), ("span_id", "span_tag_once")])
def test_an_index_finds_the_tags_of_what_goes(column: str, index: str) -> None:
    assert index in plan_of(SubjectTag.objects.filter(**{f"{column}__in": [1, 2, 3]}).values_list("pk"))
