"""The list of teams."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Role, Skill, Team
from tests import make
from tests.make import Cast
from tests.portal.answers import HTMX, text_of
from tests.portal.pages import is_page, links, signed_in

pytestmark = pytest.mark.django_db
MOST_QUERIES = 14


def test_everybody_sees_every_team_and_their_own_part_of_its_skills(cast: Cast) -> None:
    make.version(cast=cast)
    make.version("order-find", cast=cast)
    Skill.objects.filter(name="order-find").update(visibility="team")
    for user, skills in ((cast.nora, 1), (cast.ines, 2)):
        text = text_of(signed_in(user).get("/teams/"))
        assert (
            f'data-label="Members">2</td> <td class="num" data-label="Skills you see"><a href="/?team=payments">{skills}'
            in text
        )
        assert ("yours" in text) == (user == cast.ines)
        assert "/teams/new/" not in text
    assert "/teams/new/" in links(signed_in(cast.ada).get("/teams/").content.decode())


def test_a_closed_account_is_no_member(cast: Cast) -> None:
    cast.ravi.is_active = False
    cast.ravi.save()
    assert 'data-label="Members">1</td>' in text_of(signed_in(cast.nora).get("/teams/"))


def test_it_filters_as_a_part_and_as_a_page(cast: Cast) -> None:
    client = signed_in(cast.nora)
    part = client.get("/teams/?q=PAY", headers=HTMX).content.decode()
    assert not is_page(part)
    assert "/teams/payments/" in part
    assert "/teams/support/" not in part
    assert "1 team" in part
    assert is_page(client.get("/teams/?q=PAY").content.decode())
    assert "No team matches “nothing”" in text_of(client.get("/teams/?q=nothing"))


def test_without_a_team_it_says_who_makes_one(cast: Cast) -> None:
    cast.nora.grants.all().delete()
    for team in Team.objects.all():
        team.grants.all().delete()
    Team.objects.all().delete()
    assert "No team yet" in text_of(signed_in(cast.nora).get("/teams/"))


def test_outsiders_and_other_methods(client: Client, cast: Cast) -> None:
    assert client.get("/teams/")["Location"] == "/sign-in/?next=/teams/"
    assert signed_in(cast.nora).post("/teams/").status_code == 405


def test_it_stands_in_the_sidebar(cast: Cast) -> None:
    html = signed_in(cast.nora).get("/teams/").content.decode()
    assert '<a href="/teams/" aria-current="page">' in html
    assert '<a href="/people/"' not in html
    assert '<a href="/delegations/"' not in html
    assert '<a href="/delegations/"' in signed_in(cast.mara).get("/").content.decode()
    html = signed_in(cast.ada).get("/").content.decode()
    assert (
        html.index('<a href="/teams/"')
        < html.index('<a href="/people/"')
        < html.index('<a href="/delegations/"')
    )


def test_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for n in range(60):
        make.grant(cast.nora, Role.READER, team=make.team(f"t{n}"))
    client = signed_in(cast.nora)
    with django_assert_max_num_queries(MOST_QUERIES):
        text = text_of(client.get("/teams/"))
    assert "1–50 of 62" in text
