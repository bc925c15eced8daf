"""The agents of a team."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from catalog.models import Agent
from tests import make
from tests.portal.answers import text_of
from tests.portal.reports import report

pytestmark = pytest.mark.django_db


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


def test_an_agent_is_last_seen_when_it_last_reported(ines: Client, desk: Agent) -> None:
    assert "never" in text_of(ines.get("/agents/"))
    report(desk, {})
    text = text_of(ines.get("/agents/"))
    assert "never" not in text
    assert "Today" in text
