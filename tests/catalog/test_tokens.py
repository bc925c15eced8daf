"""Tokens: shown once, kept as a digest, bounded in time and scope, ended within a second."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from catalog import lifecycle, publishing, tokens
from catalog.access import NotAllowed
from catalog.admission import Declared
from catalog.agents import create_agent
from catalog.bundles.files import Limits
from catalog.journal import Actor
from catalog.models import Role, Token
from catalog.tokens import BadToken, issue_token, read_token, revoke_token
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db

SOON = make.NOW + timedelta(milliseconds=900)
LATER = make.NOW + timedelta(seconds=1)


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


def of_agent(cast: make.Cast, **fields: Any) -> tuple[Token, str]:
    """A token of an agent of Payments in production."""
    agent = fields.pop("agent", None) or make.agent(team=cast.payments)
    told = {"actor": crew.actor(cast.ines), "scopes": ["feed"], "now": make.NOW, "agent": agent}
    return issue_token(**{**told, "environment": make.environment("production"), **fields})


def test_only_the_digest_is_kept(cast: make.Cast) -> None:
    token, secret = of_agent(cast, scopes=["traces:write", "feed", "feed"])
    kept = Token.objects.filter(pk=token.pk).values().get()
    assert secret.startswith("qm_")
    assert len(secret) == 46
    assert secret not in str(kept)
    assert kept["sha256"] == tokens.digest_of(secret)
    assert kept["prefix"] == secret[:8]
    assert kept["scopes"] == ["feed", "traces:write"]
    assert crew.verbs()[-1] == "token.issue"


def test_two_tokens_are_never_alike(cast: make.Cast) -> None:
    agent = make.agent(team=cast.payments)
    assert len({of_agent(cast, agent=agent)[1] for _ in range(20)}) == 20


def test_who_it_speaks_for(cast: make.Cast) -> None:
    token, secret = of_agent(cast)
    bearer = read_token(secret, now=make.NOW)
    assert bearer is not None
    assert (bearer.agent_id, bearer.environment_id, bearer.user_id) == (
        token.agent_id,
        token.environment_id,
        None,
    )
    _, own = issue_token(actor=crew.actor(cast.ravi), user=cast.ravi, scopes=["read"], now=make.NOW)
    mine = read_token(own, now=make.NOW)
    assert mine is not None
    assert (mine.user_id, mine.scopes) == (cast.ravi.pk, {"read"})


@pytest.mark.parametrize("secret", ["", "qm_", "qm_wrong", "\x00", "\ud800", "qm_" + "x" * 10_000])
def test_what_is_no_token_is_nobody(secret: str) -> None:
    assert read_token(secret, now=make.NOW) is None


@pytest.mark.parametrize("days", [1, 90, 365])
def test_it_ends_after_its_days(cast: make.Cast, days: int) -> None:
    token, secret = of_agent(cast, days=days)
    assert token.expires_at == make.NOW + timedelta(days=days)
    assert read_token(secret, now=token.expires_at - timedelta(seconds=1)) is not None
    assert read_token(secret, now=token.expires_at) is None


def test_an_end_is_in_the_database_too(cast: make.Cast) -> None:
    token, _ = of_agent(cast)
    with pytest.raises(IntegrityError), transaction.atomic():
        Token.objects.filter(pk=token.pk).update(expires_at=None)


@pytest.mark.parametrize("days", [0, -1, 366, 10_000])
def test_a_life_out_of_bounds_is_refused(cast: make.Cast, days: int) -> None:
    with pytest.raises(BadToken, match=rf"^A token lives 1 to 365 days; {days} was asked for.$"):
        of_agent(cast, days=days)
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("scopes", "asked"), [([], "none"), (["read"], "read"), (["feed", "admin", "all"], "admin, all")]
)
def test_scopes_that_an_agent_has_not(cast: make.Cast, scopes: list[str], asked: str) -> None:
    with pytest.raises(BadToken) as refused:
        of_agent(cast, scopes=scopes)
    assert str(refused.value) == (
        f"The scopes of this token are feed, traces:write, evaluations:write; {asked} was asked for."
    )


def test_scopes_that_a_user_has_not(cast: make.Cast) -> None:
    with pytest.raises(BadToken, match="feed was asked for"):
        issue_token(actor=crew.actor(cast.ines), user=cast.ines, scopes=["feed"], now=make.NOW)


def test_it_is_of_an_agent_somewhere_or_of_a_user(cast: make.Cast) -> None:
    agent, where = make.agent(team=cast.payments), make.environment("production")
    for wrong in (
        {},
        {"agent": agent},
        {"environment": where},
        {"agent": agent, "environment": where, "user": cast.ines},
        {"user": cast.ines, "environment": where},
    ):
        scopes = ["evaluations:write"]
        with pytest.raises(BadToken, match=r"^A token is of an agent in one environment, or of a user.$"):
            issue_token(actor=crew.actor(None), scopes=scopes, now=make.NOW, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("ines", True), ("ada", True), ("sven", False), ("mara", False), ("ravi", False), ("nora", False)],
)
def test_whose_agents_tokens_one_may_issue_and_end(cast: make.Cast, name: str, allowed: bool) -> None:
    agent = make.agent(team=cast.payments)
    who = crew.actor(getattr(cast, name))
    token, _ = of_agent(cast, agent=agent, actor=crew.actor(None))
    if allowed:
        of_agent(cast, agent=agent, actor=who)
        revoke_token(token=token, actor=who, now=make.NOW)
        return
    with pytest.raises(NotAllowed, match=r"^Tokens of front-desk there are for the publishers of Payments.$"):
        of_agent(cast, agent=agent, actor=who)
    with pytest.raises(NotAllowed):
        revoke_token(token=token, actor=who, now=make.NOW)
    token.refresh_from_db()
    assert token.revoked_at is None


def test_nobody_issues_tokens_of_somebody_else(cast: make.Cast) -> None:
    """Nor does an administrator, who could then approve in that one's name."""
    for actor in (crew.actor(cast.ines), crew.actor(cast.ada), Actor(origin="127.0.0.1")):
        with pytest.raises(NotAllowed, match=r"^A token of a person is made by that person.$"):
            issue_token(actor=actor, user=cast.mara, scopes=["release"], now=make.NOW)
    issue_token(actor=Actor.system("command"), user=cast.mara, scopes=["release"], now=make.NOW)


