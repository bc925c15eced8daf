"""Whom a token speaks for: scopes, expiry, revocation within two seconds, agents and users apart."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from catalog import tokens
from catalog.journal import Actor
from catalog.models import Agent, Team, Token, User, Version
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db

OF_USERS = {
    "read": [("GET", "skills"), ("GET", "skills/x"), ("GET", "releases"), ("GET", "skills/x/versions")],
    "publish": [("POST", "publish")],
    "release": [("POST", "releases"), ("POST", "releases/01936f0e-7c1a-7000-8000-000000000001/start")],
    "traces:read": [("GET", "traces"), ("GET", "traces/t-1")],
    "admin": [("GET", "audit-log"), ("GET", "audit-log/verify")],
}
OF_AGENTS = {
    "feed": [
        *(("GET", "feed"), ("GET", "feed/advertise"), ("POST", "feed/advertise"), ("GET", "feed/tools")),
        *(
            ("GET", "feed/skills/x"),
            ("GET", "feed/skills/x/bundle.zip"),
            ("GET", "feed/skills/x/resources/a"),
        ),
    ],
    "traces:write": [("POST", "traces")],
}
ALL = {**OF_USERS, **OF_AGENTS}


def status(who: Caller, method: str, path: str) -> int:
    """The status of an otherwise empty request."""
    more: dict[str, Any] = {"data": "{}", "content_type": "application/json"} if method == "POST" else {}
    return int(who.send(method, path, **more).status_code)


@pytest.mark.parametrize("scope", list(ALL))
def test_a_scope_opens_its_endpoints_and_no_other(cast: make.Cast, scope: str) -> None:
    if scope in OF_USERS:
        who = caller(cast, "ada", (scope,))
    else:
        who = Caller(make.token(agent=make.agent(team=cast.payments), scopes=(scope,))[1])
    for other, addresses in ALL.items():
        for method, path in addresses:
            answer = status(who, method, path)
            if other == scope:
                assert answer not in {401, 403}, (method, path)
            else:
                assert answer == 403, (method, path)
    for addresses in ALL.values():
        for method, path in addresses:
            assert status(Caller(), method, path) == 401


def test_an_expired_token(cast: make.Cast) -> None:
    row, secret = make.token(user=cast.ines)
    assert Caller(secret).get("skills").status_code == 200
    Token.objects.filter(pk=row.pk).update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    tokens.forget_cached()
    assert_problem(Caller(secret).get("skills"), 401, "token-invalid")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets the clock forward."""
    began, ahead = timezone.now(), [0.0]
    monkeypatch.setattr(timezone, "now", lambda: began + timedelta(seconds=ahead[0]))

    def forward(seconds: float) -> None:
        ahead[0] += seconds

    return forward


def test_a_revocation_elsewhere_is_seen_within_two_seconds(
    cast: make.Cast, refunds: Version, clock: Callable[[float], None]
) -> None:
    row, secret = make.token(agent=make.agent(team=cast.payments))
    assert Caller(secret).get("feed").status_code == 200
    # As another process does it: this one is told nothing.
    Token.objects.filter(pk=row.pk).update(revoked_at=datetime.now(UTC))
    clock(2)
    assert Caller(secret).get("feed").status_code == 401


def test_a_revocation_here_is_seen_at_once(cast: make.Cast) -> None:
    row, secret = make.token(user=cast.ines)
    assert Caller(secret).get("skills").status_code == 200
    tokens.revoke_token(token=row, actor=Actor(user=cast.ada), now=datetime.now(UTC))
    assert_problem(Caller(secret).get("skills"), 401, "token-invalid")


def test_a_closed_account_and_a_retired_agent(cast: make.Cast, clock: Callable[[float], None]) -> None:
    ines = caller(cast, "ines")
    assert ines.get("skills").status_code == 200
    User.objects.filter(pk=cast.ines.pk).update(is_active=False)
    assert ines.get("skills").status_code == 401
    assert ines.publish(make.skill_md()).status_code == 401
    _, secret = make.token(agent=make.agent(team=cast.payments))
    assert Caller(secret).get("feed").status_code == 200
    Agent.objects.update(retired_at=datetime.now(UTC))
    clock(2)
    assert Caller(secret).get("feed").status_code == 401


def test_a_token_never_gives_more_than_its_owner_has(cast: make.Cast) -> None:
    ravi = caller(cast, "ravi")
    make.version(cast=cast)
    assert_problem(ravi.publish(make.skill_md()), 403, "not-allowed")
    where = {"skill": "refund-check", "version": "1.0.0", "environment": "production"}
    assert_problem(ravi.post("releases", where), 403, "not-allowed")
    assert_problem(ravi.get("audit-log"), 403, "not-allowed")
    assert ravi.get("traces").json()["items"] == []


def run(*words: str) -> str:
    """What `manage.py token` prints."""
    out = StringIO()
    call_command("token", *words, stdout=out)
    return out.getvalue()


def test_the_command_makes_what_is_missing_and_prints_the_token_alone() -> None:
    words = ("user", "kim", "--role", "publisher", "--team", "shop", "--scopes", "read", "publish", "release")
    printed = run(*words)
    assert printed.startswith("qm_")
    assert len(printed.split()) == 1
    kim = Caller(printed.strip())
    assert kim.publish(make.skill_md(), team="shop").status_code == 201
    assert run(*words) != printed
    assert (User.objects.count(), Team.objects.filter(slug="shop").count()) == (1, 1)
    desk = Caller(run("agent", "desk", "--environment", "staging", "--scopes", "feed,traces:write").strip())
    assert desk.get("feed").json()["environment"] == "staging"
    assert desk.post("traces", {"calls": []}).status_code == 202


@pytest.mark.parametrize(
    "words",
    [
        ("user", "kim", "--scopes", "fly"),
        ("user", "kim", "--scopes", "feed"),
        ("agent", "desk", "--environment", "production", "--scopes", "read"),
        ("agent", "desk", "--environment", "moon", "--scopes", "feed"),
        ("user", "kim", "--scopes", "read", "--days", "0"),
        ("user", "kim", "--scopes", "read", "--days", "366"),
    ],
)
def test_a_token_that_cannot_be(words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        run(*words)
    assert not Token.objects.exists()
    assert not User.objects.exists()
