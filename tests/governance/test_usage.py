"""Counters of reads: none is lost by a fault, and processes add up."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection

from catalog import resolution
from catalog.models import Agent, Environment
from catalog.snapshots import Served
from governance import usage
from governance.models import ReadCount
from tests import cast as crew
from tests import make

NOW = make.NOW
HOUR = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
Read = ReadCount.Read


class Scene:
    """An agent that is served two skills."""

    def __init__(self) -> None:
        cast = make.cast()
        for name in ("refund-check", "order-status"):
            make.release(make.version(name, cast=cast), "production", cast=cast)
        self.agent: Agent = make.agent(team=cast.payments)
        self.environment: Environment = make.environment("production")
        self.feed = resolution.feed_of(agent_id=self.agent.pk, environment_id=self.environment.pk)
        self.served: list[Served] = list(self.feed.served.values())
        self.ids = tuple(one.version_id.hex for one in self.served)

    def count(self, times: int = 1, **fields: Any) -> None:
        """Count reads of both skills."""
        told: dict[str, Any] = {"version_ids": self.ids, "read": Read.ADVERTISED, "now": NOW}
        for _ in range(times):
            usage.count_reads(
                environment_id=self.environment.pk, agent_id=self.agent.pk, **{**told, **fields}
            )


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    """No counter of another test."""
    usage._counts.take()
    yield
    usage._counts.take()


@pytest.mark.django_db
def test_reads_are_written_by_hour_skill_and_kind() -> None:
    scene = Scene()
    scene.count(3, now=HOUR + timedelta(minutes=59, seconds=59))
    scene.count(2, now=HOUR + timedelta(hours=1))
    scene.count(read=Read.LOADED, version_ids=scene.served[0].ids)
    assert not ReadCount.objects.exists()
    assert usage.flush() == 5
    rows = ReadCount.objects.order_by("hour", "read", "skill__name")
    assert list(rows.values_list("hour", "read", "skill__name", "count")) == [
        (HOUR, "advertised", "order-status", 3),
        (HOUR, "advertised", "refund-check", 3),
        (HOUR, "loaded", scene.served[0].name, 1),
        (HOUR + timedelta(hours=1), "advertised", "order-status", 2),
        (HOUR + timedelta(hours=1), "advertised", "refund-check", 2),
    ]
    assert {(row.agent_id, row.environment_id) for row in rows} == {(scene.agent.pk, scene.environment.pk)}


@pytest.mark.django_db
def test_a_second_flush_adds_and_an_empty_one_asks_nothing(django_assert_num_queries: Any) -> None:
    scene = Scene()
    scene.count(2)
    usage.flush()
    with django_assert_num_queries(0):
        assert usage.flush() == 0
    scene.count(5)
    assert usage.flush() == 2
    assert set(ReadCount.objects.values_list("count", flat=True)) == {7}


@pytest.mark.django_db
def test_a_fault_gives_everything_back(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    scene.count(2)

    add = usage._add

    def fail(place: usage.Place, totals: Mapping[str, int]) -> int:
        scene.count(1)  # the feed goes on counting meanwhile
        if place[3] == "loaded":
            raise OperationalError("database is locked")
        return add(place, totals)

    scene.count(1, read=Read.LOADED)
    with monkeypatch.context() as patch:
        patch.setattr(usage, "_add", fail)
        with pytest.raises(OperationalError):
            usage.flush()
    assert set(ReadCount.objects.values_list("read", "count")) == {("advertised", 2)}
    usage.flush()
    assert set(ReadCount.objects.values_list("read", "count")) == {("advertised", 4), ("loaded", 1)}


@pytest.mark.django_db(transaction=True)
def test_what_was_deleted_meanwhile_keeps_nothing_else_from_being_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene()
    scene.count(2)
    usage.count_reads(
        environment_id=scene.environment.pk,
        agent_id=uuid4(),
        version_ids=scene.ids,
        read=Read.LOADED,
        now=NOW,
    )
    scene.count(version_ids=(uuid4().hex, scene.served[0].version_id.hex), read=Read.RESOURCE)
    assert usage.flush() == 3
    assert set(ReadCount.objects.values_list("read", "count")) == {("advertised", 2), ("resource", 1)}
    assert sorted(caplog.messages) == [
        f"{n} counters of reads refer to what was deleted; they are dropped." for n in (1, 2)
    ]
    assert usage.flush() == 0


@pytest.mark.django_db
def test_a_poll_is_one_number_and_one_statement(django_assert_num_queries: Any) -> None:
    scene = Scene()
    scene.count(50)
    assert len(usage._counts.waiting) == 1
    with django_assert_num_queries(3):  # within a savepoint
        usage.flush()
    assert list(ReadCount.objects.values_list("count", flat=True)) == [50, 50]


def test_threads_add_up(shared_database: str) -> None:
    scene = Scene()

    def work() -> None:
        for _ in range(5):
            scene.count(20)
            usage.flush()

    assert crew.together([work] * 6) == [None] * 6
    usage.flush()
    assert set(ReadCount.objects.values_list("count", flat=True)) == {600}


PROCESS = """
import sys
import django
django.setup()
from datetime import datetime
from uuid import UUID
from governance import usage
environment, agent, version, hour = sys.argv[1:]
key = (datetime.fromisoformat(hour), UUID(environment), UUID(agent), "loaded", (version,))
for _ in range(40):
    usage._counts.waiting[key] += 5
    usage.flush()
"""


def test_processes_add_up(shared_database: str, tmp_path: Path) -> None:
    scene = Scene()
    one = scene.served[0]
    ids = (scene.environment.pk, scene.agent.pk, one.version_id.hex, HOUR.isoformat())
    environ = {
        "DATABASE_URL": shared_database,
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "VAR_DIR": str(tmp_path),
    }
    connection.close()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, *map(str, ids)],
            cwd=crew.ROOT,
            env=environ,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for process in processes:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said.decode()
    assert ReadCount.objects.get().count == 400


@pytest.mark.django_db
def test_sets_that_overlap_add_up_in_one_statement(
    django_assert_num_queries: Any,
) -> None:
    """As callers in many arms of gray releases read them: each set is another, and most of each the same."""
    scene = Scene()
    one, other = scene.ids
    for ids in ((one, other), (one,), (other, one), (one,)):
        scene.count(version_ids=ids)
    with django_assert_num_queries(3):  # a transaction around it
        assert usage.flush() == 2
    assert dict(ReadCount.objects.values_list("version_id", "count")) == {
        scene.served[0].version_id: 4,
        scene.served[1].version_id: 2,
    }
