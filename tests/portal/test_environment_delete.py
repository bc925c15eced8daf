"""Removing an environment on its page."""

from __future__ import annotations

import pytest

from catalog.models import Environment, JournalEntry
from tests import make
from tests.make import Cast
from tests.portal.answers import text_of
from tests.portal.pages import signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/environments/staging/delete/"


@pytest.fixture
def cast() -> Cast:
    return make.cast()


def test_removes_what_nothing_refers_to_once_its_name_is_typed(cast: Cast) -> None:
    client = signed_in(cast.ada)
    assert "Type staging to confirm" in text_of(client.get("/environments/staging/"))
    assert "Type staging to confirm" in text_of(client.get(ADDRESS))
    wrong = client.post(ADDRESS, {"confirm": "Staging"})
    assert wrong.status_code == 422
    assert "Type staging to confirm." in text_of(wrong)
    assert client.post(ADDRESS, {"confirm": "staging"})["Location"] == "/environments/"
    assert not Environment.objects.filter(name="staging").exists()
    assert JournalEntry.objects.get().verb == "environment.remove"
    assert client.post(ADDRESS, {"confirm": "staging"}).status_code == 404


def test_says_what_refers_to_it(cast: Cast) -> None:
    make.token(agent=make.agent(team=cast.payments), environment="staging")
    client = signed_in(cast.ada)
    for address in ("/environments/staging/", ADDRESS):
        text = text_of(client.get(address))
        assert "It is in use, and stays: tokens 1." in text
        assert "Type staging to confirm" not in text
    answer = client.post(ADDRESS, {"confirm": "staging"})
    assert answer.status_code == 409
    assert "Staging is in use and stays (tokens: 1)." in text_of(answer)
    assert Environment.objects.count() == 3


def test_the_last_one_stays(cast: Cast) -> None:
    Environment.objects.exclude(name="staging").delete()
    answer = signed_in(cast.ada).post(ADDRESS, {"confirm": "staging"})
    assert answer.status_code == 409
    assert "Staging is the only environment; make another one first." in text_of(answer)


@pytest.mark.parametrize("name", ["ines", "mara", "lena", "ravi", "nora"])
def test_others_remove_none(cast: Cast, name: str) -> None:
    client = signed_in(getattr(cast, name))
    assert client.get(ADDRESS).status_code == 403
    assert client.post(ADDRESS, {"confirm": "staging"}).status_code == 403
    assert Environment.objects.count() == 3


def test_wrong_methods(cast: Cast) -> None:
    assert signed_in(cast.ada).delete(ADDRESS).status_code == 405
