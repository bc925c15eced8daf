"""Agents: what they are limited to, whose they are, and their end; and when the feed follows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from catalog import agents, caches
from catalog.access import NotAllowed
from catalog.advertisement import BadTemplate
from catalog.agents import (
    BadName,
    Limits,
    NameTaken,
    Retired,
    create_agent,
    retire_agent,
    settle_agent,
    transfer_agent,
)
from catalog.models import Agent, JournalEntry, Skill, Token
from catalog.resolution import feed_of
from catalog.tokens import BadToken, read_token
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def desk(cast: make.Cast) -> Agent:
    """An agent of Payments with a token in production."""
    agent = make.agent(team=cast.payments)
    make.token(agent=agent, now=make.NOW)
    return agent


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Lets so many seconds pass for what a process remembers."""
    ahead, clock = [0.0], caches.monotonic

    def forward(seconds: float) -> None:
        ahead[0] += seconds

    monkeypatch.setattr(caches, "monotonic", lambda: clock() + ahead[0])
    return forward


def settle(agent: Agent, cast: make.Cast, **limits: Any) -> Agent:
    """A change by Ines."""
    return settle_agent(agent=agent, limits=Limits(**limits), actor=crew.actor(cast.ines), now=make.NOW)


def served(agent: Agent) -> list[str]:
    """What the agent's next poll lists."""
    where = make.environment("production").pk
    return sorted(feed_of(agent_id=agent.pk, environment_id=where).served)


def test_what_is_named_changes_and_the_rest_stays(cast: make.Cast, desk: Agent) -> None:
    skill, shop = make.version(cast=cast).skill, make.skill_set("shop")
    settle(desk, cast, description="Answers.", tags=["pilot"], highest_risk="medium", template="Use {skills}")
    settle(desk, cast, skills=[skill], sets=[shop], skill_tags=["money"])
    desk.refresh_from_db()
    assert agents.told_of(desk) == {
        "description": "Answers.",
        "tags": ["pilot"],
        "skills": ["refund-check"],
        "sets": ["shop"],
        "skill_tags": ["money"],
        "highest_risk": "medium",
        "template": "Use {skills}",
    }
    entry = JournalEntry.objects.order_by("n").last()
    assert entry is not None
    assert (entry.verb, entry.target, entry.actor) == ("agent.settle", "agent front-desk", "ines")
    assert entry.before == {"skills": [], "sets": [], "skill_tags": []}
    assert entry.after == {"skills": ["refund-check"], "sets": ["shop"], "skill_tags": ["money"]}


def test_nothing_is_written_where_nothing_differs(cast: make.Cast, desk: Agent) -> None:
    settle(desk, cast, highest_risk="low")
    settle(desk, cast, highest_risk="low", description="", skills=[])
    assert crew.verbs().count("agent.settle") == 1


def test_a_template_that_cannot_be_filled_changes_nothing(cast: make.Cast, desk: Agent) -> None:
    for template in ("No place for them", "{skills} {secrets}", "{skills", "{skills!r}"):
        with pytest.raises(BadTemplate):
            settle(desk, cast, template=template, highest_risk="low")
    desk.refresh_from_db()
    assert (desk.template, desk.highest_risk) == ("", "high")
    with pytest.raises(BadTemplate):
        create_agent(name="till", team=cast.payments, template="{", actor=crew.actor(cast.ines), now=make.NOW)
    assert "agent.settle" not in crew.verbs()


LIMITED: tuple[tuple[dict[str, Any], list[str]], ...] = (
    ({"highest_risk": "low"}, ["order-find"]),
    ({"skill_tags": ["money"]}, ["refund-check"]),
    ({"skills": ["order-find"]}, ["order-find"]),
    ({"sets": ["shop"]}, ["refund-check"]),
    ({"skills": ["order-find"], "sets": ["shop"]}, []),
)


@pytest.mark.parametrize(("limits", "left"), LIMITED)
def test_limits_bite_at_the_next_poll(
    cast: make.Cast, desk: Agent, later: Callable[[float], None], limits: dict[str, Any], left: list[str]
) -> None:
    risky = make.version(cast=cast, risk_level="medium", tags=("money",))
    make.release(risky, "production", cast=cast)
    make.release(make.version("order-find", cast=cast), "production", cast=cast)
    sets = {"shop": make.skill_set("shop", risky.skill)}
    assert served(desk) == ["order-find", "refund-check"]
    named = {
        "skills": list(Skill.objects.filter(folder__in=limits.get("skills", ()))),
        "sets": [sets[slug] for slug in limits.get("sets", ())],
    }
    settle(desk, cast, **{**limits, **{kind: rows for kind, rows in named.items() if kind in limits}})
    later(2)
    assert served(desk) == left
    settle(desk, cast, skills=[], sets=[], skill_tags=[], highest_risk="high")
    later(2)
    assert served(desk) == ["order-find", "refund-check"]


