"""Whose a skill is: settings, transfer, and the end of a skill."""

from __future__ import annotations

from typing import Any

import pytest

from catalog import resolution
from catalog.access import NotAllowed, powers_of
from catalog.journal import Actor
from catalog.lifecycle import StillNeeded, delete_skill
from catalog.models import Environment, JournalEntry, Skill, Team, User
from catalog.ownership import NotOfTheTeam, people_of, settle, transfer
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


@pytest.fixture
def skill(cast: make.Cast) -> Skill:
    return make.skill(cast=cast)


def move(skill: Skill, team: Team, user: User, **more: Any) -> Skill:
    return transfer(
        skill=skill, team=team, actor=crew.actor(user), reason="Reorganised.", now=make.NOW, **more
    )


def end(skill: Skill, user: User, **more: Any) -> Skill:
    return delete_skill(skill=skill, actor=crew.actor(user), reason="Unused.", now=make.NOW, **more)


def last_entry() -> JournalEntry:
    return JournalEntry.objects.order_by("-n")[0]


def test_settings_are_changed_and_journaled_with_what_differs(cast: make.Cast, skill: Skill) -> None:
    told = settle(
        skill=skill,
        actor=crew.actor(cast.ines),
        now=make.NOW,
        visibility="team",
        owner=cast.ravi,
        maintainers=[cast.ines],
    )
    assert (told.visibility, told.owner) == ("team", cast.ravi)
    entry = last_entry()
    assert (entry.verb, entry.target) == ("skill.settle", "refund-check")
    assert entry.before == {"visibility": "organisation", "owner": "ines", "maintainers": []}
    assert entry.after == {"visibility": "team", "owner": "ravi", "maintainers": ["ines"]}


def test_the_same_settings_again_write_nothing(cast: make.Cast, skill: Skill) -> None:
    before = JournalEntry.objects.count()
    settle(skill=skill, actor=crew.actor(cast.ines), now=make.NOW, visibility="organisation", owner=cast.ines)
    settle(skill=skill, actor=crew.actor(cast.ines), now=make.NOW)
    assert JournalEntry.objects.count() == before


def test_only_people_of_the_team_own_and_maintain(cast: make.Cast, skill: Skill) -> None:
    assert list(people_of(cast.payments)) == [cast.ines, cast.ravi]
    for named in ({"owner": cast.sven}, {"maintainers": [cast.ravi, cast.sven]}):
        with pytest.raises(NotOfTheTeam, match="sven does not belong to Payments"):
            settle(skill=skill, actor=crew.actor(cast.ines), now=make.NOW, **named)
    assert Skill.objects.get().owner == cast.ines


@pytest.mark.parametrize("name", ["sven", "mara", "lena", "ravi", "nora"])
def test_who_may_not(cast: make.Cast, skill: Skill, name: str) -> None:
    user = getattr(cast, name)
    with pytest.raises(NotAllowed):
        settle(skill=skill, actor=crew.actor(user), now=make.NOW, visibility="team")
    with pytest.raises(NotAllowed):
        move(skill, cast.support, user)
    with pytest.raises(NotAllowed):
        end(skill, user)
    assert (skill.team, Skill.objects.get().deleted_at) == (cast.payments, None)


def test_a_transfer_needs_both_teams_and_rights_follow(cast: make.Cast, skill: Skill) -> None:
    with pytest.raises(NotAllowed, match="Taking it over for Support"):
        move(skill, cast.support, cast.ines)
    make.grant(cast.ines, "publisher", team=cast.support)
    moved = move(skill, cast.support, cast.ines)
    assert moved.team == cast.support
    assert powers_of(cast.sven).may_publish(moved.team)
    assert last_entry().before == {"team": "payments"}
    assert last_entry().after == {"team": "support", "reason": "Reorganised."}
    count = JournalEntry.objects.count()
    move(skill, cast.support, cast.ada)
    assert JournalEntry.objects.count() == count


def test_the_feed_names_the_new_team(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    make.release(version, "production", cast=cast)
    agent = make.agent(team=cast.payments)
    production = make.environment("production")
    move(version.skill, cast.support, cast.ada)
    resolution.forget_cached()
    feed = resolution.feed_of(agent_id=agent.pk, environment_id=production.pk)
    assert feed.get("refund-check").item["provenance"]["team"] == "support"
    assert Environment.objects.get(pk=production.pk).revision == production.revision + 1


def test_a_deleted_skill_is_gone_from_the_feed_and_its_name_is_never_free(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    make.release(version, "production", cast=cast)
    agent = make.agent(team=cast.payments)
    production = make.environment("production")
    end(version.skill, cast.ines)
    resolution.forget_cached()
    assert not resolution.feed_of(agent_id=agent.pk, environment_id=production.pk).served
    assert Environment.objects.get(pk=production.pk).revision == production.revision + 1
    again = make.publication(
        make.bundle({"SKILL.md": make.skill_md()}), team=cast.payments, publisher=cast.ines
    )
    assert again.status == "rejected"
    assert (last_entry().verb, last_entry().after) == ("skill.delete", {"reason": "Unused.", "needed_by": []})


def test_deleting_twice_writes_one_entry(cast: make.Cast, skill: Skill) -> None:
    end(skill, cast.ada)
    count = JournalEntry.objects.count()
    end(skill, cast.ada)
    assert JournalEntry.objects.count() == count


def test_a_skill_that_others_need_is_deleted_only_on_purpose(cast: make.Cast, skill: Skill) -> None:
    files = {"manifest.yaml": make.manifest(more="dependencies:\n  refund-check: 1.0.0\n"), "run.py": b"\n"}
    make.version("refund.issue", cast=cast, files=files)
    with pytest.raises(StillNeeded) as needed:
        end(skill, cast.ines)
    assert needed.value.folders == ("refund-issue",)
    end(skill, cast.ines, although_needed=True)
    assert last_entry().after == {"reason": "Unused.", "needed_by": ["refund-issue"]}


def test_a_skill_is_no_longer_needed_by_one_that_is_deleted(cast: make.Cast, skill: Skill) -> None:
    files = {"manifest.yaml": make.manifest(more="dependencies:\n  refund-check: 1.0.0\n"), "run.py": b"\n"}
    end(make.version("refund.issue", cast=cast, files=files).skill, cast.ines)
    assert end(skill, cast.ines).deleted_at == make.NOW


def test_agents_of_other_teams_lose_a_skill_that_becomes_its_teams_own(cast: make.Cast) -> None:
    version = make.version("refund-check", cast=cast)
    make.release(version, "production", cast=cast)
    production = make.environment("production")
    foreign = make.agent("foreign-bot", team=cast.support)
    assert resolution.feed_of(agent_id=foreign.pk, environment_id=production.pk).served
    settle(skill=version.skill, visibility="team", actor=Actor(cast.ines), now=make.NOW)
    assert make.environment("production").revision == production.revision + 1
    resolution.forget_cached()
    assert not resolution.feed_of(agent_id=foreign.pk, environment_id=production.pk).served


def test_a_skill_that_was_deleted_meanwhile_is_neither_settled_nor_transferred(
    cast: make.Cast, skill: Skill
) -> None:
    end(skill, cast.ines)
    with pytest.raises(NotAllowed, match="was deleted meanwhile"):
        settle(skill=skill, actor=crew.actor(cast.ines), now=make.NOW, visibility="team")
    with pytest.raises(NotAllowed, match="was deleted meanwhile"):
        move(skill, cast.support, cast.ada)
