"""Teams: made, renamed, and removed where nothing refers to them."""

from __future__ import annotations

import pytest

from catalog import teams
from catalog.access import NotAllowed
from catalog.models import Agent, JournalEntry, Role, Skill, Team
from catalog.teams import BadTeam, StillReferred, TeamTaken
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


def create(cast: make.Cast, name: str = "Field Sales", slug: str = "") -> Team:
    return teams.create_team(name=name, slug=slug, actor=crew.actor(cast.ada), now=make.NOW)


def test_a_team_gets_a_slug_of_its_name(cast: make.Cast) -> None:
    team = create(cast, "  Field   Sales ")
    assert (team.slug, team.name) == ("field-sales", "Field Sales")
    assert create(cast, "财务", "finance").slug == "finance"
    first = JournalEntry.objects.get(n=1)
    assert (first.verb, first.target, first.actor) == ("team.create", "team field-sales", "ada")
    assert first.after == {"name": "Field Sales"}


@pytest.mark.parametrize(
    ("name", "slug", "message"),
    [
        ("", "x", "Give the team a name of at most 120 characters."),
        ("x" * 121, "x", "at most 120 characters"),
        ("a\u202eb", "x", "at most 120 characters"),
        ("财务", "", "use at most 64 of a-z, 0-9, - and _."),
        ("Field", "x" * 65, "use at most 64"),
        ("New", "", "A team cannot be called 'new'; a page has that name."),
    ],
)
def test_what_is_no_team(cast: make.Cast, name: str, slug: str, message: str) -> None:
    with pytest.raises(BadTeam) as refused:
        create(cast, name, slug)
    assert message in str(refused.value)


def test_names_and_slugs_are_given_once(cast: make.Cast) -> None:
    with pytest.raises(TeamTaken, match="There is a team payments already"):
        create(cast, "Pay", "payments")
    with pytest.raises(TeamTaken, match="There is a team named PAYMENTS already"):
        create(cast, "PAYMENTS", "pay")
    with pytest.raises(TeamTaken):
        teams.rename_team(team=cast.support, name="Payments", actor=crew.actor(cast.ada), now=make.NOW)
    assert crew.verbs() == []


def test_a_renamed_team_keeps_its_slug(cast: make.Cast) -> None:
    for _ in range(2):
        team = teams.rename_team(team=cast.payments, name="Money", actor=crew.actor(cast.ada), now=make.NOW)
    assert (team.slug, team.name) == ("payments", "Money")
    only = JournalEntry.objects.get()
    assert (only.verb, only.before, only.after) == ("team.rename", {"name": "Payments"}, {"name": "Money"})
    same = teams.rename_team(team=team, name="MONEY", actor=crew.actor(cast.ada), now=make.NOW)
    assert same.name == "MONEY"


@pytest.mark.parametrize("name", ["ines", "mara", "nora"])
def test_only_administrators(cast: make.Cast, name: str) -> None:
    actor = crew.actor(getattr(cast, name))
    with pytest.raises(NotAllowed, match="by administrators"):
        teams.create_team(name="Field", actor=actor, now=make.NOW)
    with pytest.raises(NotAllowed):
        teams.rename_team(team=cast.payments, name="Mine", actor=actor, now=make.NOW)
    with pytest.raises(NotAllowed):
        teams.remove_team(team=cast.payments, actor=actor, now=make.NOW)


def test_a_team_goes_when_nothing_refers_to_it(cast: make.Cast) -> None:
    make.version(cast=cast)
    make.agent(team=cast.payments)
    remove = {"team": cast.payments, "actor": crew.actor(cast.ada), "now": make.NOW}
    with pytest.raises(StillReferred, match="Payments has 1 skill, 1 agent, 2 roles; transfer"):
        teams.remove_team(**remove)
    Skill.objects.update(deleted_at=make.NOW)
    Agent.objects.update(retired_at=make.NOW)
    with pytest.raises(StillReferred, match="1 skill, 1 agent"):
        teams.remove_team(**remove)
    cast.ines.grants.all().delete()
    cast.ravi.grants.all().delete()
    Agent.objects.all().delete()
    Skill.objects.update(team=cast.support)
    for _ in range(2):
        teams.remove_team(**remove)
    assert not Team.objects.filter(slug="payments").exists()
    assert crew.verbs().count("team.remove") == 1


def test_a_delegation_keeps_its_team(cast: make.Cast) -> None:
    field = create(cast)
    make.delegation(cast.mara, cast.nora, team=field)
    with pytest.raises(StillReferred, match="Field Sales has 1 delegation;"):
        teams.remove_team(team=field, actor=crew.actor(cast.ada), now=make.NOW)


def test_the_commands_name_a_team_by_its_slug(cast: make.Cast) -> None:
    system = crew.actor(None)
    made = teams.ensure_team(slug="field-sales", actor=system, now=make.NOW)
    assert teams.ensure_team(slug="Field Sales", actor=system, now=make.NOW) == made
    assert made.name == "Field sales"
    with pytest.raises(ValueError, match="is no name of a team"):
        teams.ensure_team(slug="%%", actor=system, now=make.NOW)
    make.grant(cast.nora, Role.READER, team=made)
    assert teams.references_to(made).grants == 1
