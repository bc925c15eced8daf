"""A team: what it shows to whom, its new name, its roles and its end."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Role, Skill, Team
from tests import make
from tests.make import Cast
from tests.portal.answers import text_of
from tests.portal.pages import links, signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/teams/payments/"
MOST_QUERIES = 20


def test_it_shows_members_skills_and_agents_as_far_as_one_may_see(cast: Cast) -> None:
    make.version(cast=cast)
    make.version("order-find", cast=cast)
    make.agent(team=cast.payments)
    Skill.objects.filter(name="order-find").update(visibility="team")
    make.grant(cast.ines, Role.APPROVER, team=cast.payments, environment=make.environment("staging"))
    nora = signed_in(cast.nora).get(ADDRESS).content.decode()
    assert "Ines Okafor" in nora
    assert "Staging" in nora
    assert "2 people" in nora
    assert "With a role in every team" in nora
    assert "Mara Lindqvist" in nora
    assert "Ada Moreau" not in nora
    assert "/skills/refund-check/" in links(nora)
    assert "/skills/order-find/" not in links(nora)
    assert "front-desk" not in nora
    assert "/grants/" not in nora
    assert "/people/" not in nora
    ines = links(signed_in(cast.ines).get(ADDRESS).content.decode())
    assert {"/skills/order-find/", "/agents/front-desk/", "/teams/payments/leave/"} <= set(ines)


def test_an_empty_team_says_so(cast: Cast) -> None:
    make.team("field")
    text = text_of(signed_in(cast.ada).get("/teams/field/"))
    assert "Nobody belongs to this team yet" in text
    assert "No skill that you see" in text
    assert "No agent yet" in text
    assert "Nothing refers to it. Removing it cannot be undone." in text


def test_administrators_give_and_take_roles(cast: Cast) -> None:
    ada = signed_in(cast.ada)
    sent = {"person": "nora", "role": "approver", "environment": "staging", "may_override": "on"}
    for _ in range(2):
        assert ada.post(f"{ADDRESS}grant/", sent)["Location"] == ADDRESS
    grant = cast.nora.grants.get()
    assert (grant.role, grant.team, grant.environment_id, grant.may_override) == (
        "approver", cast.payments, make.environment("staging").pk, True,
    )  # fmt: skip
    assert "may override" in text_of(ada.get(ADDRESS))
    taken = ada.post(f"/grants/{grant.pk}/remove/", {"back": "team"})
    assert taken["Location"] == ADDRESS
    assert ada.post(f"/grants/{grant.pk}/remove/", {"back": "team"})["Location"] == "/people/"
    assert not cast.nora.grants.exists()


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"person": "", "role": "reader"}, "Give a user name."),
        ({"person": "who", "role": "reader"}, "There is no account of that name, or it is closed."),
        ({"person": "nora", "role": "admin"}, "Select a valid choice."),
        ({"person": "nora", "role": "reader", "environment": "x"}, "Select a valid choice."),
        ({"person": "nora", "role": "reader", "may_override": "on"}, "beside the role approver alone"),
    ],
)
def test_roles_that_are_none_come_back_with_what_is_wrong(
    cast: Cast, sent: dict[str, str], message: str
) -> None:
    answer = signed_in(cast.ada).post(f"{ADDRESS}grant/", sent)
    assert answer.status_code == 422
    assert message in text_of(answer)
    assert not cast.nora.grants.exists()


def test_a_team_is_renamed(cast: Cast) -> None:
    ada = signed_in(cast.ada)
    assert ada.post(f"{ADDRESS}rename/", {"name": "Money"})["Location"] == ADDRESS
    assert Team.objects.get(slug="payments").name == "Money"
    for name, message in (
        ("", "Give the team a name."),
        ("Support", "There is a team named Support already."),
    ):
        answer = ada.post(f"{ADDRESS}rename/", {"name": name})
        assert answer.status_code == 422
        assert message in text_of(answer).replace("&#x27;", "'")


def test_a_team_is_removed_where_nothing_refers_to_it(cast: Cast) -> None:
    ada = signed_in(cast.ada)
    answer = ada.post(f"{ADDRESS}remove/")
    assert answer.status_code == 409
    assert "Payments has 2 roles; transfer" in text_of(answer)
    make.team("field")
    assert ada.post("/teams/field/remove/")["Location"] == "/teams/"
    assert not Team.objects.filter(slug="field").exists()
    assert ada.post("/teams/field/remove/").status_code == 404


def test_a_team_is_made(cast: Cast) -> None:
    ada = signed_in(cast.ada)
    assert ada.post("/teams/new/", {"name": "Field Sales", "slug": ""})["Location"] == "/teams/field-sales/"
    for sent, message in (
        ({"name": ""}, "Give the team a name."),
        ({"name": "Field Sales"}, "There is a team field-sales already."),
        ({"name": "财务"}, "is no name of a team"),
    ):
        answer = ada.post("/teams/new/", sent)
        assert answer.status_code == 422
        assert message in text_of(answer)


@pytest.mark.parametrize("name", ["ines", "mara", "ravi", "nora"])
def test_who_may_not(cast: Cast, name: str) -> None:
    client = signed_in(getattr(cast, name))
    sent = {"name": "Mine", "person": name, "role": "publisher"}
    for address in (f"{ADDRESS}grant/", f"{ADDRESS}rename/", f"{ADDRESS}remove/", "/teams/new/"):
        assert client.post(address, sent).status_code == 403
    assert client.get("/teams/new/").status_code == 403
    assert client.post(f"/grants/{cast.mara.grants.get().pk}/remove/").status_code == 403
    assert Team.objects.count() == 2
    assert cast.mara.grants.exists()


def test_outsiders_and_other_methods(client: Client, cast: Cast) -> None:
    assert client.get(ADDRESS).status_code == 302
    ada = signed_in(cast.ada)
    for address in (f"{ADDRESS}grant/", f"{ADDRESS}rename/", f"{ADDRESS}remove/"):
        assert ada.get(address).status_code == 405
    assert ada.post(ADDRESS).status_code == 405
    assert ada.get("/teams/nowhere/").status_code == 404
    assert "There is no team called nowhere" in text_of(ada.get("/teams/nowhere/"))


def test_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for n in range(15):
        make.grant(make.user(f"p{n}"), Role.READER, team=cast.payments)
        make.version(f"skill-{n}", cast=cast)
        make.agent(f"agent-{n}", team=cast.payments)
    client = signed_in(cast.ada)
    with django_assert_max_num_queries(MOST_QUERIES):
        client.get(ADDRESS)
