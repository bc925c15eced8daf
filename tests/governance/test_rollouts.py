"""Gray releases: their shares and steps, the schedule that moves them, and resuming what was halted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from catalog import lifecycle
from catalog.access import NotAllowed
from catalog.canaries import Guard, Plan
from catalog.journal import check_chain
from catalog.models import Environment, JournalEntry, Release, State, Transition, Version
from catalog.releases import NotCleared, WrongState
from governance import approvals, rollouts, tasks
from tests import cast as crew
from tests import make

NOW = make.NOW
HOUR = timedelta(hours=1)
STEPS = Plan(percent=5, steps=(5, 25, 50, 100), soak_minutes=60)


@pytest.fixture
def cast(db: None) -> make.Cast:
    """The cast."""
    return make.cast()


def canary(
    cast: make.Cast, plan: Plan = STEPS, version: Version | None = None, now: datetime = NOW
) -> Release:
    """A canary in production by this plan, started now."""
    made = approvals.propose(
        version=version or make.version(cast=cast),
        environment=make.environment("production"),
        actor=crew.actor(cast.ines),
        plan=plan,
        now=now,
    )
    make.approve(made, cast.mara, now=now)
    return rollouts.start(release=made, actor=crew.actor(cast.mara), now=now)


def fresh(release: Release) -> Release:
    """The release as it is now."""
    return Release.objects.get(pk=release.pk)


def at(release: Release) -> tuple[str, int, datetime | None]:
    """State, share and next step as they are now."""
    now = fresh(release)
    return now.state, now.percent, now.next_step_at


def last(release: Release) -> tuple[str, str, str]:
    """Action, state and reason of the last transition."""
    return release.transitions.order_by("-n").values_list("action", "to_state", "reason")[0]


def halt(release: Release, cast: make.Cast) -> Release:
    """Halt it."""
    return rollouts.halt(release=release, actor=crew.actor(cast.mara), reason="Errors.", now=NOW)


def resume(release: Release, user: Any, percent: int | None = None, now: datetime = NOW) -> Release:
    """Serve it again."""
    return rollouts.resume(release=release, actor=crew.actor(user), percent=percent, now=now)


# -- when the next step is due


@pytest.mark.parametrize(
    ("plan", "due"),
    [
        (STEPS, NOW + HOUR),
        (Plan(percent=5, steps=(5, 25), soak_minutes=90), NOW + timedelta(minutes=90)),
        (Plan(percent=5, steps=(5,), soak_minutes=60), None),
        (Plan(percent=5, soak_minutes=60), None),
        (Plan(percent=5, steps=(5, 25), soak_minutes=60, guard=Guard(max_error_rate=0.1)), None),
    ],
)
def test_when_the_next_step_is_due(cast: make.Cast, plan: Plan, due: datetime | None) -> None:
    assert at(canary(cast, plan)) == ("canary", 5, due)


def test_who_advances_by_hand_starts_the_soak_anew(cast: make.Cast) -> None:
    release = canary(cast)
    later = NOW + timedelta(minutes=59)
    rollouts.advance(release=release, actor=crew.actor(cast.mara), percent=30, now=later)
    assert at(release) == ("canary", 30, later + HOUR)
    assert rollouts.move_due(now=NOW + HOUR) == 0
    assert rollouts.move_due(now=later + HOUR) == 1
    assert at(release)[:2] == ("canary", 50)


def test_a_halted_one_is_left_alone(cast: make.Cast) -> None:
    release = canary(cast)
    halt(release, cast)
    assert at(release) == ("halted", 5, None)
    assert rollouts.move_due(now=NOW + 9 * HOUR) == 0
    assert at(release) == ("halted", 5, None)


# -- the schedule


def test_steps_are_taken_one_after_another_to_live(cast: make.Cast) -> None:
    before = make.release(make.version(cast=cast), "production", cast=cast)
    release = canary(cast, version=make.version(number="1.1.0", cast=cast, body="1.1\n"))
    assert rollouts.move_due(now=NOW + HOUR - timedelta(seconds=1)) == 0
    seen = []
    for hours in (1, 2, 3, 4):
        seen.append((rollouts.move_due(now=NOW + hours * HOUR), *at(release)))
    assert seen == [
        (1, "canary", 25, NOW + 2 * HOUR),
        (1, "canary", 50, NOW + 3 * HOUR),
        (1, "live", 100, None),
        (0, "live", 100, None),
    ]
    assert fresh(before).state == State.SUPERSEDED
    rows = release.transitions.filter(action="advance").order_by("n")
    assert list(rows.values_list("to_state", "reason", "actor")) == [
        ("canary", "25 %", None),
        ("canary", "50 %", None),
        ("live", "", None),
    ]
    assert rows[0].clearance["approvals"] == ["mara"]
    told = JournalEntry.objects.filter(verb="release.advance").values_list("actor", "origin").distinct()
    assert list(told.order_by()) == [("system", "scheduler")]
    assert check_chain().intact


def test_the_schedule_ends_with_the_last_step(cast: make.Cast) -> None:
    release = canary(cast, Plan(percent=5, steps=(5, 50), soak_minutes=60))
    assert rollouts.move_due(now=NOW + HOUR) == 1
    assert at(release) == ("canary", 50, None)
    assert rollouts.move_due(now=NOW + 99 * HOUR) == 0


def test_one_step_at_a_time_however_late(cast: make.Cast) -> None:
    release = canary(cast)
    assert rollouts.move_due(now=NOW + 30 * HOUR) == 1
    assert rollouts.move_due(now=NOW + 30 * HOUR) == 0
    assert at(release) == ("canary", 25, NOW + 31 * HOUR)


def test_one_that_goes_live_is_not_in_the_way_of_another(cast: make.Cast) -> None:
    """A canary of another skill is moved although the first one is held."""
    held = canary(cast)
    Version.objects.filter(pk=held.version_id).update(yanked_at=NOW)
    other = canary(cast, version=make.version("other", cast=cast))
    assert rollouts.move_due(now=NOW + HOUR) == 1
    assert (at(held)[1], at(other)[1]) == (5, 25)


def yanked(release: Release) -> str:
    Version.objects.filter(pk=release.version_id).update(yanked_at=NOW)
    return "Version 1.0.0 is yanked."


def riskier(release: Release) -> str:
    Version.objects.filter(pk=release.version_id).update(suggested_risk="medium")
    return (
        "Its approvals are void, since the policy, the risk, the team or a gate has changed; "
        "halt it and propose the version again."
    )


def deprecated(release: Release) -> str:
    Version.objects.filter(pk=release.version_id).update(deprecated_at=NOW)
    return "The version is deprecated; stable is asked for here."


@pytest.mark.parametrize("change", [yanked, riskier, deprecated])
def test_what_keeps_a_step_from_being_taken_is_said_once(
    cast: make.Cast, change: Callable[[Release], str]
) -> None:
    release = canary(cast)
    told = change(release)
    count = release.transitions.count()
    revision = make.environment("production").revision
    for hours in (1, 2, 3):
        assert rollouts.move_due(now=NOW + hours * HOUR) == 0
        assert rollouts.move_due(now=NOW + hours * HOUR) == 0
        assert at(release) == ("canary", 5, NOW + (hours + 1) * HOUR)
    assert last(release) == ("hold", "canary", told)
    assert release.transitions.count() == count + 1
    assert make.environment("production").revision == revision


def test_what_was_held_goes_on_when_its_gate_opens(cast: make.Cast) -> None:
    release = canary(cast)
    deprecated(release)
    rollouts.move_due(now=NOW + HOUR)
    Version.objects.filter(pk=release.version_id).update(deprecated_at=None)
    assert rollouts.move_due(now=NOW + 2 * HOUR) == 1
    assert at(release)[:2] == ("canary", 25)
    deprecated(release)
    rollouts.move_due(now=NOW + 3 * HOUR)
    assert list(release.transitions.order_by("n").values_list("action", flat=True))[-3:] == [
        "hold", "advance", "hold",
    ]  # fmt: skip


def test_another_reason_is_another_hold_and_an_override_none(cast: make.Cast) -> None:
    cast.otto.grants.update(may_override=True)
    release = canary(cast)
    deprecated(release)
    rollouts.move_due(now=NOW + HOUR)
    Environment.objects.filter(name="production").update(needs_evaluation=True)
    rollouts.move_due(now=NOW + 2 * HOUR)
    approvals.override(
        release=release, gate="evaluation", actor=crew.actor(cast.otto), reason="By hand.", now=NOW
    )
    assert at(release) == ("canary", 5, NOW + 3 * HOUR)
    rollouts.move_due(now=NOW + 3 * HOUR)
    rollouts.move_due(now=NOW + 4 * HOUR)
    rows = release.transitions.filter(n__gt=3).order_by("n").values_list("action", "reason")
    stale = "The version is deprecated; stable is asked for here."
    assert list(rows) == [
        ("hold", stale),
        ("hold", f"{stale} An evaluation is asked for here, and none was reported."),
        ("override", "evaluation: By hand."),
        ("hold", stale),
    ]


def test_the_job_of_each_minute(cast: make.Cast) -> None:
    release = canary(cast)
    Release.objects.filter(pk=release.pk).update(next_step_at=timezone.now() - timedelta(seconds=1))
    assert settings.CELERY_BEAT_SCHEDULE["steps"] == {"task": "governance.tasks.steps", "schedule": 60.0}
    tasks.steps()
    tasks.steps()
    assert at(release)[:2] == ("canary", 25)


@pytest.mark.parametrize("soak", [0, 60])
def test_two_workers_take_each_step_once(shared_database: str, soak: int) -> None:
    cast = make.cast()
    plan = Plan(percent=5, steps=(5, 10, 25, 50, 100), soak_minutes=soak)
    found = [canary(cast, plan, make.version(f"skill-{n}", cast=cast)) for n in range(4)]
    for round_ in range(1, 5):
        now = NOW + round_ * HOUR
        done = crew.together([lambda now=now: rollouts.move_due(now=now)] * 3)  # type: ignore[misc]
        assert sum(done) == 4, done
        assert {at(one)[1] for one in found} == {plan.steps[round_]}
    assert {at(one) for one in found} == {("live", 100, None)}
    assert Transition.objects.filter(action="advance").count() == 16
    assert check_chain().intact


@pytest.mark.parametrize("change", [yanked, deprecated])
def test_two_workers_write_a_hold_once(shared_database: str, change: Callable[[Release], str]) -> None:
    cast = make.cast()
    release = canary(cast)
    change(release)
    for hours in (1, 2):
        now = NOW + hours * HOUR
        assert crew.together([lambda now=now: rollouts.move_due(now=now)] * 3) == [0, 0, 0]  # type: ignore[misc]
    assert release.transitions.filter(action="hold").count() == 1


# -- callers that are named


def test_a_canary_for_named_callers_alone(cast: make.Cast) -> None:
    make.agent(team=cast.payments)
    release = canary(cast, Plan(percent=0, agents=("front-desk",)))
    assert at(release) == ("canary", 0, None)
    moved = rollouts.advance(release=release, actor=crew.actor(cast.mara), percent=10, now=NOW)
    assert moved.percent == 10
    back = rollouts.advance(release=release, actor=crew.actor(cast.mara), percent=0, now=NOW)
    assert (back.state, back.percent) == ("canary", 0)
    halt(release, cast)
    assert resume(release, cast.mara).percent == 0


def test_nobody_at_all_is_no_canary(cast: make.Cast) -> None:
    release = canary(cast)
    with pytest.raises(ValueError, match="1 to 100 percent"):
        rollouts.advance(release=release, actor=crew.actor(cast.mara), percent=0, now=NOW)
    assert at(release)[:2] == ("canary", 5)


# -- resuming


@pytest.mark.parametrize(
    ("percent", "state", "share"), [(None, "canary", 25), (50, "canary", 50), (100, "live", 100)]
)
def test_a_halted_canary_goes_on(cast: make.Cast, percent: int | None, state: str, share: int) -> None:
    release = canary(cast)
    rollouts.move_due(now=NOW + HOUR)
    halt(release, cast)
    later = NOW + 5 * HOUR
    resume(release, cast.otto, percent, later)
    assert at(release) == (state, share, later + HOUR if state == "canary" else None)
    assert last(release)[:2] == ("resume", state)
    assert make.environment("production").revision == 4


@pytest.mark.parametrize("name", ["ines", "sven", "ravi", "lena", "ada", "nora"])
def test_who_may_not_resume(cast: make.Cast, name: str) -> None:
    release = halt(canary(cast), cast)
    with pytest.raises(NotAllowed):
        resume(release, getattr(cast, name))
    assert at(release)[0] == "halted"


def test_the_owning_team_resumes_where_the_policy_says_so(cast: make.Cast) -> None:
    Environment.objects.filter(name="production").update(owner_may_start=True)
    assert resume(halt(canary(cast), cast), cast.ines).state == State.CANARY


def test_what_is_void_or_shut_or_taken_back_is_not_resumed(cast: make.Cast) -> None:
    release = halt(canary(cast), cast)
    riskier(release)
    with pytest.raises(WrongState, match=r"void.*; propose the version again\.$"):
        resume(release, cast.mara)
    Version.objects.filter(pk=release.version_id).update(suggested_risk="low")
    deprecated(release)
    with pytest.raises(NotCleared, match="stability"):
        resume(release, cast.mara)
    Version.objects.filter(pk=release.version_id).update(deprecated_at=None)
    lifecycle.yank(version=release.version, actor=crew.actor(cast.ines), reason="Typo.", now=NOW)
    with pytest.raises(WrongState, match=r"^Version 1\.0\.0 is yanked\.$"):
        resume(release, cast.mara)
    assert at(release)[0] == "halted"


def test_another_canary_is_in_the_way(cast: make.Cast) -> None:
    release = halt(canary(cast), cast)
    canary(cast, version=make.version(number="1.1.0", cast=cast, body="1.1\n"))
    with pytest.raises(WrongState, match=r"^Another canary of refund-check runs in Production; halt it"):
        resume(release, cast.mara)
    assert resume(release, cast.mara, 100).state == State.LIVE


@pytest.mark.parametrize("state", ["proposed", "approved", "canary", "live"])
@pytest.mark.parametrize("percent", [None, 100])
def test_a_release_of_the_same_version_is_in_the_way(
    cast: make.Cast, state: str, percent: int | None
) -> None:
    cast.otto.grants.update(may_override=True)
    release = halt(canary(cast), cast)
    make.release(release.version, "production", cast=cast, state=state)
    told = (
        r"^refund-check 1\.0\.0 is live in Production already, by another release\.$"
        if state == "live"
        else r"^refund-check 1\.0\.0 was proposed anew in Production; go on with that release\.$"
    )
    with pytest.raises(WrongState, match=told):
        resume(release, cast.mara, percent)
    with pytest.raises(WrongState, match=told):
        rollouts.break_glass(release=release, actor=crew.actor(cast.otto), reason="x", now=NOW)
    assert at(release)[0] == "halted"
    assert release.transitions.count() == 4


def test_one_that_was_halted_without_a_share_begins_with_its_plan(cast: make.Cast) -> None:
    release = canary(cast)
    halt(release, cast)
    Release.objects.filter(pk=release.pk).update(percent=0)
    assert resume(release, cast.mara).percent == 5


def test_what_a_rollback_halted_keeps_its_share(cast: make.Cast) -> None:
    first = make.release(make.version(cast=cast), "production", cast=cast)
    second = make.release(make.version(number="1.1.0", cast=cast, body="1.1\n"), "production", cast=cast)
    again = canary(cast, version=first.version)
    rollouts.roll_back(release=second, actor=crew.actor(cast.mara), reason="Wrong.", now=NOW)
    assert at(again) == ("halted", 5, None)
    with pytest.raises(WrongState, match="is live in Production already"):
        resume(again, cast.mara)
    rollouts.roll_back(release=fresh(first), actor=crew.actor(cast.mara), reason="Wrong.", now=NOW)
    assert resume(again, cast.mara).percent == 5
