"""Jobs: one run for each period, however many ask, and again where one died."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from catalog.jobs import LEASE, run_once
from catalog.models import JobRun
from governance import tasks
from tests import cast as crew
from tests import make

NOW = make.NOW


class Work:
    """Counts how often it is done."""

    def __init__(self) -> None:
        self.done = 0
        self.lock = threading.Lock()

    def __call__(self) -> Mapping[str, int]:
        with self.lock:
            self.done += 1
            return {"done": self.done}


def run(work: Work, *, period: str = "2026-11-30", minutes: float = 0) -> Mapping[str, int] | None:
    """Ask for a run, some minutes from now."""
    return run_once(name="sweep", period=period, work=work, clock=at(minutes))


def at(*minutes: float) -> Callable[[], datetime]:
    """A clock that tells these minutes from now, one after another, then the last."""
    told = list(minutes)
    return lambda: NOW + timedelta(minutes=told.pop(0) if len(told) > 1 else told[0])


@pytest.mark.django_db
def test_a_period_is_worked_once() -> None:
    work = Work()
    assert run(work) == {"done": 1}
    assert run(work) is None
    assert run(work, minutes=600) is None
    assert run(work, period="2026-12-01") == {"done": 2}
    assert JobRun.objects.get(period="2026-11-30").result == {"done": 1}
    assert JobRun.objects.filter(finished_at=None).count() == 0


@pytest.mark.django_db
def test_two_jobs_have_a_run_each() -> None:
    work = Work()
    assert run(work) is not None
    assert run_once(name="forget", period="2026-11-30", work=work, clock=at(0)) is not None


@pytest.mark.django_db
def test_a_run_that_was_killed_is_taken_again_after_its_lease_and_not_before() -> None:
    def die() -> Mapping[str, int]:
        raise SystemExit

    work = Work()
    with pytest.raises(SystemExit):
        run_once(name="sweep", period="2026-11-30", work=die, clock=at(0))
    assert run(work) is None
    assert run(work, minutes=29.9) is None
    assert run(work, minutes=30) == {"done": 1}
    assert run(work, minutes=600) is None
    assert timedelta(minutes=30) == LEASE


@pytest.mark.django_db
def test_a_run_that_failed_is_taken_again_at_once() -> None:
    def fail() -> Mapping[str, int]:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        run_once(name="sweep", period="2026-11-30", work=fail, clock=at(0, 1))
    assert run(Work(), minutes=1) == {"done": 1}


@pytest.mark.django_db
def test_a_run_ends_when_its_work_does() -> None:
    run_once(name="sweep", period="2026-11-30", work=Work(), clock=at(0, 12))
    told = JobRun.objects.get()
    assert (told.started_at, told.finished_at) == (NOW, NOW + timedelta(minutes=12))


@pytest.mark.django_db
@pytest.mark.parametrize("fails", [False, True])
def test_a_run_that_outlives_its_lease_writes_over_nobody(fails: bool) -> None:
    second = Work()

    def slow() -> Mapping[str, int]:
        assert run(second, minutes=31) == {"done": 1}
        if fails:
            raise OSError("too late")
        return {"done": 99}

    with suppress(OSError):
        run_once(name="sweep", period="2026-11-30", work=slow, clock=at(0, 40))
    told = JobRun.objects.get()
    assert (told.result, told.finished_at) == ({"done": 1}, NOW + timedelta(minutes=31))


def test_of_many_who_ask_at_once_one_works(shared_database: str) -> None:
    work = Work()
    done = crew.together([lambda: run(work)] * 10)
    assert work.done == 1
    assert sorted(map(str, done)) == ["None"] * 9 + ["{'done': 1}"]


def test_of_many_who_find_a_dead_run_one_takes_it(shared_database: str) -> None:
    JobRun.objects.create(name="sweep", period="2026-11-30", owner=uuid4(), started_at=NOW, leased_until=NOW)
    work = Work()
    crew.together([lambda: run(work, minutes=1)] * 10)
    assert work.done == 1
    assert JobRun.objects.get().leased_until == NOW + timedelta(minutes=31)


@pytest.mark.django_db
def test_the_tasks_of_the_worker_bear_being_sent_twice() -> None:
    for _ in range(2):
        tasks.sweep(left="over")
        tasks.forget()
    assert sorted(JobRun.objects.values_list("name", flat=True)) == ["forget", "sweep"]
    assert JobRun.objects.get(name="sweep").result == {"rows": 0, "files": 0}
    assert JobRun.objects.get(name="forget").result == {"expired": 0, "forgotten": 0}