def test_a_transfer_changes_whose_skills_it_sees(
    cast: make.Cast, desk: Agent, later: Callable[[float], None]
) -> None:
    owners = (("refund-check", cast.payments, cast.ines), ("order-find", cast.support, cast.sven))
    for name, team, who in owners:
        version = make.version(name, team=team, publisher=who)
        make.release(version, "production", cast=cast, proposer=who)
        Skill.objects.filter(pk=version.skill_id).update(visibility=Skill.Visibility.TEAM)
    assert served(desk) == ["refund-check"]
    actor = crew.actor(cast.ada)
    moved = transfer_agent(
        agent=desk, team=cast.support, actor=actor, reason="They run the desk.", now=make.NOW
    )
    assert moved.team == cast.support
    later(2)
    assert served(desk) == ["order-find"]
    entry = JournalEntry.objects.get(verb="agent.transfer")
    assert entry.before == {"team": "payments"}
    assert entry.after == {"team": "support", "reason": "They run the desk."}
    transfer_agent(agent=desk, team=cast.support, actor=actor, reason="Again.", now=make.NOW)
    assert crew.verbs().count("agent.transfer") == 1


def test_who_transfers(cast: make.Cast, desk: Agent) -> None:
    told = {"agent": desk, "team": cast.support, "reason": "", "now": make.NOW}
    for name in ("sven", "mara", "lena", "ravi", "nora"):
        with pytest.raises(NotAllowed):
            transfer_agent(actor=crew.actor(getattr(cast, name)), **told)
    with pytest.raises(NotAllowed, match=r"^Taking it over for Support needs the role publisher there"):
        transfer_agent(actor=crew.actor(cast.ines), **told)
    make.grant(cast.ines, "publisher", team=cast.support, environment=make.environment("staging"))
    with pytest.raises(NotAllowed):
        transfer_agent(actor=crew.actor(cast.ines), **told)
    make.grant(cast.ines, "publisher", team=cast.support)
    transfer_agent(actor=crew.actor(cast.ines), **told)


@pytest.mark.parametrize("name", ["sven", "mara", "lena", "ravi", "nora"])
def test_others_change_and_retire_nothing(cast: make.Cast, desk: Agent, name: str) -> None:
    actor = crew.actor(getattr(cast, name))
    with pytest.raises(NotAllowed, match=r"^The agent front-desk is changed by publishers of Payments"):
        settle_agent(agent=desk, limits=Limits(highest_risk="low"), actor=actor, now=make.NOW)
    with pytest.raises(NotAllowed):
        retire_agent(agent=desk, actor=actor, reason="", now=make.NOW)
    desk.refresh_from_db()
    assert (desk.highest_risk, desk.retired_at) == ("high", None)


def test_a_publisher_for_one_environment_changes_what_works_nowhere_else(
    cast: make.Cast, desk: Agent
) -> None:
    make.grant(cast.nora, "publisher", team=cast.payments, environment=make.environment("staging"))
    nora = crew.actor(cast.nora)
    other = make.agent("till", team=cast.payments)
    make.token(agent=other, environment="staging", now=make.NOW)
    settle_agent(agent=other, limits=Limits(highest_risk="low"), actor=nora, now=make.NOW)
    # Its token works in production: what it is limited to there is not hers to say.
    with pytest.raises(NotAllowed):
        settle_agent(agent=desk, limits=Limits(highest_risk="low"), actor=nora, now=make.NOW)
    Token.objects.filter(agent=desk).update(revoked_at=make.NOW)
    settle_agent(agent=desk, limits=Limits(highest_risk="low"), actor=nora, now=make.NOW)


def test_retirement_ends_every_token_and_keeps_the_name(cast: make.Cast, desk: Agent) -> None:
    secrets = [make.token(agent=desk, environment=one, now=make.NOW)[1] for one in ("staging", "production")]
    assert all(read_token(secret, now=make.NOW) for secret in secrets)
    for reason in ("Replaced by the till.", "Again."):
        retire_agent(agent=desk, actor=crew.actor(cast.ines), reason=reason, now=make.NOW)
    desk.refresh_from_db()
    assert desk.retired_at == make.NOW
    assert not any(read_token(secret, now=make.NOW) for secret in secrets)
    assert crew.verbs().count("agent.retire") == 1
    assert crew.verbs().count("token.revoke") == 3
    assert JournalEntry.objects.get(verb="agent.retire").after == {"reason": "Replaced by the till."}
    with pytest.raises(NameTaken, match=r"^There is an agent named front-desk already.$"):
        create_agent(name="front-desk", team=cast.support, actor=crew.actor(cast.sven), now=make.NOW)
    with pytest.raises(Retired, match=r"^The agent front-desk is retired; nothing of it changes any more.$"):
        settle(desk, cast, highest_risk="low")
    with pytest.raises(Retired):
        transfer_agent(agent=desk, team=cast.support, actor=crew.actor(cast.ada), reason="", now=make.NOW)
    with pytest.raises(BadToken):
        make.token(agent=desk)


def test_a_retirement_elsewhere_is_obeyed_within_a_second(cast: make.Cast, desk: Agent) -> None:
    _, secret = make.token(agent=desk, now=make.NOW)
    assert read_token(secret, now=make.NOW)
    # As another process does it: this one is told nothing.
    Agent.objects.filter(pk=desk.pk).update(retired_at=make.NOW)
    assert read_token(secret, now=make.NOW + timedelta(milliseconds=900))
    assert read_token(secret, now=make.NOW + timedelta(seconds=1)) is None


@pytest.mark.parametrize("name", ["", "a b", "ä", "x" * 65, "a/b", "new"])
def test_a_name_that_no_agent_can_have(cast: make.Cast, name: str) -> None:
    with pytest.raises(BadName):
        create_agent(name=name, team=cast.payments, actor=crew.actor(cast.ines), now=make.NOW)
    assert not Agent.objects.exists()
