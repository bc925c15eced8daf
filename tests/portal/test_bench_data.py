"""`manage.py bench_data`: what it makes is valid, believable, counted, masked, and the same for the same seed."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from io import StringIO
from random import Random
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import Count, Max, Q, Sum
from django.db.models.functions import TruncHour
from django.test import Client
from django.utils import timezone

from catalog import journal
from catalog.models import Agent, Environment, JournalEntry, Release, Skill, State, Version
from catalog.upkeep import find_faults
from governance.models import Call, CallDetail, ContextSpan, Intake, ReadCount, SubjectTag, TaskOutcome
from governance.models.traces import Source, Stage
from governance.traces import ingest
from portal.samples.bench import Bench
from portal.samples.bench_calls import Drawer, hourly
from portal.samples.bench_payloads import TOPICS, draw_attributes, draw_payloads, subjects
from portal.samples.bench_rows import Writer
from portal.samples.bench_runs import COLUMNS, Lane, Trace
from tests import make

SKILLS, CALLS = 40, 3000
UNKNOWN = ~Q(skill_text="") & Q(skill=None) | ~Q(version_text="") & Q(version=None)
NOW = datetime(2026, 11, 30, 9, 20, tzinfo=UTC)


def run(*arguments: str) -> tuple[str, str]:
    """What the command prints."""
    out, err = StringIO(), StringIO()
    call_command("bench_data", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def at_nine(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is NOW: hour and day of the week say which calls are drawn."""
    monkeypatch.setattr(timezone, "now", lambda: NOW)


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("at_nine")
def test_what_was_asked_for_is_there_and_counted() -> None:
    out, err = run("--skills", str(SKILLS), "--calls", str(CALLS))
    assert f"{SKILLS} skills" in out
    assert "3,000 calls" in out
    assert f"{CALLS} of {CALLS} calls" in err
    assert (Skill.objects.count(), Call.objects.count()) == (SKILLS, CALLS)
    assert CallDetail.objects.count() == CALLS
    assert not list(find_faults())
    assert_counters_are_a_recount()
    assert_the_spread_is_believable()
    assert_nothing_is_unmasked()
    # The next call of an agent finds its place.
    taken = ingest(
        calls=[{"call_id": "x", "skill": "x", "outcome": "ok", "started_at": NOW.isoformat()}],
        agent_id=Agent.objects.earliest("name").pk,
        environment_id=Environment.objects.get(name="production").pk,
        now=NOW,
    )
    assert taken.accepted == 1
    with pytest.raises(CommandError, match="holds something already; nothing is changed"):
        run("--skills", "1", "--calls", "1")
    with pytest.raises(CommandError, match="give another --seed"):
        run("--skills", "1", "--calls", "1", "--force")
    run("--skills", "3", "--calls", "10", "--seed", "2", "--force")
    assert Skill.objects.count() == SKILLS + 3
    assert JournalEntry.objects.filter(verb="bench.load").count() == 3
    assert journal.check_chain().intact


def assert_counters_are_a_recount() -> None:
    """Counters of the hours are what the rows come to."""
    place = ("agent", "environment", "source", "at")
    by_hour = Call.objects.annotate(at=TruncHour("received_at", tzinfo=UTC))
    counted = by_hour.values(*place).annotate(n=Count("pk"), unknown=Count("pk", filter=UNKNOWN))
    rows = Intake.objects.values("agent", "environment", "source", "hour", "accepted", "unknown")
    assert sorted(
        (
            str(row["agent"]),
            str(row["environment"]),
            row["source"],
            row["hour"],
            row["accepted"],
            row["unknown"],
        )
        for row in rows
    ) == sorted(
        (str(row["agent"]), str(row["environment"]), row["source"], row["at"], row["n"], row["unknown"])
        for row in counted
    )
    sums = Intake.objects.aggregate(Sum("spans"), Sum("masked"), Max("last_at"))
    assert sums["spans__sum"] == ContextSpan.objects.count()
    assert sums["masked__sum"] == SubjectTag.objects.count()
    assert sums["last_at__max"] == Call.objects.aggregate(last=Max("received_at"))["last"]
    reads = Counter[tuple[Any, ...]]()
    read = by_hour.filter(kind__in=("loaded", "resource")).exclude(version=None)
    for one in read.values_list("at", "environment", "agent", "version", "kind"):
        reads[one] += 1
    kept = ReadCount.objects.exclude(read="advertised")
    assert {
        (*row[:-1],): row[-1]
        for row in kept.values_list("hour", "environment", "agent", "version", "read", "count")
    } == reads


