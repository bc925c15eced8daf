"""The settings of a skill: people, transfer, deletion."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Role, Skill
from tests import make
from tests.make import Cast
from tests.portal.answers import text_of
from tests.portal.pages import signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/skills/refund-check/settings/"
TRANSFER, DELETE = f"{ADDRESS}transfer/", f"{ADDRESS}delete/"
MOST_QUERIES = 22


@pytest.fixture
def cast() -> Cast:
    cast = make.cast()
    make.version(cast=cast)
    return cast


def test_shows_what_is_set(cast: Cast) -> None:
    text = text_of(signed_in(cast.ines).get(ADDRESS))
    assert "It belongs to Payments." in text
    assert '<option value="ines" selected>' in text
    assert 'value="ravi"' in text
    assert 'value="sven"' not in text


def test_saves(cast: Cast) -> None:
    client = signed_in(cast.ines)
    sent = {"visibility": "team", "owner": "ravi", "maintainers": ["ines", "ravi"]}
    for _ in range(2):
        assert client.post(ADDRESS, sent)["Location"] == ADDRESS
    skill = Skill.objects.get()
    assert (skill.visibility, skill.owner) == ("team", cast.ravi)
    assert set(skill.maintainers.all()) == {cast.ines, cast.ravi}


def test_refuses_strangers_and_keeps_what_was_chosen(cast: Cast) -> None:
    answer = signed_in(cast.ines).post(ADDRESS, {"visibility": "team", "owner": "sven"})
    assert answer.status_code == 422
    assert Skill.objects.get().owner == cast.ines
    assert 'value="team" id="id_visibility_1" checked' in text_of(answer).replace(' class="input"', "")


def test_transfer(cast: Cast) -> None:
    make.grant(cast.ines, Role.PUBLISHER, team=cast.support)
    client = signed_in(cast.ines)
    assert client.post(TRANSFER, {"team": "support"}).status_code == 422
    answer = client.post(TRANSFER, {"team": "support", "reason": "Theirs."})
    assert answer["Location"] == "/skills/refund-check/"
    assert Skill.objects.get().team == cast.support


def test_transfer_offers_only_teams_that_the_user_publishes_for(cast: Cast) -> None:
    client = signed_in(cast.ines)
    assert "You publish for no other team." in text_of(client.get(ADDRESS))
    assert client.post(TRANSFER, {"team": "support", "reason": "x"}).status_code == 422
    assert Skill.objects.get().team == cast.payments
    assert '<option value="support">' in text_of(signed_in(cast.ada).get(ADDRESS))


def test_deleting_needs_the_name_and_a_reason(cast: Cast) -> None:
    client = signed_in(cast.ines)
    answer = client.post(DELETE, {"confirm": "refund", "reason": "Unused"})
    assert answer.status_code == 422
    assert "Type refund-check to confirm." in text_of(answer)
    assert "Unused</textarea>" in text_of(answer)
    assert client.post(DELETE, {"confirm": "refund-check"}).status_code == 422
    answer = client.post(DELETE, {"confirm": "refund-check", "reason": "Unused"})
    assert answer["Location"] == "/"
    assert Skill.objects.get().deleted_at is not None
    assert client.post(DELETE, {"confirm": "refund-check", "reason": "Unused"}).status_code == 404
    assert client.get("/skills/refund-check/").status_code == 404


def test_deleting_what_others_need_asks_again(cast: Cast) -> None:
    files = {"manifest.yaml": make.manifest(more="dependencies:\n  refund-check: 1.0.0\n"), "run.py": b"\n"}
    needs = make.version("refund.issue", cast=cast, team=cast.support, publisher=cast.sven, files=files)
    Skill.objects.filter(pk=needs.skill_id).update(visibility=Skill.Visibility.TEAM)
    client = signed_in(cast.ines)
    text = text_of(client.get(ADDRESS))
    assert "1 skill that you do not see" in text
    assert "refund.issue" not in text
    sent = {"confirm": "refund-check", "reason": "Unused"}
    answer = client.post(DELETE, sent)
    assert answer.status_code == 409
    assert "1 skill depends on it." in text_of(answer)
    assert client.post(DELETE, {**sent, "although_needed": "on"}).status_code == 302


@pytest.mark.parametrize("name", ["sven", "mara", "ravi", "nora"])
def test_who_may_not(cast: Cast, name: str) -> None:
    client = signed_in(getattr(cast, name))
    assert client.get(ADDRESS).status_code == 403
    for address in (ADDRESS, TRANSFER, DELETE):
        assert client.post(address, {"confirm": "refund-check", "reason": "x"}).status_code == 403
    assert ADDRESS not in client.get("/skills/refund-check/").content.decode()
    assert Skill.objects.get().deleted_at is None


def test_outsiders_and_other_methods(client: Client, cast: Cast) -> None:
    assert client.get(ADDRESS).status_code == 302
    ines = signed_in(cast.ines)
    assert ines.get(TRANSFER).status_code == 405
    assert ines.get(DELETE).status_code == 405
    assert ines.put(ADDRESS).status_code == 405
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    for address in (ADDRESS, TRANSFER, DELETE):
        assert signed_in(cast.sven).post(address).status_code == 404


def test_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for n in range(20):
        make.grant(make.user(f"p{n}"), Role.READER, team=cast.payments)
    client = signed_in(cast.ines)
    with django_assert_max_num_queries(MOST_QUERIES):
        client.get(ADDRESS)
