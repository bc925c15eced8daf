"""What an agent is served, and why it is not served the rest."""

from __future__ import annotations

from typing import Any

import pytest

from catalog import resolution
from catalog.agents import Limits, settle_agent
from catalog.models import Agent, Environment, Skill, State
from catalog.withholding import Account, account_for
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db

REFUSED = "The risk is medium; up to low is allowed here."


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def desk(cast: make.Cast) -> Agent:
    """An agent of Payments; refund-check is live, at medium risk, and order-find at low."""
    make.release(make.version(cast=cast, risk_level="medium", tags=("money",)), "production", cast=cast)
    make.release(make.version("order-find", cast=cast), "production", cast=cast)
    return make.agent(team=cast.payments)


def account(agent: Agent) -> Account:
    """What the agent is served in production."""
    return account_for(agent, make.environment("production"))


def told(found: Account) -> list[tuple[str, str, str]]:
    """Name, cause and reason of what is withheld."""
    return [(one.name, str(one.cause), one.reason) for one in found.withheld]


def settle(cast: make.Cast, agent: Agent, **limits: Any) -> None:
    """A change of its limits."""
    settle_agent(agent=agent, limits=Limits(**limits), actor=crew.actor(cast.ines), now=make.NOW)
    agent.refresh_from_db()


def test_without_limits_it_is_served_all(desk: Agent) -> None:
    found = account(desk)
    assert (found.served, found.withheld) == (2, ())
    assert account_for(desk, make.environment("staging")).served == 0


def test_each_limit_is_named_at_once(cast: make.Cast, desk: Agent) -> None:
    account(desk)
    settle(cast, desk, highest_risk="low")
    found = account(desk)
    assert found.served == 1
    assert told(found) == [("refund-check", "risk", "Its risk is medium; the agent is served up to low.")]
    skill = Skill.objects.get(folder="refund-check")
    settle(cast, desk, highest_risk="high", skills=[skill], sets=[make.skill_set("shop", skill)])
    assert told(account(desk)) == [
        ("order-find", "limit", "It is not among the skills and sets that the agent is limited to.")
    ]
    settle(cast, desk, skills=[], sets=[], skill_tags=["money"])
    assert told(account(desk)) == [
        ("order-find", "limit", "It is not among the tags that the agent is limited to.")
    ]


def test_what_is_unavailable_says_why(desk: Agent) -> None:
    Environment.objects.filter(name="production").update(highest_risk="low")
    resolution.forget_cached()
    found = account(desk)
    assert found.served == 1
    assert told(found) == [("refund-check", "unavailable", REFUSED)]


def test_of_what_another_team_keeps_to_itself_nothing_is_told(cast: make.Cast, desk: Agent) -> None:
    version = make.version("their-own", team=cast.support, publisher=cast.sven)
    make.release(version, "production", cast=cast, proposer=cast.sven)
    Skill.objects.filter(pk=version.skill_id).update(visibility=Skill.Visibility.TEAM)
    resolution.forget_cached()
    assert "their-own" not in str(account(desk))
    theirs = make.agent("theirs", team=cast.support)
    assert account(theirs).served == 3


def test_a_canary_that_does_not_reach_it(cast: make.Cast, desk: Agent) -> None:
    release = make.release(
        make.version("stock-find", cast=cast), "production", cast=cast, state=State.CANARY, percent=1
    )
    assert release.percent == 1
    found = account(desk)
    assert told(found) == [("stock-find", "canary", "It has a canary alone, which does not reach the agent.")]


def test_a_bounded_number_of_queries(
    cast: make.Cast, desk: Agent, django_assert_max_num_queries: Any
) -> None:
    settle(cast, desk, skills=list(Skill.objects.all()), skill_tags=["money"])
    account(desk)
    with django_assert_max_num_queries(8):
        account(desk)