def assert_the_spread_is_believable() -> None:
    """Few skills have most of the calls, nights are quiet, and every kind of thing comes up."""
    calls = Call.objects.all()
    first = calls.earliest("received_at").received_at
    assert timedelta(days=80) < NOW - first < timedelta(days=91)
    by_skill = sorted(
        Counter(calls.exclude(skill=None).values_list("skill", flat=True)).values(), reverse=True
    )
    assert sum(by_skill[:8]) > 0.5 * sum(by_skill)
    by_hour = Counter(at.hour for at in calls.values_list("received_at", flat=True))
    assert sum(by_hour[hour] for hour in range(9, 15)) > 5 * sum(by_hour[hour] for hour in range(6))
    failed = calls.filter(outcome="error")
    assert 0.01 < failed.count() / CALLS < 0.15
    assert set(failed.values_list("failed_stage", flat=True)) <= set(Stage.values)
    assert {"execution", "parameters", "output"} <= set(failed.values_list("failed_stage", flat=True))
    assert set(calls.values_list("kind", flat=True)) == {"called", "loaded", "resource", "script"}
    assert set(calls.values_list("source", flat=True)) == set(Source.values)
    assert calls.filter(attempt__gt=1).exists()
    assert calls.exclude(fallback_for="").exists()
    unknown = calls.filter(UNKNOWN).count()
    assert 0 < unknown < 0.03 * CALLS
    sizes = calls.values("trace_id").annotate(n=Count("pk")).values_list("n", flat=True)
    assert 1 <= min(sizes) < max(sizes) <= 12
    off = {call.agent_id for call in calls if call.started_at > call.received_at + timedelta(hours=2)}
    assert len(off) == 1
    assert (
        TaskOutcome.objects.filter(completed=True).count()
        > TaskOutcome.objects.filter(completed=False).count()
        > 0
    )
    assert SubjectTag.objects.values("hash").annotate(n=Count("pk")).filter(n__gt=50).exists()
    silent = Agent.objects.exclude(pk__in=Intake.objects.values("agent"))
    assert silent.count() == 1
    assert Release.objects.filter(state=State.LIVE).values("environment").distinct().count() == 3


def assert_nothing_is_unmasked() -> None:
    """No address and no number of anybody is stored, though masks of them are."""
    stored = json.dumps(list(CallDetail.objects.values()), ensure_ascii=False)
    stored += json.dumps(list(ContextSpan.objects.values_list("name", "attributes")), ensure_ascii=False)
    assert "[EMAIL·" in stored
    for mail, phone in subjects():
        assert mail not in stored
        assert phone not in stored


@pytest.mark.django_db
def test_nothing_of_either_is_nothing() -> None:
    with pytest.raises(CommandError, match="give --skills a number above 0"):
        run("--skills", "0", "--calls", "1")
    run("--skills", "0", "--calls", "0")
    assert not Call.objects.exists()


def test_the_hours_hold_all_the_calls() -> None:
    spread = list(hourly(1000, now=NOW))
    assert sum(count for _, count in spread) == 1000
    assert (spread[0][0], spread[-1][0]) == (
        NOW.replace(minute=0) - timedelta(days=90),
        NOW.replace(hour=8, minute=0),
    )
    assert min(count for _, count in spread) >= 0


def draw(seed: int) -> list[Trace]:
    """Some hours of traces over skills that were made with a seed."""
    bench = Bench(seed=seed, now=NOW, tell=lambda _: None)
    bench.fill(skills=6, calls=0)
    production = Environment.objects.get(name="production")
    lanes = [
        Lane(agent.pk, production.pk, source, 1.0, "sonnet-4")
        for agent, source in zip(Agent.objects.order_by("name"), (Source.REST, Source.OTLP), strict=False)
    ]
    random = Random(seed)
    drawer = Drawer(
        random,
        skills=bench._profiles(),
        lanes=lanes,
        payloads={topic: draw_payloads(random, topic) for topic in TOPICS},
        attributes={"sonnet-4": draw_attributes(random, "sonnet-4")},
        canary_since=NOW,
        now=NOW,
    )
    return [trace for at, _ in list(hourly(0, now=NOW))[-3:] for trace in drawer.draw(at, 60)]


