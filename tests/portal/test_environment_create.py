"""Making an environment on its page."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.models import Environment, JournalEntry
from tests import make
from tests.make import Cast
from tests.portal.answers import text_of
from tests.portal.pages import signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/environments/new/"
GOOD: dict[str, Any] = {
    "name": "preview",
    "title": "Preview",
    "permissions": ["network"],
    "highest_risk": "medium",
    "lowest_stability": "deprecated",
    "approvals_low": "0",
    "approvals_medium": "1",
    "approvals_high": "2",
    "outside_approval": "on",
    "call_confirmation": "always",
    "script_confirmation": "high",
    "soak_minutes": "30",
    "retention_days": "7",
}


@pytest.fixture
def cast() -> Cast:
    return make.cast()


def test_makes_it_last_in_the_order(cast: Cast) -> None:
    client = signed_in(cast.ada)
    text = text_of(client.get(ADDRESS))
    assert "A skill that declares another one is not served here, and nobody overrides that." in text
    answer = client.post(ADDRESS, GOOD)
    assert answer["Location"] == "/environments/preview/"
    made = Environment.objects.last()
    assert made is not None
    assert (made.name, made.title, made.order, made.permissions) == ("preview", "Preview", 40, ["network"])
    assert (made.outside_approval, made.owner_may_start, made.retention_days) == (True, False, 7)
    assert JournalEntry.objects.get().verb == "environment.create"
    again = client.post(ADDRESS, GOOD)
    assert again.status_code == 422
    assert "There is an environment named preview already." in text_of(again)


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"name": ""}, "This field is required."),
        ({"name": "Pre View"}, "is no name of an environment"),
        ({"name": "new"}, "is no name of an environment"),
        ({"title": ""}, "This field is required."),
        ({"permissions": ["teleport"]}, "teleport is not one of the available choices."),
        ({"approvals_high": "6"}, "less than or equal to 5."),
        ({"soak_minutes": "-1"}, "greater than or equal to 0."),
        ({"retention_days": "0"}, "greater than or equal to 1."),
    ],
)
def test_bad_input_is_said_and_kept(cast: Cast, sent: dict[str, Any], message: str) -> None:
    answer = signed_in(cast.ada).post(ADDRESS, {**GOOD, **sent})
    assert answer.status_code == 422
    text = text_of(answer)
    assert message in text
    assert '<option value="medium" selected>' in text
    assert Environment.objects.count() == 3


def test_others_make_none(cast: Cast) -> None:
    for name in ("ines", "mara", "lena", "ravi", "nora"):
        client = signed_in(getattr(cast, name))
        assert client.get(ADDRESS).status_code == 403
        answer = client.post(ADDRESS, GOOD)
        assert answer.status_code == 403
        assert "Environments and their policies are changed by administrators." in text_of(answer)
        assert "Ada Moreau" in text_of(answer)
    assert signed_in(cast.ada).put(ADDRESS).status_code == 405
    assert Environment.objects.count() == 3
