"""Deprecating, yanking and revoking on the page of a version."""

from __future__ import annotations

import pytest
from django.test import Client

from catalog.models import JournalEntry, Skill, Version
from tests import make
from tests.make import Cast
from tests.portal.answers import text_of
from tests.portal.pages import signed_in

pytestmark = pytest.mark.django_db
PAGE = "/skills/refund-check/versions/1.0.0/"
WHO = {"deprecate": "ines", "yank": "ines", "revoke": "ada"}
COLUMNS = {"deprecate": "deprecated_at", "yank": "yanked_at", "revoke": "revoked_at"}


@pytest.fixture
def cast() -> Cast:
    cast = make.cast()
    make.release(make.version(cast=cast), "production", cast=cast)
    return cast


@pytest.mark.parametrize("action", WHO)
def test_it_is_done_once_with_a_reason(cast: Cast, action: str) -> None:
    client = signed_in(getattr(cast, WHO[action]))
    answer = client.post(f"{PAGE}{action}/", {"reason": "Wrong totals."})
    assert answer["Location"] == PAGE
    assert getattr(Version.objects.get(), COLUMNS[action]) is not None
    entry = JournalEntry.objects.order_by("-n")[0]
    assert (entry.verb, entry.after) == (f"version.{action}", {"reason": "Wrong totals."})
    count = JournalEntry.objects.count()
    assert client.post(f"{PAGE}{action}/", {"reason": "Again."}).status_code == 302
    assert JournalEntry.objects.count() == count


@pytest.mark.parametrize("action", WHO)
def test_a_missing_reason_is_asked_for_on_a_page_of_its_own(cast: Cast, action: str) -> None:
    client = signed_in(getattr(cast, WHO[action]))
    assert client.get(f"{PAGE}{action}/").status_code == 200
    answer = client.post(f"{PAGE}{action}/", {"reason": "  "})
    assert answer.status_code == 422
    assert "Give a reason; it is kept in the audit log." in text_of(answer)
    assert getattr(Version.objects.get(), COLUMNS[action]) is None


def test_the_page_offers_what_the_user_may(cast: Cast) -> None:
    def offered(name: str) -> set[str]:
        html = signed_in(getattr(cast, name)).get(PAGE).content.decode()
        return {action for action in WHO if f'popovertarget="dialog-{action}"' in html}

    assert offered("ines") == {"deprecate", "yank"}
    assert offered("ada") == {"revoke"}
    assert offered("ravi") == offered("mara") == offered("sven") == set()
    Version.objects.update(deprecated_at=make.NOW)
    assert offered("ines") == {"yank"}


def test_the_dialog_says_where_it_is_served(cast: Cast) -> None:
    assert "It is served in Production now." in text_of(signed_in(cast.ines).get(PAGE))


@pytest.mark.parametrize("action", WHO)
def test_who_may_not(cast: Cast, action: str) -> None:
    for name in {"ines", "ada", "sven", "mara", "ravi", "nora"} - {WHO[action]}:
        client = signed_in(getattr(cast, name))
        assert client.get(f"{PAGE}{action}/").status_code == 403, name
        assert client.post(f"{PAGE}{action}/", {"reason": "x"}).status_code == 403, name
    assert getattr(Version.objects.get(), COLUMNS[action]) is None


def test_outsiders_and_what_is_not_there(client: Client, cast: Cast) -> None:
    assert client.post(f"{PAGE}yank/").status_code == 302
    ines = signed_in(cast.ines)
    assert ines.post(f"{PAGE}burn/").status_code == 404
    assert ines.put(f"{PAGE}yank/").status_code == 405
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert signed_in(cast.sven).post(f"{PAGE}yank/", {"reason": "x"}).status_code == 404
