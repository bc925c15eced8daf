"""Deprecated is said, yanked is hidden from new sessions, revoked is gone; none is taken back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from catalog import lifecycle, pins, resolution
from catalog.access import NotAllowed
from catalog.models import JournalEntry, Revision, Skill, State, Version
from governance import rollouts
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db
NOW = make.NOW
MARKS: dict[str, Callable[..., Version]] = {
    "deprecate": lifecycle.deprecate,
    "yank": lifecycle.yank,
    "revoke": lifecycle.revoke,
}


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


def mark(verb: str, version: Version, user: Any, **fields: Any) -> Version:
    """One of the three."""
    told = {"reason": "Wrong totals.", "now": NOW, **fields}
    return MARKS[verb](version=version, actor=crew.actor(user), **told)


@pytest.mark.parametrize(
    ("verb", "allowed"),
    [("deprecate", {"ines"}), ("yank", {"ines"}), ("revoke", {"ada"})],
)
@pytest.mark.parametrize("name", ["ines", "sven", "mara", "lena", "ravi", "ada", "nora"])
def test_who_marks_a_version(cast: make.Cast, verb: str, allowed: set[str], name: str) -> None:
    version = make.version(cast=cast)
    if name in allowed:
        marked = mark(verb, version, getattr(cast, name))
        assert (marked.deprecated_at or marked.yanked_at or marked.revoked_at) == NOW
        return
    text = (
        "Revoking is for administrators."
        if verb == "revoke"
        else "This needs the role publisher in Payments."
    )
    with pytest.raises(NotAllowed) as refused:
        mark(verb, version, getattr(cast, name))
    assert str(refused.value) == text
    version.refresh_from_db()
    assert [version.deprecated_at, version.yanked_at, version.revoked_at] == [None] * 3


@pytest.mark.parametrize("verb", MARKS)
def test_it_is_told_once_and_not_taken_back(cast: make.Cast, verb: str) -> None:
    version = make.version(cast=cast)
    user = cast.ada if verb == "revoke" else cast.ines
    mark(verb, version, user)
    mark(verb, version, user, now=NOW + timedelta(days=1), reason="Again.")
    entry = JournalEntry.objects.get(verb=f"version.{verb}")
    assert (entry.target, entry.after) == ("refund-check 1.0.0", {"reason": "Wrong totals."})
    version.refresh_from_db()
    assert (version.deprecated_at or version.yanked_at or version.revoked_at) == NOW


@pytest.mark.parametrize(("verb", "latest"), [("deprecate", "1.1.0"), ("yank", "1.0.0"), ("revoke", "1.0.0")])
def test_latest_and_tags_are_of_what_is_offered(cast: make.Cast, verb: str, latest: str) -> None:
    make.version(cast=cast, tags=("old",))
    version = make.version(number="1.1.0", cast=cast, body="1.1\n", tags=("new",))
    mark(verb, version, cast.ada if verb == "revoke" else cast.ines)
    skill = Skill.objects.select_related("latest").get()
    assert skill.latest is not None
    assert skill.latest.version == latest
    assert [row.tag for row in skill.tags.all()] == ["new" if latest == "1.1.0" else "old"]


def test_when_nothing_is_left_there_is_no_latest(cast: make.Cast) -> None:
    mark("yank", make.version(cast=cast, tags=("old",)), cast.ines)
    skill = Skill.objects.get()
    assert skill.latest is None
    assert not skill.tags.exists()


def feed(cast: make.Cast, where: str = "production") -> resolution.Feed:
    """What an agent is served now."""
    resolution.forget_cached()
    agent = cast.payments.agents.first() or make.agent(team=cast.payments)
    return resolution.feed_of(agent_id=agent.pk, environment_id=make.environment(where).pk)


@pytest.mark.parametrize(("verb", "served"), [("deprecate", True), ("yank", False), ("revoke", False)])
def test_what_new_sessions_are_served(cast: make.Cast, verb: str, served: bool) -> None:
    version = make.version(cast=cast)
    for where in ("staging", "production"):
        make.release(version, where, cast=cast)
    mark(verb, version, cast.ada if verb == "revoke" else cast.ines)
    for where in ("staging", "production"):
        assert ("refund-check" in feed(cast, where).served) == served
        assert Revision.objects.filter(environment__name=where).order_by("-n")[0].n == 2
    assert not Revision.objects.filter(environment__name="development").exists()
    if served:
        assert feed(cast).served["refund-check"].item["stability"] == "deprecated"


@pytest.mark.parametrize("verb", ["yank", "revoke"])
def test_a_canary_that_is_taken_back_leaves_the_stable_version(cast: make.Cast, verb: str) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    version = make.version(number="1.1.0", cast=cast, body="1.1\n")
    make.release(version, "production", cast=cast, state=State.CANARY, percent=99)
    mark(verb, version, cast.ada if verb == "revoke" else cast.ines)
    seen = feed(cast)
    assert seen.served["refund-check"].version == "1.0.0"
    assert seen.arms == {}


@pytest.mark.parametrize(("verb", "readable"), [("deprecate", True), ("yank", True), ("revoke", False)])
def test_what_pinned_sessions_read(cast: make.Cast, verb: str, readable: bool) -> None:
    version = make.version(cast=cast)
    make.release(version, "production", cast=cast)
    mark(verb, version, cast.ada if verb == "revoke" else cast.ines)
    late = NOW + timedelta(days=400)
    seen = feed(cast)
    if readable:
        found = pins.read_version(feed=seen, name="refund-check", version="1.0.0", now=late)
        assert found.version == "1.0.0"
        return
    with pytest.raises((resolution.Gone, resolution.Unknown)):
        pins.read_version(feed=seen, name="refund-check", version="1.0.0", now=late)


def test_a_yank_and_a_start_at_once_serve_nothing_that_was_taken_back(shared_database: str) -> None:
    cast = make.cast()
    for n in range(10):
        version = make.version("refund-check", f"1.{n}.0", cast=cast, body=f"{n}\n")
        release = make.release(version, "production", cast=cast, state=State.APPROVED)
        done = crew.together(
            [
                lambda release=release: (
                    rollouts.start(  # type: ignore[misc]
                        release=release, actor=crew.actor(cast.mara), now=NOW
                    ).state
                ),
                lambda version=version: mark("yank", version, cast.ines).version,  # type: ignore[misc]
            ]
        )
        assert done[1] == f"1.{n}.0"
        assert done[0] == "live" or "yanked" in str(done[0])
        assert "refund-check" not in feed(cast).served
