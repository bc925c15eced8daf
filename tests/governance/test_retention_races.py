"""Retention and erasure beside ingest and each other: nothing is half gone, counted twice or left, kill -9 at any step."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta

import pytest
from django.db.models import Sum

from catalog.models import Agent
from governance import erasure_batches, retention
from governance.erasures import SETTLE, erase_due, request_erasure
from governance.models import Call, Erasure, SubjectTag
from governance.removal import remove_calls
from governance.retention import expire
from governance.subjects import read_subject
from tests import make
from tests.cast import ROOT, actor, shared_database, together, verbs
from tests.governance.traced import ANNA, BORIS, call, is_sound, kept, report, span, task

__all__ = ["shared_database"]

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
NOW = make.NOW
DUE = NOW + SETTLE
SOON = DUE + timedelta(minutes=10)
# Kills itself at the named place of the third batch, as kill -9 would.
WORKER = """
import os, signal, sys
import django; django.setup()
from datetime import UTC, datetime
from governance import erasure_batches, erasures, retention
from catalog.models import Environment

place, turns = sys.argv[1], []

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

def at_third(real, before):
    def work(ids):
        turns.append(1)
        if len(turns) == 3 and before:
            die()
        gone = real(ids)
        if len(turns) == 3:
            die()
        return gone
    return work

def at_pause():
    turns.append(1)
    if len(turns) == 3:
        die()

erasure_batches.BATCH = retention.BATCH = 3
if place in {"before", "inside"}:
    erasure_batches.remove_calls = at_third(erasure_batches.remove_calls, place == "before")
    retention.remove_calls = at_third(retention.remove_calls, place == "before")
elif place == "between":
    erasures.breathe = retention.breathe = at_pause
elif place == "last":
    erasures._finish = die
    retention._take_orphans = die
now = datetime(2026, 11, 30, 9, 2, tzinfo=UTC)
until = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)
if sys.argv[2] == "erase":
    erasures.erase_due(clock=lambda: now, until=until)
else:
    retention.expire_once(environment=Environment.objects.get(name="production"), clock=lambda: now)
