"""Erasure: all traces of one subject go, nothing of anybody else does, and the value is nowhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from io import StringIO
from itertools import count
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import override_settings
from pytest_django import DjangoAssertNumQueries, Settings

from catalog.access import NotAllowed
from catalog.models import Agent
from governance import erasure_batches, erasures, subjects, tasks
from governance.erasures import SETTLE, erase_due, longest_retention, lost_until, request_erasure, subject_of
from governance.models import Call, Erasure, Intake, SubjectTag
from governance.subjects import NoSubject, Subject, Tag, find_reach, read_subject, without_value
from tests import make
from tests.cast import actor, verbs
from tests.governance.traced import ANNA, BORIS, PHONE, call, is_sound, kept, report, span, task, told

pytestmark = pytest.mark.django_db
NOW = make.NOW
DUE = NOW + SETTLE
State = Erasure.State


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


@pytest.fixture
def desk(cast: make.Cast) -> Agent:
    return make.agent(team=cast.payments)


def ask(cast: make.Cast, value: str = ANNA, *, reason: str = "Art. 17.", now: datetime = NOW) -> Erasure:
    """Ada asks for what is kept of the value."""
    return request_erasure(subject=read_subject(value), reason=reason, actor=actor(cast.ada), now=now)


def erase(moment: datetime = DUE) -> int:
    """One run of the worker."""
    return erase_due(clock=lambda: moment, until=moment + timedelta(minutes=10))


def counts(row: Erasure) -> tuple[int, int, int, int, int]:
    row.refresh_from_db()
    return (row.traces, row.calls, row.spans, row.tasks, row.lost)


def test_a_trace_goes_whole(cast: make.Cast, desk: Agent) -> None:
    report(
        desk,
        call("said", trace="t1", intent=f"Write to {ANNA}"),
        call("silent", trace="t1"),
        spans=[span("s1", trace="t1", model="m"), span("s2", trace="t2", user=ANNA)],
        tasks=[task("k1", trace="t1"), task("k2", trace="t2"), task("k3", trace="t3")],
    )
    report(
        desk,
        call("other", trace="t3", intent=f"Write to {BORIS}"),
        spans=[span("s3", trace="t3", user=BORIS)],
    )
    row = ask(cast)
    assert erase() == 1
    assert kept() == {"calls": ["other"], "spans": ["s3"], "tasks": ["k3"]}
    assert is_sound()
    assert SubjectTag.objects.count() == 2
    assert counts(row) == (2, 2, 2, 2, 0)
    assert (row.state, row.finished_at) == (State.DONE, DUE)
    assert sum(one.accepted for one in Intake.objects.all()) == 3


def test_neighbours_stay(cast: make.Cast, desk: Agent) -> None:
    """The same four digits, another agent's trace of that id, and that id in another environment."""
    other = make.agent("second-desk", team=cast.payments)
    report(desk, call("ours", trace="t", intent=ANNA), tasks=[task("k", trace="t")])
    report(other, call("theirs", trace="t"), spans=[span("s", trace="t")], tasks=[task("k", trace="t")])
    report(desk, call("elsewhere", trace="t"), environment="staging")
    report(desk, call("alike", trace="u"))
    ours = SubjectTag.objects.get()
    twin = ours.hash[:4] + "0" * 60
    alike = Call.objects.get(call_id="alike")
    SubjectTag.objects.create(call=alike, hash=twin, key_id=ours.key_id, kind=ours.kind)
    row = ask(cast)
    assert erase() == 1
    assert kept() == {"calls": ["alike", "elsewhere", "theirs"], "spans": ["s"], "tasks": ["k"]}
    assert counts(row) == (1, 1, 0, 1, 0)


def test_every_reading_of_a_number_is_looked_for(cast: make.Cast, desk: Agent) -> None:
    written = ("+49 30 1234567", "0049 30 1234567", "tel:+49301234567", "+49 (0)30 123 45 67")
    for n, one in enumerate(written):
        report(desk, call(f"c{n}", trace=f"t{n}", parameters={"phone": one}))
    assert SubjectTag.objects.count() >= len(written)
    ask(cast, PHONE)
    erase()
    assert kept()["calls"] == []


def test_a_secret_is_found_where_it_stood_under_a_telling_name(cast: make.Cast, desk: Agent) -> None:
    with pytest.raises(NoSubject, match="Nothing is masked in this value"):
        read_subject("correct horse")
    report(desk, call("c", trace="t", parameters={"password": "correct horse"}))
    assert read_subject("correct horse").kinds == ["SECRET", "TOKEN"]
    ask(cast, "correct horse")
    erase()
    assert kept()["calls"] == []


@pytest.mark.parametrize("value", ["", " \n ", "Anna Schmidt", "1234", "no such thing"])
def test_a_value_that_masking_knows_nothing_of_is_told(value: str) -> None:
    with pytest.raises(NoSubject) as refused:
        read_subject(value)
    assert not value.strip() or value not in str(refused.value)