@pytest.mark.parametrize(("name", "allowed"), [("ines", False), ("ada", True), ("mara", True)])
def test_who_ends_a_token_of_a_person(cast: make.Cast, name: str, allowed: bool) -> None:
    token, _ = make.token(user=cast.mara)
    if allowed:
        revoke_token(token=token, actor=crew.actor(getattr(cast, name)), now=make.NOW)
    else:
        with pytest.raises(NotAllowed, match=r"^Tokens of somebody else are ended by administrators.$"):
            revoke_token(token=token, actor=crew.actor(cast.ines), now=make.NOW)
    token.refresh_from_db()
    assert (token.revoked_at is not None) is allowed


def test_a_publisher_of_one_environment_manages_its_tokens_alone(cast: make.Cast) -> None:
    make.grant(cast.nora, "publisher", team=cast.payments, environment=make.environment("staging"))
    agent, nora = make.agent(team=cast.payments), crew.actor(cast.nora)
    of_agent(cast, agent=agent, actor=nora, environment=make.environment("staging"))
    with pytest.raises(NotAllowed):
        of_agent(cast, agent=agent, actor=nora)
    token, _ = of_agent(cast, agent=agent)
    with pytest.raises(NotAllowed):
        revoke_token(token=token, actor=nora, now=make.NOW)


def test_somebody_signed_out_may_nothing(cast: make.Cast) -> None:
    nobody = Actor(origin="127.0.0.1")
    with pytest.raises(NotAllowed):
        of_agent(cast, actor=nobody)
    with pytest.raises(NotAllowed):
        create_agent(name="front", team=cast.payments, actor=nobody, now=make.NOW)
    version = make.version(cast=cast)
    for change in (lifecycle.deprecate, lifecycle.yank, lifecycle.revoke):
        with pytest.raises(NotAllowed):
            change(version=version, actor=nobody, reason="", now=make.NOW)
    with pytest.raises(NotAllowed):
        publishing.publish(
            bundle=make.bundle({"SKILL.md": make.skill_md()}, folder="refund-check"), team=cast.payments,
            declared=Declared(), actor=nobody, provenance={}, limits=Limits(), now=make.NOW,
        )  # fmt: skip


