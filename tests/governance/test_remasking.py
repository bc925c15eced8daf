"""What is stored is masked again by the rules of now: in batches, restartable, and only what changes."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from catalog.access import NotAllowed
from catalog.journal import Actor
from catalog.models import Agent, JobRun, JournalEntry
from governance import masks, remasking
from governance.masking_rules import Draft, create_rule
from governance.models import Call, CallDetail, ContextSpan, SubjectTag, TaskOutcome
from governance.remasking import latest, remask_due, request_remasking
from tests import make
from tests.governance.traced import call, report, span, task

pytestmark = pytest.mark.django_db
THEN = make.NOW + remasking.SETTLE


@pytest.fixture
def ada() -> Actor:
    return Actor(user=make.cast().ada)


@pytest.fixture
def desk(ada: Actor) -> Agent:
    """An agent that has reported numbers of staff before there was a rule for them."""
    desk = make.agent(team=make.team("tax"))
    report(
        desk,
        *(call(f"c-{n}", trace="EMP-00007", intent=f"Ask EMP-1234{n}") for n in range(5)),
        call("quiet", trace="t-1", intent="Nothing of it", parameters={"n": 1}),
        spans=[span("s-1", trace="EMP-00007", who="EMP-12345", n=3)],
        tasks=[task("EMP-1-task", trace="EMP-00007")],
    )
    return desk


def rule(ada: Actor) -> None:
    create_rule(draft=Draft("STAFF", "EMP-[0-9]{5}"), actor=ada, now=make.NOW, without_sample=True)


def run(at: datetime = THEN) -> bool:
    return remask_due(clock=lambda: at, until=at + remasking.LONGEST_RUN)


def seen_and_changed() -> tuple[int, int]:
    done = latest()
    assert done
    return done.seen, done.changed


def stored() -> str:
    return "".join(
        str(list(model._base_manager.values())) for model in (Call, CallDetail, ContextSpan, TaskOutcome)
    )


def test_everything_is_masked_as_if_it_came_in_now(ada: Actor, desk: Agent) -> None:
    rule(ada)
    assert "EMP-12340" in stored()
    request_remasking(actor=ada, now=make.NOW)
    assert run()
    assert "EMP-1234" not in stored()
    assert "EMP-00007" not in stored()
    (trace,) = masks.stored_ids("trace_id", "EMP-00007")
    assert Call.objects.filter(trace_id=trace).count() == 5
    assert ContextSpan.objects.get().trace_id == TaskOutcome.objects.get().trace_id == trace
    assert ContextSpan.objects.get().attributes["n"] == 3
    hashes = [tag.hash for _, tag in masks.subject_tags("EMP-12345")]
    assert SubjectTag.objects.filter(hash__in=hashes, span__isnull=False).exists()
    hashes = [tag.hash for _, tag in masks.subject_tags("EMP-12343")]
    found = SubjectTag.objects.filter(hash__in=hashes).values_list("call__call_id", flat=True)
    assert list(found) == ["c-3"]
    done = latest()
    assert done
    assert (done.seen, done.changed, done.percent) == (8, 7, 100)
    assert done.finished_at == THEN
    before = stored()
    request_remasking(actor=ada, now=make.NOW)
    assert run()
    assert (stored(), seen_and_changed()) == (before, (8, 0))


def test_what_was_on_its_way_under_former_rules_is_masked_too(ada: Actor, desk: Agent) -> None:
    """A process knows a rule a second late, and a batch takes its time: nothing of it may be passed over."""
    request_remasking(actor=ada, now=make.NOW)
    assert not run(THEN - timedelta(seconds=1))
    done = latest()
    assert done
    assert (done.seen, done.percent, done.finished_at) == (0, 0, None)
    report(desk, call("late", trace="t-2", intent="Ask EMP-99999"), spans=[span("s-9", trace="EMP-00008")])
    create_rule(draft=Draft("STAFF", "EMP-[0-9]{5}"), actor=ada, now=make.NOW, without_sample=True)
    assert run()
    assert "EMP-99999" not in stored()
    assert "EMP-00008" not in stored()


def test_it_goes_on_where_it_was_left(ada: Actor, desk: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remasking, "BATCH", 2)
    rule(ada)
    request_remasking(actor=ada, now=make.NOW)
    real, left = remasking._remask, [2]

    def die(stage: str, rows: list[object]) -> int:
        if not left[0]:
            raise RuntimeError("killed")
        left[0] -= 1
        return real(stage, rows)

    monkeypatch.setattr(remasking, "_remask", die)
    with pytest.raises(RuntimeError):
        run()
    assert "EMP-12344" in stored()
    assert seen_and_changed()[0] == 4
    left[0] = 100
    assert run()
    assert "EMP-1234" not in stored()
    assert seen_and_changed()[0] == 8


def test_names_that_become_the_same_are_told_apart(ada: Actor, desk: Agent) -> None:
    rule(ada)
    (mask,) = masks.stored_ids("call_id", "EMP-55555")
    Call.objects.filter(call_id="c-0").update(call_id="EMP-55555")
    Call.objects.filter(call_id="c-1").update(call_id=mask)
    request_remasking(actor=ada, now=make.NOW)
    assert run()
    assert "EMP-55555" not in stored()
    assert Call.objects.filter(call_id__startswith=mask).count() == 2


def test_a_batch_takes_few_queries(
    ada: Actor, desk: Agent, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    request_remasking(actor=ada, now=make.NOW)
    with django_assert_max_num_queries(30):
        assert run()


def test_one_run_at_a_time_asked_for_by_administrators(ada: Actor, desk: Agent) -> None:
    assert latest() is None
    assert not run()
    with pytest.raises(NotAllowed):
        request_remasking(actor=Actor(), now=make.NOW)
    for _ in range(2):
        request_remasking(actor=ada, now=make.NOW)
    assert JobRun.objects.filter(name="remask").count() == 1
    assert JournalEntry.objects.filter(verb="masking.again").count() == 2
