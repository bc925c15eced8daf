"""Leaving a team alone."""

from __future__ import annotations

import pytest
from django.test import Client

from catalog.models import Role, Skill
from tests import make
from tests.make import Cast
from tests.portal.answers import text_of
from tests.portal.pages import signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/teams/payments/leave/"


@pytest.fixture(autouse=True)
def skill(cast: Cast) -> Skill:
    return make.skill(cast=cast)


def test_what_goes_is_shown_first_and_then_goes(cast: Cast, skill: Skill) -> None:
    client = signed_in(cast.ines)
    text = text_of(client.get(ADDRESS))
    assert "Owner of 1 skill" in text
    assert "Who owns the skills of Payments" in text
    assert '<option value="ravi">' in text
    assert '<option value="ines">' not in text
    assert client.post(ADDRESS, {"heir-payments": "ravi"})["Location"] == "/profile/"
    skill.refresh_from_db()
    assert skill.owner == cast.ravi
    assert not cast.ines.grants.exists()
    assert client.get(ADDRESS).status_code == 403
    assert client.post(ADDRESS).status_code == 403


def test_a_skill_may_stand_without_owner(cast: Cast, skill: Skill) -> None:
    signed_in(cast.ines).post(ADDRESS, {"heir-payments": ""})
    skill.refresh_from_db()
    assert skill.owner is None


def test_an_heir_of_another_team_is_refused(cast: Cast, skill: Skill) -> None:
    answer = signed_in(cast.ines).post(ADDRESS, {"heir-payments": "sven"})
    assert answer.status_code == 422
    assert cast.ines.grants.exists()


def test_only_who_belongs_to_it(client: Client, cast: Cast) -> None:
    for name in ("sven", "mara", "nora", "ada"):
        assert signed_in(getattr(cast, name)).get(ADDRESS).status_code == 403
    assert client.get(ADDRESS).status_code == 302
    assert signed_in(cast.ines).put(ADDRESS).status_code == 405


def test_the_profile_leads_there(cast: Cast) -> None:
    make.grant(cast.ines, Role.READER, team=cast.support)
    html = signed_in(cast.ines).get("/profile/").content.decode()
    assert ADDRESS in html
    assert "/teams/support/leave/" in html
