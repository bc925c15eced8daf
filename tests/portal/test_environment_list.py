"""The list of environments, and their order."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from catalog.models import Environment, JournalEntry, State
from tests import make
from tests.make import Cast
from tests.portal.answers import text_of
from tests.portal.pages import signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/environments/"
MOST_QUERIES = 10


@pytest.fixture
def cast() -> Cast:
    return make.cast()


def names() -> list[str]:
    return list(Environment.objects.values_list("name", flat=True))


def test_everyone_signed_in_reads_order_policy_and_counts(cast: Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    make.release(make.version("order-find", cast=cast), "production", cast=cast, state=State.CANARY)
    make.release(make.version("till-close", cast=cast), "production", cast=cast, state=State.PROPOSED)
    make.release(make.version("cash-count", cast=cast), "production", cast=cast, state=State.REJECTED)
    text = text_of(signed_in(cast.nora).get(ADDRESS))
    assert text.index("Development") < text.index("Staging") < text.index("Production")
    assert "Approvals by risk: low 1, medium 1, high 2." in text
    assert "Stable versions only." in text
    assert "No approval is needed." in text
    assert text.count('data-label="Live">1</td>') == 1
    under_way = '<a href="/environments/production/#under-way">1</a>'
    for label in ("Canaries", "Waiting"):
        assert text.count(f'data-label="{label}">{under_way}</td>') == 1
    assert "Make an environment" not in text
    assert "/move/" not in text
    assert "Environments</a>" in text  # in the navigation

    assert Client().get(ADDRESS)["Location"].startswith("/sign-in/")


def test_signed_out_sees_nothing(client: Client) -> None:
    assert client.get(ADDRESS)["Location"].startswith("/sign-in/")


def test_the_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for n in range(6):
        Environment.objects.create(name=f"e{n}", title=f"E {n}", order=100 + n)
    client = signed_in(cast.ada)
    with django_assert_max_num_queries(MOST_QUERIES):
        assert client.get(ADDRESS).status_code == 200


def test_without_any_it_says_who_makes_one(cast: Cast) -> None:
    Environment.objects.all().delete()
    assert "An administrator makes the first one." in text_of(signed_in(cast.nora).get(ADDRESS))


def test_moves_one_place(cast: Cast) -> None:
    client = signed_in(cast.ada)
    sent = {"earlier": "yes", "opened": "30"}
    answer = client.post("/environments/production/move/", sent, follow=True)
    assert "Production is moved." in text_of(answer)
    assert names() == ["development", "production", "staging"]
    again = client.post("/environments/production/move/", sent)
    assert again.status_code == 409
    assert "The order has been changed meanwhile; nothing was moved." in text_of(again)
    assert names() == ["development", "production", "staging"]
    client.post("/environments/development/move/", {"earlier": "no", "opened": "10"})
    assert names() == ["production", "development", "staging"]


def test_move_refuses(cast: Cast) -> None:
    client = signed_in(cast.ada)
    assert client.post("/environments/production/move/", {"earlier": "up"}).status_code == 400
    assert client.get("/environments/production/move/").status_code == 405
    assert client.post("/environments/moon/move/", {}).status_code == 404
    for name in ("ines", "mara", "ravi", "nora"):
        answer = signed_in(getattr(cast, name)).post(
            "/environments/production/move/", {"earlier": "yes", "opened": "30"}
        )
        assert answer.status_code == 403
    assert not JournalEntry.objects.exists()