"""


@pytest.fixture
def cast(shared_database: str) -> make.Cast:
    return make.cast()


@pytest.fixture
def desk(cast: make.Cast) -> Agent:
    return make.agent(team=cast.payments)


def ask(cast: make.Cast, value: str = ANNA) -> Erasure:
    return request_erasure(subject=read_subject(value), reason="", actor=actor(cast.ada), now=NOW)


def erase() -> int:
    return erase_due(clock=lambda: DUE, until=SOON)


def counts(row: Erasure) -> tuple[int, int, int, int]:
    row.refresh_from_db()
    return (row.traces, row.calls, row.spans, row.tasks)


def killed(place: str, what: str, database: str) -> None:
    """A worker that is killed there."""
    environ = os.environ | {"DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "portal.settings"}
    done = subprocess.run([sys.executable, "-c", WORKER, place, what], cwd=ROOT, env=environ, timeout=120)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("place", ["before", "inside", "between", "last"])
def test_an_erasure_whose_worker_is_killed_is_gone_on_with(
    shared_database: str, cast: make.Cast, desk: Agent, place: str
) -> None:
    report(desk, *(call(f"a{n}", trace="long", intent=ANNA if n == 3 else "") for n in range(7)))
    report(desk, spans=[span("s", trace="long")], tasks=[task("k", trace="long")])
    report(
        desk,
        *(call(f"b{n}", trace=f"t{n}", intent=ANNA) for n in range(6)),
        call("other", trace="o", intent=BORIS),
    )
    row = ask(cast)
    killed(place, "erase", shared_database)
    row.refresh_from_db()
    assert row.state == Erasure.State.RUNNING
    # What is told is what is gone.
    assert row.calls + Call.objects.count() == 14
    assert is_sound()
    assert erase() == 1
    assert counts(row) == (7, 13, 1, 1)
    assert kept() == {"calls": ["other"], "spans": [], "tasks": []}
    assert verbs().count("erasure.finish") == 1


@pytest.mark.parametrize("place", ["before", "inside", "between", "last"])
def test_retention_whose_worker_is_killed_is_gone_on_with(
    shared_database: str, desk: Agent, place: str
) -> None:
    old = NOW - timedelta(days=95)
    report(desk, *(call(f"a{n}", trace=f"t{n}", intent=ANNA) for n in range(11)), now=old)
    report(desk, call("young", trace="y", intent=ANNA))
    killed(place, "expire", shared_database)
    assert is_sound()
    production = make.environment("production")
    assert retention.expire_once(environment=production, clock=lambda: DUE) is None
    after = DUE + timedelta(hours=1)
    assert retention.expire_once(environment=production, clock=lambda: after) is not None
    assert kept()["calls"] == ["young"]
    assert SubjectTag.objects.count() == 1


def test_two_workers_on_one_erasure_count_each_trace_once(
    cast: make.Cast, desk: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure_batches, "BATCH", 5)
    report(desk, *(call(f"a{n}", trace="long", intent=ANNA if n % 9 == 0 else "") for n in range(40)))
    report(
        desk, *(call(f"b{n}", trace=f"t{n}", intent=ANNA) for n in range(60)), tasks=[task("k", trace="t1")]
    )
    row = ask(cast)
    done = together([erase] * 4)
    assert not [one for one in done if isinstance(one, Exception)], done
    # One that found it held went away; it is there for the next minute.
    assert sum(done) + erase() == 1
    assert counts(row) == (61, 100, 0, 1)
    assert verbs().count("erasure.finish") == 1


def test_erasures_of_two_people_who_share_traces(
    cast: make.Cast, desk: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure_batches, "BATCH", 7)
    shared = [call(f"c{n}", trace=f"t{n // 2}", intent=(ANNA, BORIS)[n % 2]) for n in range(120)]
    report(desk, *shared, spans=[span(f"s{n}", trace=f"t{n}") for n in range(60)])
    first, second = ask(cast), ask(cast, BORIS)
    done = together([erase] * 4)
    assert not [one for one in done if isinstance(one, Exception)], done
    erase()
    gone = Erasure.objects.aggregate(calls=Sum("calls"), spans=Sum("spans"), traces=Sum("traces"))
    assert gone == {"calls": 120, "spans": 60, "traces": 60}
    assert {first.pk, second.pk} == set(Erasure.objects.filter(state="done").values_list("pk", flat=True))
    assert is_sound()


def test_ingest_and_erasure_at_once(cast: make.Cast, desk: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure_batches, "BATCH", 11)
    report(desk, *(call(f"c{n}", trace=f"t{n}", intent=ANNA) for n in range(80)))
    row = ask(cast)
    accepted: list[int] = [80]

    def come(start: int) -> None:
        for n in range(start, start + 20):
            # Traces that go just then, with the same calls again, and new ones of both people.
            batch = [
                call(f"c{n}", trace=f"t{n}", intent=ANNA),
                call(f"new{n}", trace=f"t{n}", intent=ANNA),
                call(f"his{n}", trace=f"h{n}", intent=BORIS),
            ]
            taken = report(desk, *batch, spans=[span(f"s{n}", trace=f"h{n}", user=BORIS)], now=DUE)
            accepted.append(taken.accepted)

    done = together([lambda: come(0), lambda: come(20), lambda: come(40), erase, erase])
    assert not [one for one in done if isinstance(one, Exception)], done
    erase()
    # Whatever came after the end is told to be after the request, and a second one takes it.
    left = Call.objects.filter(subjects__hash__in=read_subject(ANNA).hashes).distinct().count()
    row.refresh_from_db()
    assert row.state == Erasure.State.DONE
    his = Call.objects.filter(call_id__startswith="his").count()
    assert his == 60
    assert row.calls + left + his == sum(accepted)
    assert is_sound()
    again = ask(cast)
    erase()
    assert counts(again)[1] == left
    assert [one for one in kept()["calls"] if not one.startswith("his")] == []


def test_retention_and_erasure_take_each_row_once(
    cast: make.Cast, desk: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure_batches, "BATCH", 5)
    monkeypatch.setattr(retention, "BATCH", 3)
    old = NOW - timedelta(days=95)
    report(desk, *(call(f"a{n}", trace=f"t{n // 3}", intent=ANNA) for n in range(90)), now=old)
    row, removed = ask(cast), list[int]()

    def note(ids: Sequence[int]) -> int:
        removed.append(remove_calls(ids))
        return removed[-1]

    monkeypatch.setattr(retention, "remove_calls", note)
    production = make.environment("production")

    def go() -> object:
        return expire(environment=production, clock=lambda: DUE, until=SOON)

    done = together([go, erase, go, erase])
    assert not [one for one in done if isinstance(one, Exception)], done
    erase()
    assert counts(row)[1] + sum(removed) == 90
    assert kept()["calls"] == []
    assert is_sound()
