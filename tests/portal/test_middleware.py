from __future__ import annotations

import pytest
from django.test import Client

from tests import make
from tests.portal.pages import HTMX, is_page, signed_in

pytestmark = pytest.mark.django_db


def test_htmx_without_a_session_sends_the_page_to_the_sign_in(client: Client) -> None:
    answer = client.get("/?q=a", headers={**HTMX, "HX-Current-URL": "http://testserver/profile/?tab=2"})
    assert answer.status_code == 401
    assert answer["HX-Redirect"] == "/sign-in/?next=%2Fprofile%2F%3Ftab%3D2"
    assert answer.content == b""


def test_htmx_from_another_host_names_no_page(client: Client) -> None:
    answer = client.get("/", headers={**HTMX, "HX-Current-URL": "http://evil.example/x"})
    assert answer["HX-Redirect"] == "/sign-in/"


def test_a_page_without_a_session_is_redirected(client: Client) -> None:
    answer = client.get("/?q=a")
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?next=/%3Fq%3Da")


@pytest.mark.parametrize("address", ["/?q=a%00b", "/skills/a%00b/", "/skills/a%00b/versions/1.0.0/files/x"])
def test_nul_is_refused(address: str) -> None:
    answer = signed_in(make.user("ines")).get(address)
    assert answer.status_code == 400
    assert is_page(answer.content.decode())


def test_nul_in_an_api_address_is_a_problem(client: Client) -> None:
    answer = client.get("/api/v1/feed?x=%00")
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
