"""A skill that is live and unavailable, wherever it is shown."""

from __future__ import annotations

import pytest
from django.test import Client

from catalog.models import Release
from tests import make
from tests.portal.answers import text_of

pytestmark = pytest.mark.django_db
REASON = "web-search 2.0.0 or newer is needed; none is live."


@pytest.fixture
def needy(client: Client) -> Release:
    """market-brief, live in staging without what it depends on; Nora is signed in."""
    cast = make.cast()
    client.force_login(cast.nora)
    release = make.release(make.version("market-brief", cast=cast), "staging", cast=cast)
    release.version.dependencies.create(folder="web-search", minimum="2.0.0")
    return release


@pytest.mark.parametrize("address", ["/", "/skills/market-brief/", "/skills/market-brief/releases/"])
def test_it_is_called_unavailable_and_why(client: Client, needy: Release, address: str) -> None:
    text = text_of(client.get(address))
    assert "navailable" in text
    assert REASON in text


def test_its_release_says_so(client: Client, needy: Release) -> None:
    text = text_of(client.get(f"/releases/{needy.pk}/"))
    assert "Agents are told that it is unavailable" in text
    assert REASON in text