def test_what_earlier_keys_masked_goes_and_what_lost_ones_did_is_counted(
    cast: make.Cast, desk: Agent, settings: Settings
) -> None:
    for n, key in enumerate(("first key", "second key", "third key")):
        with override_settings(MASKING_KEY=key, MASKING_KEYS_BEFORE=()):
            report(desk, call(f"c{n}", trace=f"t{n}", intent=ANNA))
    settings.MASKING_KEY, settings.MASKING_KEYS_BEFORE = "third key", ("second key",)
    row = ask(cast)
    erase()
    assert kept()["calls"] == ["c0"]
    assert counts(row) == (2, 2, 0, 0, 1)
    # Production keeps its calls longest.
    assert lost_until(row, longest_retention()) == DUE + timedelta(days=90)
    assert lost_until(ask(cast), longest_retention()) is None


def test_it_begins_when_what_was_on_its_way_is_written(cast: make.Cast, desk: Agent) -> None:
    row = ask(cast)
    report(desk, call("slow", trace="t", intent=ANNA), now=NOW - timedelta(seconds=5))
    assert erase(NOW + timedelta(seconds=59)) == 0
    assert (Erasure.objects.get().state, kept()["calls"]) == (State.WAITING, ["slow"])
    assert erase() == 1
    assert counts(row) == (1, 1, 0, 0, 0)