def test_a_revocation_holds_at_once_here_and_within_a_second_elsewhere(cast: make.Cast) -> None:
    token, secret = of_agent(cast)
    assert read_token(secret, now=make.NOW) is not None
    # Another process has revoked it: this one still remembers its answer.
    Token.objects.filter(pk=token.pk).update(revoked_at=make.NOW)
    assert read_token(secret, now=SOON) is not None
    assert read_token(secret, now=LATER) is None
    Token.objects.filter(pk=token.pk).update(revoked_at=None)
    tokens.forget_cached()
    assert read_token(secret, now=make.NOW) is not None
    revoke_token(token=token, actor=crew.actor(cast.ines), now=make.NOW)
    assert read_token(secret, now=make.NOW) is None


def test_a_second_revocation_changes_nothing(cast: make.Cast) -> None:
    token, _ = of_agent(cast)
    for now in (make.NOW, LATER):
        revoke_token(token=token, actor=crew.actor(cast.ines), now=now)
    token.refresh_from_db()
    assert token.revoked_at == make.NOW
    assert crew.verbs().count("token.revoke") == 1


def test_a_clock_that_goes_back_does_not_keep_an_answer(cast: make.Cast) -> None:
    token, secret = of_agent(cast)
    assert read_token(secret, now=LATER) is not None
    Token.objects.filter(pk=token.pk).update(revoked_at=make.NOW)
    assert read_token(secret, now=make.NOW) is None


def test_tokens_of_a_retired_agent_are_refused(cast: make.Cast) -> None:
    token, secret = of_agent(cast)
    assert token.agent is not None
    token.agent.retired_at = make.NOW
    token.agent.save()
    assert read_token(secret, now=make.NOW) is None
    with pytest.raises(BadToken, match=r"^The agent front-desk is retired; its tokens are refused.$"):
        of_agent(cast, agent=token.agent)


def test_tokens_of_an_inactive_user_are_refused(cast: make.Cast) -> None:
    _, secret = issue_token(actor=crew.actor(cast.ines), user=cast.ines, scopes=["read"], now=make.NOW)
    cast.ines.is_active = False
    cast.ines.save()
    assert read_token(secret, now=make.NOW) is None


def test_the_use_of_a_token_waits_for_no_database(
    cast: make.Cast, django_assert_num_queries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, secret = of_agent(cast)
    with django_assert_num_queries(1):
        read_token(secret, now=make.NOW)
    with django_assert_num_queries(0):
        read_token(secret, now=SOON)
    with monkeypatch.context() as patch:
        patch.setattr(Token.objects, "bulk_update", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            tokens.write_uses()
    assert tokens.write_uses() == 1
    assert tokens.write_uses() == 0
    token.refresh_from_db()
    assert token.last_used_at == SOON


def test_the_minute_of_its_last_use_is_noted(cast: make.Cast) -> None:
    token, secret = of_agent(cast)
    for seconds, noted in ((0, 0), (30, 0), (61, 61)):
        read_token(secret, now=make.NOW + timedelta(seconds=seconds))
        tokens.write_uses()
        token.refresh_from_db()
        assert token.last_used_at == make.NOW + timedelta(seconds=noted)


def test_an_answer_within_the_second_asks_nothing(cast: make.Cast, django_assert_num_queries: Any) -> None:
    _, secret = of_agent(cast)
    read_token(secret, now=make.NOW)
    with django_assert_num_queries(0):
        read_token(secret, now=SOON)


def test_a_grant_changes_nothing_about_scopes(cast: make.Cast) -> None:
    make.grant(cast.ravi, Role.ADMIN)
    _, secret = issue_token(actor=crew.actor(cast.ravi), user=cast.ravi, scopes=["read"], now=make.NOW)
    bearer = read_token(secret, now=make.NOW)
    assert bearer is not None
    assert bearer.scopes == {"read"}
