"""A token that is replaced by one of the same terms, with an overlap; and the end of all tokens of an agent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from catalog import tokens
from catalog.access import NotAllowed
from catalog.agents import retire_agent
from catalog.journal import Actor
from catalog.models import Agent, JournalEntry, Token
from catalog.rotation import NotRotatable, revoke_tokens_of, rotate_token
from catalog.tokens import BadToken, read_token, revoke_token
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def held(cast: make.Cast) -> tuple[Token, str]:
    """A token of an agent of Payments in production, and its secret."""
    return make.token(agent=make.agent(team=cast.payments), scopes=("feed", "traces:write"), now=make.NOW)


def rotate(token: Token, actor: Actor, **more: Any) -> tuple[Token, str]:
    """The token replaced an hour after it was issued."""
    return rotate_token(token=token, actor=actor, now=make.NOW + HOUR, **more)


def test_both_work_until_the_overlap_ends(cast: make.Cast, held: tuple[Token, str]) -> None:
    old, secret = held
    new, fresh = rotate(old, crew.actor(cast.ines), overlap_hours=2)
    assert fresh != secret
    for name in ("name", "agent", "environment", "user", "scopes"):
        assert getattr(new, name) == getattr(old, name)
    assert new.expires_at == make.NOW + HOUR + timedelta(days=90)
    old.refresh_from_db()
    assert (old.replaced_by, old.expires_at, old.revoked_at) == (new, make.NOW + 3 * HOUR, None)
    last = make.NOW + 3 * HOUR
    assert [bool(read_token(one, now=last - timedelta(seconds=1))) for one in (secret, fresh)] == [True, True]
    assert [bool(read_token(one, now=last)) for one in (secret, fresh)] == [False, True]
    entry = JournalEntry.objects.get(verb="token.rotate")
    assert entry.target == f"token {old.prefix}"
    assert entry.before == {"expires_at": str(make.NOW + timedelta(days=90))}
    assert entry.after == {
        "of": "front-desk",
        "expires_at": str(last),
        "replaced_by": new.prefix,
        "new_expires_at": str(new.expires_at),
    }


@pytest.mark.parametrize(
    ("life", "days", "expected"), [(30, None, 30), (365, None, 365), (30, 365, 365), (1, None, 1)]
)
def test_how_long_the_new_one_lives(cast: make.Cast, life: int, days: int | None, expected: int) -> None:
    token, _ = make.token(user=cast.ines, days=life, now=make.NOW)
    new, _ = rotate(token, crew.actor(cast.ines), days=days)
    assert new.expires_at - new.created_at == timedelta(days=expected)


def test_the_overlap_never_lengthens_a_life(cast: make.Cast) -> None:
    token, _ = make.token(user=cast.ines, days=1, now=make.NOW)
    rotate(token, crew.actor(cast.ines), overlap_hours=168)
    token.refresh_from_db()
    assert token.expires_at == make.NOW + timedelta(days=1)


@pytest.mark.parametrize("hours", [-1, 169, 10_000])
def test_an_overlap_out_of_bounds(cast: make.Cast, held: tuple[Token, str], hours: int) -> None:
    with pytest.raises(BadToken, match=rf"^An overlap has 0 to 168 hours; {hours} was asked for.$"):
        rotate(held[0], crew.actor(cast.ines), overlap_hours=hours)
    for days in (0, 366):
        with pytest.raises(BadToken, match=r"^A token lives 1 to 365 days"):
            rotate(held[0], crew.actor(cast.ines), days=days)
    assert Token.objects.count() == 1


def test_what_cannot_be_replaced(cast: make.Cast, held: tuple[Token, str]) -> None:
    old, ines = held[0], crew.actor(cast.ines)
    rotate(old, ines)
    with pytest.raises(NotRotatable, match=r"^The token .{8}… is replaced already; issue a new one.$"):
        rotate(old, ines)
    revoked, _ = make.token(user=cast.ines, now=make.NOW)
    revoke_token(token=revoked, actor=ines, now=make.NOW)
    with pytest.raises(NotRotatable, match="is revoked"):
        rotate(revoked, ines)
    expired, _ = make.token(user=cast.ines, days=1, now=make.NOW - timedelta(days=1))
    with pytest.raises(NotRotatable, match="is expired"):
        rotate(expired, ines)
    assert Token.objects.count() == 4
    assert crew.verbs().count("token.rotate") == 1


def test_the_new_one_can_be_replaced_in_turn(cast: make.Cast, held: tuple[Token, str]) -> None:
    ines = crew.actor(cast.ines)
    second, _ = rotate(held[0], ines)
    third, secret = rotate(second, ines)
    assert read_token(secret, now=make.NOW + HOUR)
    second.refresh_from_db()
    assert second.replaced_by == third


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("ines", True), ("ada", True), ("sven", False), ("mara", False), ("ravi", False), ("nora", False)],
)
def test_who_replaces_tokens_of_agents(
    cast: make.Cast, held: tuple[Token, str], name: str, allowed: bool
) -> None:
    if allowed:
        rotate(held[0], crew.actor(getattr(cast, name)))
        return
    with pytest.raises(NotAllowed):
        rotate(held[0], crew.actor(getattr(cast, name)))
    assert Token.objects.count() == 1


def test_nobody_gets_a_secret_of_somebody_else(cast: make.Cast) -> None:
    token, _ = make.token(user=cast.mara, scopes=("release",), now=make.NOW)
    for actor in (crew.actor(cast.ada), crew.actor(cast.ines), Actor(origin="127.0.0.1")):
        with pytest.raises(NotAllowed, match=r"^A token of a person is made by that person.$"):
            rotate(token, actor)
    rotate(token, crew.actor(cast.mara))


def test_a_publisher_for_one_environment_replaces_its_tokens_alone(
    cast: make.Cast, held: tuple[Token, str]
) -> None:
    make.grant(cast.nora, "publisher", team=cast.payments, environment=make.environment("staging"))
    assert held[0].agent is not None
    there, _ = make.token(agent=held[0].agent, environment="staging", now=make.NOW)
    rotate(there, crew.actor(cast.nora))
    with pytest.raises(NotAllowed):
        rotate(held[0], crew.actor(cast.nora))
    with pytest.raises(NotAllowed):
        revoke_tokens_of(agent=held[0].agent, actor=crew.actor(cast.nora), now=make.NOW + HOUR)
    assert not Token.objects.exclude(revoked_at=None).exists()


def test_of_who_is_no_more_nothing_is_replaced(cast: make.Cast, held: tuple[Token, str]) -> None:
    own, _ = make.token(user=cast.ines, now=make.NOW)
    Agent.objects.update(retired_at=make.NOW)
    with pytest.raises(BadToken, match=r"^The agent front-desk is retired; its tokens are refused.$"):
        rotate(held[0], crew.actor(cast.ines))
    cast.ines.is_active = False
    cast.ines.save()
    with pytest.raises(BadToken, match=r"^The account of ines is closed; its tokens are refused.$"):
        rotate(own, Actor(user=cast.ines))


def as_elsewhere(change: Callable[[], object]) -> None:
    """Make a change as another process does: this one is told nothing of it."""
    known = dict(tokens._known)
    change()
    tokens._known.update(known)


def ends(cast: make.Cast, token: Token) -> dict[str, Callable[[], object]]:
    """Each way by which a token ends now."""
    ines, ada, now = crew.actor(cast.ines), crew.actor(cast.ada), make.NOW
    agent = token.agent
    assert agent is not None
    return {
        "revoked": lambda: revoke_token(token=token, actor=ines, now=now),
        "all revoked": lambda: revoke_tokens_of(agent=agent, actor=ines, now=now),
        "replaced": lambda: rotate_token(token=token, actor=ines, overlap_hours=0, now=now),
        "retired": lambda: retire_agent(agent=agent, actor=ada, reason="", now=now),
    }


@pytest.mark.parametrize("way", ["revoked", "all revoked", "replaced", "retired"])
def test_each_end_is_obeyed_here_at_once_and_within_a_second_elsewhere(
    cast: make.Cast, held: tuple[Token, str], way: str
) -> None:
    token, secret = held
    assert read_token(secret, now=make.NOW)
    as_elsewhere(ends(cast, token)[way])
    assert read_token(secret, now=make.NOW + timedelta(milliseconds=900))
    assert read_token(secret, now=make.NOW + timedelta(seconds=1)) is None
    again, secret = make.token(agent=make.agent("till", team=cast.payments), now=make.NOW)
    assert read_token(secret, now=make.NOW)
    ends(cast, again)[way]()
    assert read_token(secret, now=make.NOW) is None


def test_all_tokens_of_an_agent_end_at_once(cast: make.Cast, held: tuple[Token, str]) -> None:
    agent = held[0].agent
    assert agent is not None
    make.token(agent=agent, environment="staging", now=make.NOW)
    other, _ = make.token(agent=make.agent("till", team=cast.payments), now=make.NOW)
    ines = crew.actor(cast.ines)
    assert revoke_tokens_of(agent=agent, actor=ines, now=make.NOW) == 2
    assert revoke_tokens_of(agent=agent, actor=ines, now=make.NOW) == 0
    assert list(Token.objects.filter(revoked_at=None)) == [other]
    assert crew.verbs().count("token.revoke") == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_who_replace_a_token_at_once_one_does(shared_database: str) -> None:
    cast = make.cast()
    token, _ = make.token(agent=make.agent(team=cast.payments), now=make.NOW)
    done = crew.together([lambda: rotate(Token.objects.get(pk=token.pk), crew.actor(cast.ines))] * 4)
    assert sorted(type(one).__name__ for one in done) == ["NotRotatable"] * 3 + ["tuple"]
    assert Token.objects.count() == 2
    assert crew.verbs().count("token.rotate") == 1
    token.refresh_from_db()
    assert token.replaced_by_id


@pytest.mark.django_db(transaction=True)
def test_no_token_outlives_a_retirement_beside_it(shared_database: str) -> None:
    cast = make.cast()
    agent, ines = make.agent(team=cast.payments), crew.actor(cast.ines)
    token, _ = make.token(agent=agent, now=make.NOW)
    works: list[Callable[[], object]] = [
        lambda: make.token(agent=agent, now=make.NOW),
        lambda: rotate_token(token=token, actor=ines, now=make.NOW),
        lambda: retire_agent(agent=agent, actor=ines, reason="", now=make.NOW),
    ]
    done = crew.together(works)
    assert not isinstance(done[2], Exception), done
    assert not Token.objects.filter(revoked_at=None).exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["all revoked", "retired"])
def test_who_ends_one_of_them_meanwhile_stops_nobody(shared_database: str, way: str) -> None:
    cast = make.cast()
    agent, ines = make.agent(team=cast.payments), crew.actor(cast.ines)
    held = [make.token(agent=agent, now=make.NOW)[0] for _ in range(8)]
    works: list[Callable[[], object]] = [
        lambda token=token: revoke_token(token=token, actor=ines, now=make.NOW)  # type: ignore[misc]
        for token in reversed(held[4:])
    ]
    done = crew.together([ends(cast, held[0])[way], *works])
    assert not [one for one in done if isinstance(one, Exception)]
    assert not Token.objects.filter(revoked_at=None).exists()
    assert crew.verbs().count("token.revoke") == 8
