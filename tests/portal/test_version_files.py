from __future__ import annotations

import pytest
from django.test import Client

from catalog.models import Skill, Version
from catalog.publishing import refresh_latest
from tests import make
from tests.make import Cast
from tests.portal.pages import HTMX, is_page, signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/skills/refund-check/files/"


@pytest.fixture
def cast() -> Cast:
    cast = make.cast()
    make.version("refund-check", cast=cast, files={"references/a/deep.md": b"x\n"})
    make.version("refund-check", "1.1.0", cast=cast, files={"assets/b.json": b"{}\n"})
    return cast


def test_shows_the_head_of_the_latest(cast: Cast) -> None:
    answer = signed_in(cast.nora).get(ADDRESS)
    assert answer.context["version"].version == "1.1.0"
    assert answer.context["shown"].file.path == "SKILL.md"
    assert [node.name for node in answer.context["tree"]] == ["assets", "SKILL.md"]


def test_shows_another_version_when_asked(cast: Cast) -> None:
    html = signed_in(cast.nora).get(ADDRESS, {"version": "1.0.0"}).content.decode()
    assert "deep.md" in html
    assert "b.json" not in html
    assert "<option selected>1.0.0</option>" in html


def test_unknown_version(cast: Cast) -> None:
    assert signed_in(cast.nora).get(ADDRESS, {"version": "7.0.0"}).status_code == 404


def test_shows_the_highest_where_all_are_yanked(cast: Cast) -> None:
    Version.objects.update(yanked_at=make.NOW)
    refresh_latest(Skill.objects.get(), now=make.NOW)
    assert signed_in(cast.nora).get(ADDRESS).context["version"].version == "1.1.0"


def test_htmx_gets_the_panel(cast: Cast) -> None:
    html = signed_in(cast.nora).get(ADDRESS, headers=HTMX).content.decode()
    assert not is_page(html)
    assert 'id="tab-files"' in html


def test_outsiders_and_other_methods(client: Client, cast: Cast) -> None:
    assert client.get(ADDRESS).status_code == 302
    assert signed_in(cast.ines).post(ADDRESS).status_code == 405
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert signed_in(cast.sven).get(ADDRESS).status_code == 404
