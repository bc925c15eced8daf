"""After a rotation of the masking key: what was reported before and after is found by what it was."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from catalog.models import Agent
from governance.models import Call
from tests import make
from tests.portal.answers import text_of
from tests.portal.api.conftest import caller
from tests.portal.reports import report

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("live")]
OLD, NEW = "an old key of at least thirty-two characters", "a new key of at least thirty-two characters"
MAIL = "jane@example.com"
MOST_QUERIES = 16


@pytest.fixture
def rotated(desk: Agent, settings: Settings) -> tuple[str, str]:
    """The ids of two traces that one mail address begot, before a rotation and after."""
    settings.MASKING_KEY = OLD
    report(desk, {"call_id": "before", "trace_id": MAIL, "user_intent": f"Ask {MAIL}", "version": MAIL})
    settings.MASKING_KEY, settings.MASKING_KEYS_BEFORE = NEW, [OLD]
    report(desk, {"call_id": "after", "trace_id": MAIL, "user_intent": f"Ask {MAIL}", "version": MAIL})
    before, after = Call.objects.order_by("pk").values_list("trace_id", flat=True)
    return before, after


def test_both_are_found(
    lena: Client, rotated: tuple[str, str], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    assert rotated[0] != rotated[1]
    for asked in ({"q": MAIL}, {"version": MAIL}):
        with django_assert_max_num_queries(MOST_QUERIES):
            text = text_of(lena.get("/traces/", asked))
        assert all(one in text for one in rotated), asked
    text = text_of(lena.get(f"/traces/{MAIL}/"))
    assert MAIL not in text
    assert text.count("refund-check") > 1


def test_both_are_found_by_rest(rotated: tuple[str, str], cast: make.Cast, settings: Settings) -> None:
    settings.RATE_LIMIT = 0
    lena = caller(cast, "lena")
    found = {one["trace_id"] for one in lena.get(f"traces?q={MAIL}").json()["items"]}
    assert found == set(rotated)
    assert len(lena.get(f"traces/{MAIL}").json()["calls"]) == 2


def test_without_the_former_key_the_later_one_is_found(
    lena: Client, rotated: tuple[str, str], settings: Settings
) -> None:
    settings.MASKING_KEYS_BEFORE = []
    text = text_of(lena.get("/traces/", {"q": MAIL}))
    assert rotated[0] not in text
    assert rotated[1] in text
