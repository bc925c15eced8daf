"""A skill is switched off in environments, with a fallback, and on again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from catalog import resolution
from catalog.access import NotAllowed
from catalog.degradations import BadFallback, degrade, restore
from catalog.lifecycle import delete_skill
from catalog.models import (
    Degradation,
    Delegation,
    Environment,
    JournalEntry,
    Revision,
    Role,
    Skill,
    State,
    User,
)
from catalog.shortfalls import shortfalls
from catalog.snapshots import compile_snapshot
from catalog.transitions import WrongState
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db
NOW = make.NOW
NAMES = ("development", "staging", "production")


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


@pytest.fixture
def refunds(cast: make.Cast) -> Skill:
    """refund-check, live in production."""
    return live("refund-check", cast)


def live(name: str, cast: make.Cast, environment: str = "production", **fields: Any) -> Skill:
    version = make.version(name, cast=cast, **fields)
    make.release(version, environment, cast=cast)
    return version.skill


def places(*names: str) -> list[Environment]:
    return [make.environment(name) for name in names]


def off(
    skill: Skill, user: User | None, *names: str, fallback: Skill | None = None, reason: str = "Wrong totals."
) -> Any:
    return degrade(
        skill=skill,
        environments=places(*names) if names else None,
        fallback=fallback,
        reason=reason,
        actor=crew.actor(user),
        now=NOW,
    )


def on(skill: Skill, user: User | None, *names: str) -> Any:
    where = places(*names) if names else None
    return restore(skill=skill, environments=where, actor=crew.actor(user), reason="Mended.", now=NOW)


def in_force() -> list[tuple[str, str, str | None]]:
    rows = Degradation.objects.filter(restored_at=None).order_by("environment__order")
    return [(row.environment.name, row.reason, row.fallback.name if row.fallback else None) for row in rows]


def test_everywhere_at_once(cast: make.Cast, refunds: Skill) -> None:
    revisions = Revision.objects.count()
    assert [row.environment.name for row in off(refunds, cast.mara)] == list(NAMES)
    assert in_force() == [(name, "Wrong totals.", None) for name in NAMES]
    assert Revision.objects.count() == revisions + 3
    assert crew.verbs()[-3:] == ["skill.degrade"] * 3
    told = JournalEntry.objects.order_by("-n")[0]
    assert (told.target, told.actor) == ("refund-check in production", "mara")
    assert told.before == {"off": False}
    assert told.after == {"off": True, "reason": "Wrong totals.", "fallback": None}
    row = Degradation.objects.get(environment__name="production")
    assert (row.by, row.at, row.restored_at) == (cast.mara, NOW, None)


def test_in_some_environments_and_on_again(cast: make.Cast, refunds: Skill) -> None:
    off(refunds, cast.ines, "production", "staging")
    assert [name for name, _, _ in in_force()] == ["staging", "production"]
    (row,) = on(refunds, cast.ines, "staging")
    assert (row.environment.name, row.restored_by, row.restored_at) == ("staging", cast.ines, NOW)
    assert [name for name, _, _ in in_force()] == ["production"]
    told = JournalEntry.objects.order_by("-n")[0]
    assert (told.verb, told.target) == ("skill.restore", "refund-check in staging")
    assert told.before == {"off": True, "reason": "Wrong totals.", "fallback": None}
    assert told.after == {"off": False, "reason": "Mended."}
    on(refunds, cast.mara)
    assert in_force() == []


def test_a_second_call_changes_reason_and_fallback(cast: make.Cast, refunds: Skill) -> None:
    other = live("refund-issue", cast)
    off(refunds, cast.mara, "production")
    off(refunds, cast.otto, "production", fallback=other, reason="Wrong totals, still.")
    assert in_force() == [("production", "Wrong totals, still.", "refund-issue")]
    assert Degradation.objects.count() == 2
    told = JournalEntry.objects.order_by("-n")[0]
    assert told.before == {"off": True, "reason": "Wrong totals.", "fallback": None}
    assert told.after == {"off": True, "reason": "Wrong totals, still.", "fallback": "refund-issue"}
    assert Revision.objects.order_by("-pk")[0].changes == ["refund-check", "refund-issue"]


def test_the_same_again_writes_nothing(cast: make.Cast, refunds: Skill) -> None:
    off(refunds, cast.mara, "production")
    before = (JournalEntry.objects.count(), Revision.objects.count(), Degradation.objects.count())
    (row,) = off(refunds, cast.otto, "production")
    assert row.by == cast.mara
    assert before == (JournalEntry.objects.count(), Revision.objects.count(), Degradation.objects.count())


def test_it_is_restored_once(cast: make.Cast, refunds: Skill) -> None:
    off(refunds, cast.mara, "production")
    on(refunds, cast.mara, "production")
    with pytest.raises(WrongState, match=r"^refund-check is not switched off in Production.$"):
        on(refunds, cast.mara, "production")
    with pytest.raises(WrongState, match="Development, Staging, Production"):
        on(refunds, cast.mara)


def test_a_deleted_skill_is_neither_switched_off_nor_on(cast: make.Cast, refunds: Skill) -> None:
    delete_skill(skill=refunds, actor=crew.actor(cast.ines), reason="", now=NOW)
    for act in (off, on):
        with pytest.raises(WrongState, match="deleted"):
            act(refunds, cast.mara)


# -- rights


@pytest.mark.parametrize(
    ("who", "may"),
    [
        ("ines", True),  # publishes for the owning team
        ("mara", True),  # approves everywhere
        ("sven", False),
        ("lena", False),
        ("ravi", False),
        ("ada", False),  # an administrator stops nothing by being one
        ("nora", False),
    ],
)
def test_who_may(cast: make.Cast, refunds: Skill, who: str, may: bool) -> None:
    user = getattr(cast, who)
    if may:
        assert len(off(refunds, user)) == 3
        assert len(on(refunds, user)) == 3
        return
    for act in (off, on):
        with pytest.raises(NotAllowed, match="needs an approver, or a publisher in Payments"):
            act(refunds, user, "production")
    off(refunds, cast.mara)
    with pytest.raises(NotAllowed, match=r"^In Development, Staging, Production this"):
        on(refunds, user)
    assert len(in_force()) == 3


def test_where_one_of_several_is_not_allowed_nothing_changes(cast: make.Cast, refunds: Skill) -> None:
    make.grant(cast.nora, Role.APPROVER, team=cast.payments, environment=make.environment("staging"))
    with pytest.raises(NotAllowed, match=r"^In Production this needs an approver"):
        off(refunds, cast.nora, "staging", "production")
    with pytest.raises(NotAllowed, match=r"^In Development, Production this"):
        off(refunds, cast.nora)
    assert in_force() == []
    off(refunds, cast.nora, "staging")
    # Where it is off, and nowhere else, the right is asked for.
    on(refunds, cast.nora)
    off(refunds, cast.mara)
    with pytest.raises(NotAllowed, match=r"^In Development, Production this"):
        on(refunds, cast.nora)
    assert len(in_force()) == 3


def test_the_system_and_whoever_was_lent_the_right_may(cast: make.Cast, refunds: Skill) -> None:
    off(refunds, None, "production")
    assert Degradation.objects.get().by is None
    on(refunds, None)
    Delegation.objects.create(
        giver=cast.mara,
        taker=cast.nora,
        team=cast.payments,
        reason="Away.",
        starts_at=NOW - timedelta(days=1),
        ends_at=NOW + timedelta(days=1),
        created_at=NOW,
    )
    off(refunds, cast.nora, "production")
    assert [name for name, _, _ in in_force()] == ["production"]


# -- fallbacks


def test_a_fallback_is_another_skill_that_is_live_there(cast: make.Cast, refunds: Skill) -> None:
    with pytest.raises(BadFallback, match="cannot stand in for itself"):
        off(refunds, cast.mara, "production", fallback=refunds)
    staged = live("refund-issue", cast, "staging")
    with pytest.raises(BadFallback, match=r"^refund-issue is not live in Production.$"):
        off(refunds, cast.mara, "staging", "production", fallback=staged)
    canary = make.version("refund-try", cast=cast)
    make.release(canary, "production", cast=cast, state=State.CANARY)
    with pytest.raises(BadFallback, match="not live in Production"):
        off(refunds, cast.mara, "production", fallback=canary.skill)
    gone = live("refund-gone", cast)
    delete_skill(skill=gone, actor=crew.actor(cast.ines), reason="", now=NOW)
    with pytest.raises(BadFallback, match=r"^The skill refund-gone is deleted.$"):
        off(refunds, cast.mara, "production", fallback=gone)
    assert in_force() == []


def test_it_need_not_be_live_where_nothing_is_served_of_the_skill(cast: make.Cast, refunds: Skill) -> None:
    off(refunds, cast.mara, fallback=live("refund-issue", cast))
    assert [fallback for _, _, fallback in in_force()] == ["refund-issue"] * 3


def test_a_fallback_is_seen_by_whoever_sees_the_skill(cast: make.Cast, refunds: Skill) -> None:
    other = live("refund-issue", cast)
    Skill.objects.filter(pk=other.pk).update(visibility=Skill.Visibility.TEAM)
    with pytest.raises(BadFallback, match="for one team alone"):
        off(refunds, cast.mara, "production", fallback=other)
    Skill.objects.filter(pk=refunds.pk).update(visibility=Skill.Visibility.TEAM)
    off(refunds, cast.mara, "production", fallback=other)
    Skill.objects.filter(pk=other.pk).update(team=cast.support)
    with pytest.raises(BadFallback, match="for one team alone"):
        off(refunds, cast.mara, "production", fallback=other, reason="Again.")


def test_what_is_off_stands_in_for_nothing_so_there_is_no_circle(cast: make.Cast, refunds: Skill) -> None:
    two, three = live("refund-issue", cast), live("refund-note", cast)
    off(refunds, cast.mara, "production", fallback=two)
    with pytest.raises(BadFallback, match=r"^refund-check is switched off in Production itself.$"):
        off(two, cast.mara, "production", fallback=refunds)
    off(two, cast.mara, "production", fallback=three)
    with pytest.raises(BadFallback, match="refund-check is switched off"):
        off(three, cast.mara, "production", fallback=refunds)
    with pytest.raises(BadFallback, match="refund-issue is switched off"):
        off(refunds, cast.mara, "production", fallback=two, reason="Again.")
    on(refunds, cast.mara)
    off(three, cast.mara, "production", fallback=refunds)


def test_an_old_revision_is_what_callers_poll(cast: make.Cast, refunds: Skill) -> None:
    agent = make.agent(team=cast.payments)
    where = make.environment("production")
    before = resolution.feed_of(agent_id=agent.pk, environment_id=where.pk)
    off(refunds, cast.mara, "production")
    resolution.forget_cached()
    after = resolution.feed_of(agent_id=agent.pk, environment_id=where.pk)
    assert (
        before.served["refund-check"].item["available"],
        after.served["refund-check"].item["available"],
    ) == (
        True,
        False,
    )
    assert after.revision == before.revision + 1
    assert after.etag != before.etag


def test_what_is_off_takes_one_question_more(
    cast: make.Cast, refunds: Skill, django_assert_num_queries: Any
) -> None:
    others = [live(f"refund-{n}", cast) for n in range(4)]
    where = make.environment("production")
    with django_assert_num_queries(3):  # the environment, what it serves, what that depends on
        compile_snapshot(where.pk)
    for one in others[1:]:
        off(one, cast.mara, "production", fallback=others[0])
    with django_assert_num_queries(4):
        found = compile_snapshot(where.pk)
    stand_in = found.slots["refund-0"].stable
    assert stand_in is not None
    assert stand_in.item["fallback_for"] == ["refund-1", "refund-2", "refund-3"]
    with django_assert_num_queries(3):  # what is off, what depends on something, what is live of all that
        assert len(shortfalls([where]).off) == 3
