"""Registering an agent."""

from __future__ import annotations

import pytest
from django.test import Client

from catalog.models import Agent, JournalEntry
from tests import make
from tests.portal.answers import text_of

pytestmark = pytest.mark.django_db


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