@pytest.mark.django_db
def test_the_same_seed_draws_the_same() -> None:
    told = []
    for _ in range(2):
        with transaction.atomic():
            traces = draw(7)
            told.append([_plain(call.row) for trace in traces for call in trace.calls])
            transaction.set_rollback(True)
    assert told[0] == told[1]
    assert len(told[0]) == 180


def _plain(row: tuple[Any, ...]) -> list[Any]:
    """The row without ids that the catalog gives anew each time."""
    given = {"agent_id", "environment_id", "skill_id", "version_id", "release_id"}
    return [value for name, value in zip(COLUMNS, row, strict=True) if name not in given]


@pytest.mark.django_db
def test_rows_are_those_that_ingest_would_have_written() -> None:
    traces = draw(3)
    Writer(Random(3)).write(traces, until=None)
    written = dump()
    for table in (SubjectTag, CallDetail, Call, ContextSpan, TaskOutcome):
        table._default_manager.all().delete()
    for trace in traces:
        done = ingest(
            calls=[_reported(call.row, call.payload.raw) for call in trace.calls],
            tasks=[
                {
                    "task_id": trace.task[0],
                    "trace_id": trace.calls[0].row[COLUMNS.index("trace_id")],
                    "completed": trace.task[1],
                    "calls": len(trace.calls),
                    "replans": trace.task[2],
                }
            ]
            if trace.task
            else [],
            agent_id=trace.lane.agent_id,
            environment_id=trace.lane.environment_id,
            source=trace.lane.source,
            now=trace.received_at,
        )
        assert not done.rejected, done.rejected
    assert dump() == written


def _reported(row: tuple[Any, ...], raw: Any) -> dict[str, Any]:
    """The row as its agent would report it."""
    told = dict(zip(COLUMNS, row, strict=True))
    kept = {
        name: value
        for name, value in told.items()
        if name in {"call_id", "trace_id", "parent_id", "session_id", "kind", "attempt", "fallback_for", "replanned",
                    "model", "outcome", "failed_stage", "error_code", "retryable", "duration_ms", "input_tokens",
                    "output_tokens", "currency", "cache_hit"}
    }  # fmt: skip
    cost = told["cost"]
    return {
        **kept,
        **raw,
        "skill": told["skill_text"],
        "version": told["version_text"],
        "started_at": told["started_at"].isoformat(),
        "cost": None if cost is None else str(cost),
    }


def dump() -> list[list[Any]]:
    """Calls with their payloads and tags, and tasks, without keys that a table counts."""
    calls = [one for one in Call._meta.concrete_fields if one.name != "id"]
    names = [one.attname for one in calls]
    details = [
        f"detail__{one.attname}" for one in CallDetail._meta.concrete_fields if one.attname != "call_id"
    ]
    tags = SubjectTag.objects.exclude(call=None).order_by("call__call_id", "hash")
    return [
        list(Call.objects.order_by("call_id").values_list(*names, *details)),
        list(tags.values_list("call__call_id", "hash", "kind", "key_id")),
        list(
            TaskOutcome.objects.order_by("task_id").values_list(
                "task_id", "trace_id", "completed", "calls", "replans"
            )
        ),
    ]


@pytest.mark.django_db
def test_pages_open_on_it(client: Client) -> None:
    run("--skills", "8", "--calls", "400")
    lena = make.user("lena")
    make.grant(lena, "analyst")
    client.force_login(lena)
    version = Version.objects.exclude(releases=None).first()
    assert version is not None
    release = Release.objects.filter(state=State.LIVE).first()
    assert release is not None
    otlp = ContextSpan.objects.values_list("trace_id", flat=True)[0]
    for path in (
        "/",
        "/traces/",
        f"/traces/{otlp}/",
        "/telemetry/",
        f"/skills/{version.skill.folder}/",
        f"/skills/{version.skill.folder}/releases/",
        f"/skills/{version.skill.folder}/versions/{version.version}/",
        f"/releases/{release.pk}/",
        "/agents/",
    ):
        assert client.get(path).status_code == 200, path
