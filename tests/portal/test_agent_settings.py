"""The settings of an agent: its limits, its team, its end."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from catalog.models import Agent, JournalEntry, Skill, Token
from tests import make
from tests.portal.answers import text_of

pytestmark = pytest.mark.django_db

PAGE = "/agents/front-desk/settings/"
GOOD = {"description": "Answers.", "highest_risk": "medium", "skills": "", "skill_tags": "", "tags": "pilot"}


def test_limits_are_saved(ines: Client, cast: make.Cast, desk: Agent) -> None:
    skill, shop = make.version(cast=cast).skill, make.skill_set("shop")
    sent = {**GOOD, "skills": "refund-check", "sets": ["shop"], "skill_tags": "money, shop"}
    sent["template"] = "Use these:\r\n{skills}\r\n"
    assert ines.post(PAGE, sent)["Location"] == "/agents/front-desk/"
    desk.refresh_from_db()
    assert (desk.description, desk.highest_risk, desk.tags) == ("Answers.", "medium", ["pilot"])
    assert (desk.skill_tags, list(desk.skills.all()), list(desk.sets.all())) == (
        ["money", "shop"],
        [skill],
        [shop],
    )
    assert desk.template == "Use these:\n{skills}\n"
    text = text_of(ines.get(PAGE))
    for value in ('value="money, shop"', "> refund-check</textarea>", 'value="shop"', "{skills} </textarea>"):
        assert value in text
    assert ines.post(PAGE, sent).status_code == 302
    assert JournalEntry.objects.filter(verb="agent.settle").count() == 1


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"skills": "no-such"}, "There is no skill named no-such."),
        ({"highest_risk": "extreme"}, "extreme is not one of the available choices."),
        ({"template": "Nothing"}, "The template has no {skills}; the skills would be nowhere in the text."),
        ({"template": "{skills} {password}"}, "The template has {password}, which is not known"),
        ({"tags": "x" * 65}, "is longer than"),
        ({"sets": ["none"]}, "none is not one of the available choices."),
    ],
)
def test_bad_input_is_said_and_kept(
    ines: Client, cast: make.Cast, desk: Agent, sent: dict[str, Any], message: str
) -> None:
    make.skill_set("shop")
    answer = ines.post(PAGE, {**GOOD, **sent})
    assert answer.status_code == 422
    assert message in text_of(answer)
    assert "Answers.</textarea>" in text_of(answer)
    assert not JournalEntry.objects.filter(verb="agent.settle").exists()


def test_what_it_is_limited_to_already_may_stay_though_unseen(
    ines: Client, cast: make.Cast, desk: Agent
) -> None:
    theirs = make.version("their-own", team=cast.support, publisher=cast.sven).skill
    Skill.objects.filter(pk=theirs.pk).update(visibility=Skill.Visibility.TEAM)
    assert ines.post(PAGE, {**GOOD, "skills": "their-own"}).status_code == 422
    desk.skills.add(theirs)
    assert ines.post(PAGE, {**GOOD, "skills": "their-own"}).status_code == 302
    assert list(desk.skills.all()) == [theirs]


def test_an_agent_is_transferred(client: Client, cast: make.Cast, desk: Agent) -> None:
    client.force_login(cast.ada)
    address, sent = "/agents/front-desk/transfer/", {"team": "support", "reason": "They run it."}
    assert client.post(address, {"team": "support"}).status_code == 422
    assert client.post(address, {**sent, "team": "nobody"}).status_code == 422
    assert client.post(address, sent)["Location"] == "/agents/front-desk/"
    desk.refresh_from_db()
    assert desk.team == cast.support
    client.force_login(cast.ines)
    assert client.get("/agents/front-desk/").status_code == 404


def test_a_publisher_of_one_team_transfers_nothing(ines: Client, cast: make.Cast, desk: Agent) -> None:
    assert "You publish for no other team." in text_of(ines.get(PAGE))
    sent = {"team": "support", "reason": "They run it."}
    assert ines.post("/agents/front-desk/transfer/", sent).status_code == 422
    desk.refresh_from_db()
    assert desk.team == cast.payments


def test_an_agent_is_retired(ines: Client, cast: make.Cast, desk: Agent) -> None:
    make.token(agent=desk)
    address = "/agents/front-desk/retire/"
    for wrong in ({"confirm": "front", "reason": "Done."}, {"confirm": "front-desk"}):
        assert ines.post(address, wrong).status_code == 422
    assert Token.objects.get().revoked_at is None
    assert ines.post(address, {"confirm": "front-desk", "reason": "Done."})["Location"] == "/agents/"
    assert Token.objects.get().revoked_at
    text = text_of(ines.get("/agents/"))
    assert "No agent yet" in text
    assert 'href="/agents/?retired=1"' in text
    assert "front-desk" in text_of(ines.get("/agents/?retired=1"))
    page = text_of(ines.get("/agents/front-desk/"))
    assert "its name is never given again" in page
    assert "Issue a token" not in page
    assert ines.get(PAGE).status_code == 403
    assert ines.post(address, {"confirm": "front-desk", "reason": "Again."}).status_code == 403
    sent = {"name": "", "environment": "production", "scopes": ["feed"], "days": "90"}
    assert ines.post("/agents/front-desk/tokens/", sent).status_code == 422
    again = ines.post("/agents/new/", {"name": "front-desk", "team": "payments", "highest_risk": "high"})
    assert "There is an agent named front-desk already." in text_of(again)


@pytest.mark.parametrize("name", ["sven", "mara", "lena", "ravi", "nora"])
def test_others_find_nothing(client: Client, cast: make.Cast, desk: Agent, name: str) -> None:
    client.force_login(getattr(cast, name))
    assert client.get(PAGE).status_code == 404
    for part in ("settings", "transfer", "retire", "tokens/revoke"):
        assert client.post(f"/agents/front-desk/{part}/", GOOD).status_code == 404
    desk.refresh_from_db()
    assert desk.highest_risk == "high"


def test_a_publisher_elsewhere_sees_it_and_changes_nothing(
    client: Client, cast: make.Cast, desk: Agent
) -> None:
    make.grant(cast.nora, "publisher", team=cast.payments, environment=make.environment("staging"))
    make.token(agent=desk)
    client.force_login(cast.nora)
    page = text_of(client.get("/agents/front-desk/"))
    assert PAGE not in page
    assert "Revoke" not in page
    assert "Issue a token" in page
    answer = client.get(PAGE)
    assert answer.status_code == 403
    assert "wherever a token of the agent works" in text_of(answer)
    assert client.post("/agents/front-desk/tokens/revoke/").status_code == 403


def test_wrong_methods(ines: Client, desk: Agent) -> None:
    for part in ("transfer", "retire", "tokens/revoke"):
        assert ines.get(f"/agents/front-desk/{part}/").status_code == 405
    assert ines.put(PAGE).status_code == 405
    assert ines.get("/agents/no-such/settings/").status_code == 404
