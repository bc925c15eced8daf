from __future__ import annotations

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Skill, State, Version
from tests import make
from tests.make import Cast
from tests.portal.pages import HTMX, is_page, signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/skills/refund-check/versions/"
MOST_QUERIES = 13  # one of them counts what the bell of every page shows


@pytest.fixture
def cast() -> Cast:
    cast = make.cast()
    for number in ("1.2.0", "1.10.0", "2.0.0-rc.1"):
        make.version("refund-check", number, cast=cast)
    return cast


def test_newest_first_by_precedence(cast: Cast) -> None:
    html = signed_in(cast.nora).get(ADDRESS).content.decode()
    assert re.findall(r'class="name ver"[^>]*>([^<]+)<', html) == ["2.0.0-rc.1", "1.10.0", "1.2.0"]


def test_tells_where_each_is_served(cast: Cast) -> None:
    make.release(Version.objects.get(version="1.2.0"), "production", cast=cast)
    make.release(Version.objects.get(version="1.10.0"), "production", cast=cast, state=State.CANARY)
    html = signed_in(cast.nora).get(ADDRESS).content.decode()
    assert "Canary 20 %" in html
    assert html.count("Nowhere") == 1


def test_marks_what_was_withdrawn(cast: Cast) -> None:
    Version.objects.filter(version="1.2.0").update(yanked_at=make.NOW)
    Version.objects.filter(version="1.10.0").update(revoked_at=make.NOW)
    html = signed_in(cast.nora).get(ADDRESS).content.decode()
    assert "Yanked" in html
    assert "Revoked" in html


def test_htmx_gets_the_panel(cast: Cast) -> None:
    html = signed_in(cast.nora).get(ADDRESS, headers=HTMX).content.decode()
    assert not is_page(html)
    assert 'id="tab-versions"' in html


def test_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for n in range(3, 12):
        version = make.version("refund-check", f"1.{n + 10}.0", cast=cast)
        make.release(version, "development", cast=cast)
    client = signed_in(cast.mara)
    with django_assert_max_num_queries(MOST_QUERIES):
        client.get(ADDRESS)


def test_outsiders_and_other_methods(client: Client, cast: Cast) -> None:
    assert client.get(ADDRESS).status_code == 302
    assert signed_in(cast.ines).post(ADDRESS).status_code == 405
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert signed_in(cast.sven).get(ADDRESS).status_code == 404