def test_what_comes_while_it_runs_goes_and_what_comes_later_stays(
    cast: make.Cast, desk: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(desk, call("before", trace="t1", intent=ANNA))
    row = ask(cast)
    real = erasures.breathe

    def come() -> None:
        if not Call.objects.filter(call_id="meanwhile").exists() and counts(row)[1] == 1:
            report(desk, call("meanwhile", trace="t2", intent=ANNA), now=DUE)
        real()

    monkeypatch.setattr(erasures, "breathe", come)
    assert erase() == 1
    assert counts(row) == (2, 2, 0, 0, 0)
    report(desk, call("later", trace="t3", intent=ANNA), now=DUE)
    assert erase(DUE + timedelta(hours=1)) == 0
    assert kept()["calls"] == ["later"]


@pytest.mark.parametrize("batch", [1, 2, 3, 7, 500])
def test_batches_come_to_the_same(
    cast: make.Cast, desk: Agent, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(erasure_batches, "BATCH", batch)
    report(desk, *(call(f"a{n}", trace="long", intent=ANNA if n == 3 else "") for n in range(6)))
    report(desk, spans=[span(f"s{n}", trace="long") for n in range(4)], tasks=[task("k", trace="long")])
    report(desk, *(call(f"b{n}", trace=f"t{n}", intent=ANNA) for n in range(5)))
    report(desk, call("c", trace="t9", intent=ANNA), environment="staging")
    report(desk, call("other", trace="o", intent=BORIS))
    row = ask(cast)
    assert erase() == 1
    assert counts(row) == (7, 12, 4, 1, 0)
    assert kept() == {"calls": ["other"], "spans": [], "tasks": []}
    assert is_sound()


@pytest.mark.parametrize("batch", [2, 7])
def test_a_run_that_fails_on_the_way_is_gone_on_with(
    cast: make.Cast, desk: Agent, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(erasure_batches, "BATCH", batch)
    report(desk, *(call(f"a{n}", trace="long", intent=ANNA if n == 3 else "") for n in range(6)))
    report(desk, *(call(f"b{n}", trace=f"t{n}", intent=ANNA) for n in range(5)))
    row = ask(cast)
    real, turn = erasure_batches.remove_calls, count()

    def fail(ids: Sequence[int]) -> int:
        gone = real(ids)
        if next(turn) % 2:
            raise OSError("the disk is full")
        return gone

    monkeypatch.setattr(erasure_batches, "remove_calls", fail)
    ended = 0
    for _ in range(30):
        try:
            ended += erase()
        except OSError:
            row.refresh_from_db()
            assert row.calls + Call.objects.count() == 11
    assert ended == 1
    assert counts(row) == (6, 11, 0, 0, 0)


def test_a_run_ends_in_time_and_the_next_goes_on(
    cast: make.Cast, desk: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure_batches, "BATCH", 2)
    report(desk, *(call(f"b{n}", trace=f"t{n}", intent=ANNA) for n in range(6)))
    row = ask(cast)
    minutes = count()

    def clock() -> datetime:
        return DUE + timedelta(minutes=next(minutes))

    assert erase_due(clock=clock, until=DUE + timedelta(minutes=2.5)) == 0
    row.refresh_from_db()
    assert (row.state, row.calls, Call.objects.count()) == (State.RUNNING, 4, 2)
    assert erase() == 1
    assert counts(row) == (6, 6, 0, 0, 0)


def test_two_erasures_of_people_in_one_trace(cast: make.Cast, desk: Agent) -> None:
    report(desk, call("both", trace="t", intent=f"{ANNA} and {BORIS}"), call("his", trace="u", intent=BORIS))
    first, second = ask(cast), ask(cast, BORIS)
    assert erase() == 2
    assert (counts(first), counts(second)) == ((1, 1, 0, 0, 0), (1, 1, 0, 0, 0))


def test_the_task_of_the_worker_bears_being_sent_twice(cast: make.Cast, desk: Agent) -> None:
    report(desk, call("c", trace="t", intent=ANNA))
    row = ask(cast)
    for _ in range(2):
        tasks.erase(left="over")
    # The clock of the worker is today's; the request may lie ahead of it.
    Erasure.objects.update(requested_at=datetime.fromisoformat("2020-01-01T00:00:00+00:00"))
    tasks.erase()
    assert counts(row) == (1, 1, 0, 0, 0)


def test_the_journal_tells_who_why_and_what_of_but_neither_value_nor_hash(
    cast: make.Cast, desk: Agent
) -> None:
    report(desk, call("c", trace="t", intent=ANNA))
    hashed = SubjectTag.objects.get().hash
    row = ask(cast)
    erase()
    mask = f"[EMAIL·{hashed[:4]}]"
    assert verbs()[-2:] == ["erasure.request", "erasure.finish"]
    assert told("erasure.request") == [{"masks": [mask], "reason": "Art. 17."}]
    assert told("erasure.finish") == [
        {"masks": [mask], "traces": 1, "calls": 1, "spans": 0, "tasks": 0, "lost": 0}
    ]
    row.refresh_from_db()
    # When all is done, no more of a hash is left than what masks show.
    assert {len(tag.hash) for tag in subject_of(row).tags} == {4}
    assert subject_of(row).masks == [mask]
    dump = whole_database()
    assert hashed not in dump
    assert ANNA not in dump
    assert "anna@" not in dump


def test_the_value_is_nowhere_even_while_it_waits(cast: make.Cast) -> None:
    reason = without_value("Anna.Schmidt left; write to anna@example.org", value="anna.schmidt ")
    assert reason.startswith("[…] left; write to [EMAIL·")
    ask(cast, reason=reason)
    dump = whole_database()
    assert "anna" not in dump.lower()


def whole_database() -> str:
    out = StringIO()
    call_command("dumpdata", "governance", "catalog.JournalEntry", stdout=out)
    return json.dumps(json.loads(out.getvalue()), ensure_ascii=False)


def test_administrators_alone_ask(cast: make.Cast) -> None:
    for who in (cast.ines, cast.mara, cast.lena, cast.nora):
        with pytest.raises(NotAllowed, match="by administrators"):
            request_erasure(subject=read_subject(ANNA), reason="", actor=actor(who), now=NOW)
    with pytest.raises(NotAllowed):
        request_erasure(subject=read_subject(ANNA), reason="", actor=actor(None), now=NOW)
    assert not Erasure.objects.exists()


def test_what_would_go_is_counted_by_mask_and_place(
    cast: make.Cast, desk: Agent, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    later = NOW + timedelta(days=1)
    report(desk, call("a", trace="t", intent=ANNA), call("b", trace="t"), tasks=[task("k", trace="t")])
    report(desk, spans=[span("s", trace="u", user=ANNA)], now=later)
    report(desk, call("c", trace="t", intent=ANNA), now=later, environment="staging")
    report(make.agent("other", team=desk.team), call("x", trace="t", intent=BORIS))
    subject = read_subject(ANNA)
    with django_assert_max_num_queries(6):
        reach = find_reach(subject)
    assert [(one.mask, one.calls, one.spans) for one in reach.found] == [(subject.masks[0], 2, 1)]
    assert [
        (one.environment, one.traces, one.calls, one.spans, one.tasks, one.oldest, one.newest)
        for one in reach.places
    ] == [("staging", 1, 1, 0, 0, later, later), ("production", 2, 2, 1, 1, NOW, later)]
    assert (reach.traces, reach.calls, reach.spans, reach.tasks, reach.is_whole) == (3, 3, 1, 1, True)
    ask(cast)
    erase(DUE + timedelta(days=1))
    gone = Erasure.objects.get()
    assert (gone.traces, gone.calls, gone.spans, gone.tasks) == (3, 3, 1, 1)
    assert find_reach(subject).places == ()


def test_a_reach_too_large_to_count_says_so(desk: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subjects, "MOST_TAGGED", 3)
    report(desk, *(call(f"c{n}", trace=f"t{n}", intent=ANNA) for n in range(5)))
    reach = find_reach(read_subject(ANNA))
    assert (reach.calls, reach.is_whole) == (3, False)


def test_a_batch_takes_few_statements(
    cast: make.Cast, desk: Agent, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    report(desk, *(call(f"c{n}", trace=f"t{n // 2}", intent=ANNA) for n in range(60)))
    ask(cast)
    with django_assert_max_num_queries(50) as asked:
        erase()
    read = [one["sql"] for one in asked.captured_queries if one["sql"].startswith("SELECT")]
    assert not [sql for sql in read if "user_intent" in sql or "skill_text" in sql]


def test_the_index_finds_the_tags(desk: Agent) -> None:
    rows: Any = SubjectTag.objects.filter(hash="0" * 64).order_by("hash", "key_id")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
    assert "subject_tag_hash" in rows.values_list("call_id")[:500].explain()


def test_tags_tell_their_hash_to_nobody_by_chance() -> None:
    assert "abcd" not in repr(Subject((Tag("k", "EMAIL", "abcd" * 16),)))
