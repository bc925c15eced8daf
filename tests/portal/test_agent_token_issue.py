"""A token of an agent: its secret is shown once."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from catalog.models import Agent, JournalEntry, Token
from catalog.tokens import digest_of
from tests import make
from tests.portal.answers import HTMX, secret_in, text_of

pytestmark = pytest.mark.django_db

ISSUE = {"name": "Main", "environment": "production", "scopes": ["feed"], "days": "90"}


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
        ({"environment": "moon"}, "There is no such environment, or you do not manage the agent there."),
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


def test_a_publisher_for_one_environment_issues_there_alone(
    client: Client, cast: make.Cast, desk: Agent
) -> None:
    make.grant(cast.nora, "publisher", team=cast.payments, environment=make.environment("staging"))
    client.force_login(cast.nora)
    page = text_of(client.get("/agents/front-desk/"))
    assert '<option value="staging">' in page
    assert '<option value="production">' not in page
    assert client.post("/agents/front-desk/tokens/", ISSUE).status_code == 422
    assert client.post("/agents/front-desk/tokens/", {**ISSUE, "environment": "staging"}).status_code == 200
    assert [token.environment and token.environment.name for token in Token.objects.all()] == ["staging"]
