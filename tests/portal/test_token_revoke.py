"""Ending a token."""

from __future__ import annotations

import pytest
from django.test import Client

from catalog.models import Agent, JournalEntry, Token
from tests import make

pytestmark = pytest.mark.django_db


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


def test_all_tokens_of_an_agent_are_revoked(ines: Client, cast: make.Cast, desk: Agent) -> None:
    for place in ("production", "staging"):
        make.token(agent=desk, environment=place)
    own, _ = make.token(user=cast.ines)
    assert "Revoke all" in ines.get("/agents/front-desk/").content.decode()
    answer = ines.post("/agents/front-desk/tokens/revoke/", follow=True)
    assert "2 tokens of front-desk are revoked." in answer.content.decode()
    assert list(Token.objects.filter(revoked_at=None)) == [own]
    assert "Revoke all" not in ines.get("/agents/front-desk/").content.decode()
    answer = ines.post("/agents/front-desk/tokens/revoke/", follow=True)
    assert "0 tokens of front-desk are revoked." in answer.content.decode()
    assert JournalEntry.objects.filter(verb="token.revoke").count() == 2
