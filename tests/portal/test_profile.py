from __future__ import annotations

import pytest
from django.test import Client

from catalog.models import Role
from tests import make
from tests.portal.pages import signed_in

pytestmark = pytest.mark.django_db


def test_tells_the_grants_in_words() -> None:
    cast = make.cast()
    make.grant(cast.ines, Role.APPROVER, environment=make.environment("staging"), may_override=True)
    html = signed_in(cast.ines).get("/profile/").content.decode()
    assert "Ines Okafor" in html
    assert "Publisher" in html
    assert "Approver" in html
    assert "Staging" in html
    assert "May override a gate" in html
    assert 'href="/tokens/"' in html


def test_shows_nobody_elses_grants() -> None:
    cast = make.cast()
    html = signed_in(cast.nora).get("/profile/").content.decode()
    assert "See the catalog" in html
    assert "Publisher" not in html


def test_needs_a_sign_in(client: Client) -> None:
    assert client.get("/profile/")["Location"] == "/sign-in/?next=/profile/"


def test_cannot_be_posted_to() -> None:
    cast = make.cast()
    assert signed_in(cast.ines).post("/profile/").status_code == 405
