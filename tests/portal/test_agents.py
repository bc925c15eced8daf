"""Agents and tokens in the portal; a secret is shown once."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.utils import timezone

from catalog.models import Agent, JournalEntry, Token
from catalog.tokens import digest_of
from tests import make
from tests.portal.answers import HTMX, text_of

pytestmark = pytest.mark.django_db

ISSUE = {"name": "Main", "environment": "production", "scopes": ["feed"], "days": "90"}


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def desk(cast: make.Cast) -> Agent:
    """An agent of Payments."""
    return make.agent(team=cast.payments)


@pytest.fixture
def ines(client: Client, cast: make.Cast) -> Client:
    """Ines, publisher in Payments, signed in."""
    client.force_login(cast.ines)
    return client


def secret_in(text: str) -> str:
    """The token that an answer shows."""
    found = re.search(r"<code>(qm_[\w-]+)</code>", text)
    assert found
    return found[1]


def test_publishers_see_their_agents_and_others_none(
    ines: Client, cast: make.Cast, desk: Agent, django_assert_max_num_queries: Any
) -> None:
    for n in range(5):
        make.token(agent=make.agent(f"desk-{n}", team=cast.payments))
    make.agent("foreign", team=cast.support)
    with django_assert_max_num_queries(12):
        text = text_of(ines.get("/agents/"))
    assert "front-desk" in text
    assert "desk-4" in text
    assert "foreign" not in text
    assert ines.post("/agents/").status_code == 405
    ines.force_login(cast.ravi)
    text = text_of(ines.get("/agents/"))
    assert "No agent yet" in text
    assert "Register an agent" not in text


def test_an_agent_is_registered_with_its_limits(ines: Client, cast: make.Cast) -> None:
    skill = make.version(cast=cast).skill
    sent = {
        "name": "till",
        "team": "payments",
        "highest_risk": "medium",
        "skills": "refund-check",
        "skill_tags": "money, shop",
    }
    answer = ines.post("/agents/new/", sent)
    assert answer["Location"] == "/agents/till/"
    agent = Agent.objects.get()
    assert (agent.team, agent.highest_risk, agent.skill_tags) == (cast.payments, "medium", ["money", "shop"])
    assert list(agent.skills.all()) == [skill]
    assert JournalEntry.objects.filter(verb="agent.create", actor="ines").count() == 1
    assert ines.post("/agents/new/", sent).status_code == 422
    assert Agent.objects.count() == 1


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        ({"name": ""}, 422, "This field is required."),
        ({"name": "a b"}, 422, "Use letters, digits, hyphens and underscores only."),
        ({"team": "support"}, 403, "You do not publish for this team."),
        ({"skills": "no-such, refund-check"}, 422, "There is no skill named no-such."),
        ({"highest_risk": "extreme"}, 422, "extreme is not one of the available choices."),
    ],
)
def test_bad_input_is_said_and_kept(
    ines: Client, cast: make.Cast, sent: dict[str, str], status: int, message: str
) -> None:
    make.version(cast=cast)
    good = {"name": "till", "team": "payments", "highest_risk": "high", "description": "Serves the till."}
    answer = ines.post("/agents/new/", {**good, **sent})
    assert answer.status_code == status
    assert message in text_of(answer)
    assert "Serves the till.</textarea>" in text_of(answer)
    assert not Agent.objects.exists()


@pytest.mark.parametrize("name", ["ravi", "mara", "lena", "nora"])
def test_others_register_nothing(client: Client, cast: make.Cast, name: str) -> None:
    client.force_login(getattr(cast, name))
    assert client.get("/agents/new/").status_code == 403
    answer = client.post("/agents/new/", {"name": "till", "team": "payments", "highest_risk": "high"})
    assert answer.status_code == 403
    assert not Agent.objects.exists()


def test_an_agent_of_another_team_is_not_there(client: Client, cast: make.Cast, desk: Agent) -> None:
    client.force_login(cast.sven)
    token, _ = make.token(agent=desk)
    assert client.get("/agents/front-desk/").status_code == 404
    assert client.post("/agents/front-desk/tokens/", ISSUE).status_code == 404
    assert client.post(f"/tokens/{token.pk}/revoke/").status_code == 404
    assert Token.objects.get().revoked_at is None


@pytest.mark.parametrize("htmx", [False, True])
def test_the_secret_is_shown_once_and_kept_nowhere(ines: Client, desk: Agent, htmx: bool) -> None:
    answer = ines.post("/agents/front-desk/tokens/", ISSUE, headers=HTMX if htmx else {})
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    secret = secret_in(text_of(answer))
    token = Token.objects.get()
    assert token.sha256 == digest_of(secret)
    assert (token.name, token.scopes, token.environment and token.environment.name) == (
        "Main",
        ["feed"],
        "production",
    )
    assert ("token-changed" in answer.get("HX-Trigger", "")) is htmx
    assert secret not in str(dict(ines.session))
    assert not list(get_messages(answer.wsgi_request))  # type: ignore[attr-defined]
    page = text_of(ines.get("/agents/front-desk/"))
    assert secret not in page
    assert token.prefix in page
    assert secret not in str(list(JournalEntry.objects.values_list("after", "target")))


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"days": "0"}, "greater than or equal to 1"),
        ({"days": "366"}, "less than or equal to 365"),
        ({"days": ""}, "every token has an end"),
        ({"scopes": []}, "Choose at least one scope."),
        ({"scopes": ["admin"]}, "admin is not one of the available choices."),
        ({"environment": "moon"}, "There is no such environment."),
        ({"environment": ""}, "This field is required."),
    ],
)
@pytest.mark.parametrize("htmx", [False, True])
def test_a_token_is_not_issued_as_asked(
    ines: Client, desk: Agent, sent: dict[str, Any], message: str, htmx: bool
) -> None:
    answer = ines.post("/agents/front-desk/tokens/", {**ISSUE, **sent}, headers=HTMX if htmx else {})
    assert answer.status_code == 422
    assert message in text_of(answer)
    assert 'value="Main"' in text_of(answer)
    assert answer.get("HX-Retarget") == ("#token-form" if htmx else None)
    assert not Token.objects.exists()


def test_tokens_need_a_post(ines: Client, desk: Agent) -> None:
    token, _ = make.token(agent=desk)
    for address in ("/agents/front-desk/tokens/", "/tokens/issue/", f"/tokens/{token.pk}/revoke/"):
        assert ines.get(address).status_code == 405


def test_own_tokens(ines: Client, cast: make.Cast) -> None:
    make.token(user=cast.sven)
    text = text_of(ines.get("/tokens/"))
    assert "No token yet" in text
    assert 'value="admin"' not in text
    answer = ines.post("/tokens/issue/", {"name": "CI", "scopes": ["read", "publish"], "days": "30"})
    assert "no-store" in answer["Cache-Control"]
    token = Token.objects.get(user=cast.ines)
    assert token.sha256 == digest_of(secret_in(text_of(answer)))
    assert token.agent is None
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=31)
    assert ines.post("/tokens/issue/", {"scopes": ["admin"], "days": "30"}).status_code == 422


def test_a_token_is_revoked_once(ines: Client, cast: make.Cast, desk: Agent) -> None:
    agent_token, _ = make.token(agent=desk)
    own, _ = make.token(user=cast.ines)
    foreign, _ = make.token(user=cast.sven)
    assert ines.post(f"/tokens/{agent_token.pk}/revoke/")["Location"] == "/agents/front-desk/"
    first = Token.objects.get(pk=agent_token.pk).revoked_at
    assert first
    assert ines.post(f"/tokens/{agent_token.pk}/revoke/").status_code == 302
    assert Token.objects.get(pk=agent_token.pk).revoked_at == first
    assert ines.post(f"/tokens/{own.pk}/revoke/")["Location"] == "/tokens/"
    assert ines.post(f"/tokens/{foreign.pk}/revoke/").status_code == 404
    assert JournalEntry.objects.filter(verb="token.revoke").count() == 2
