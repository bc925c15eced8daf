from __future__ import annotations

import pytest
from django.test import Client

from tests import make

pytestmark = pytest.mark.django_db


def test_ends_the_session(client: Client) -> None:
    client.force_login(make.user("ines"))
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert client.get("/profile/").status_code == 302


def test_a_link_does_not_sign_out(client: Client) -> None:
    client.force_login(make.user("ines"))
    assert client.get("/sign-out/").status_code == 405
    assert client.get("/profile/").status_code == 200


def test_twice_is_no_fault(client: Client) -> None:
    assert client.post("/sign-out/").status_code == 302
