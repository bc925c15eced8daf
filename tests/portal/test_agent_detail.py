"""The page of one agent."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from catalog import resolution
from catalog.models import Agent, Release, Token
from tests import make
from tests.portal.answers import HTMX, text_of
from tests.portal.pages import is_page
from tests.portal.reports import report

pytestmark = pytest.mark.django_db

ISSUE = {"name": "Main", "environment": "production", "scopes": ["feed"], "days": "90"}


def test_an_agent_of_another_team_is_not_there(client: Client, cast: make.Cast, desk: Agent) -> None:
    client.force_login(cast.sven)
    token, _ = make.token(agent=desk)
    assert client.get("/agents/front-desk/").status_code == 404
    assert client.post("/agents/front-desk/tokens/", ISSUE).status_code == 404
    assert client.post(f"/tokens/{token.pk}/revoke/").status_code == 404
    assert Token.objects.get().revoked_at is None


def test_what_it_is_served_and_why_not_the_rest(
    ines: Client, cast: make.Cast, desk: Agent, live: Release
) -> None:
    assert "No token of it works, so it is served nothing." in text_of(ines.get("/agents/front-desk/"))
    make.token(agent=desk)
    make.token(agent=desk, environment="staging")
    text = text_of(ines.get("/agents/front-desk/"))
    assert "<b>1 skill</b> · everything there" in text
    assert "<b>0 skills</b> · nothing is live there yet" in text
    make.release(make.version("order-find", cast=cast, risk_level="medium"), "production", cast=cast)
    sent = {"highest_risk": "low", "skills": "order-find"}
    assert ines.post("/agents/front-desk/settings/", sent).status_code == 302
    # A release is seen within a second, limits at once.
    resolution.forget_cached()
    text = text_of(ines.get("/agents/front-desk/"))
    assert text.count("<b>0 skills</b>") == 2
    assert "nothing is live there yet" in text
    assert "2 skills there are not served to it" in text
    assert "It is not among the skills that the agent is limited to." in text
    assert "Its risk is medium; the agent is served up to low." in text


def test_when_it_was_last_seen(ines: Client, desk: Agent) -> None:
    assert "<dt>Last seen</dt><dd>never</dd>" in text_of(ines.get("/agents/front-desk/"))
    report(desk, {})
    assert "<dt>Last seen</dt><dd><time" in text_of(ines.get("/agents/front-desk/"))


def test_ended_tokens_are_folded_away(ines: Client, desk: Agent) -> None:
    now = timezone.now()
    make.token(agent=desk, now=now - timedelta(days=91))
    revoked, _ = make.token(agent=desk)
    good, _ = make.token(agent=desk, days=8)
    soon, _ = make.token(agent=desk, days=6)
    Token.objects.filter(pk=revoked.pk).update(revoked_at=now)
    text = text_of(ines.get("/agents/front-desk/"))
    working, _, ended = text.partition('<details class="ended">')
    assert "2 tokens that are expired or revoked" in ended
    assert revoked.prefix in ended
    assert revoked.prefix not in working
    assert good.prefix in working
    amber = working.count('data-tone="warn"')
    assert amber == 1
    assert working.index(soon.prefix) < working.index('data-tone="warn"')


def test_the_list_of_tokens_is_a_part_and_a_page(ines: Client, desk: Agent) -> None:
    assert is_page(ines.get("/agents/front-desk/").content.decode())
    part = ines.get("/agents/front-desk/", headers=HTMX).content.decode()
    assert not is_page(part)
    assert part.strip().startswith('<section class="card" id="tokens"')


def test_a_bounded_number_of_queries(
    ines: Client, cast: make.Cast, desk: Agent, live: Release, django_assert_max_num_queries: Any
) -> None:
    for place in ("development", "staging", "production"):
        for _ in range(5):
            make.token(agent=desk, environment=place)
    ines.get("/agents/front-desk/")
    with django_assert_max_num_queries(45):
        text = text_of(ines.get("/agents/front-desk/"))
    assert text.count("btn--danger") == 15 * 2 + 2
