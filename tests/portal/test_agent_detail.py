"""The page of one agent."""

from __future__ import annotations

import pytest
from django.test import Client

from catalog.models import Agent, Token
from tests import make

pytestmark = pytest.mark.django_db

ISSUE = {"name": "Main", "environment": "production", "scopes": ["feed"], "days": "90"}


def test_an_agent_of_another_team_is_not_there(client: Client, cast: make.Cast, desk: Agent) -> None:
    client.force_login(cast.sven)
    token, _ = make.token(agent=desk)
    assert client.get("/agents/front-desk/").status_code == 404
    assert client.post("/agents/front-desk/tokens/", ISSUE).status_code == 404
    assert client.post(f"/tokens/{token.pk}/revoke/").status_code == 404
    assert Token.objects.get().revoked_at is None
