from __future__ import annotations

import pytest

from tests import make
from tests.portal.pages import HTMX, signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "/preferences/environment/"


def test_is_kept_and_the_page_is_loaded_anew() -> None:
    cast = make.cast()
    client = signed_in(cast.nora)
    answer = client.post(ADDRESS, {"environment": "production"}, headers=HTMX)
    assert answer["HX-Refresh"] == "true"
    html = client.get("/").content.decode()
    assert 'value="production" aria-label="Production" checked' in html


def test_is_offered_where_it_narrows_a_list() -> None:
    cast = make.cast()
    make.version("refund-check", cast=cast)
    client = signed_in(cast.mara)
    for address, offered in (("/", True), ("/inbox/", False), ("/skills/refund-check/", False)):
        assert (f'action="{ADDRESS}"' in client.get(address).content.decode()) is offered


def test_without_script_goes_back_to_the_page() -> None:
    cast = make.cast()
    answer = signed_in(cast.nora).post(
        ADDRESS, {"environment": "staging"}, headers={"Referer": "http://testserver/profile/"}
    )
    assert answer["Location"] == "http://testserver/profile/"


def test_never_goes_elsewhere() -> None:
    cast = make.cast()
    answer = signed_in(cast.nora).post(
        ADDRESS, {"environment": ""}, headers={"Referer": "http://evil.example/"}
    )
    assert answer["Location"] == "/"


def test_unknown_name_is_refused() -> None:
    cast = make.cast()
    client = signed_in(cast.nora)
    assert client.post(ADDRESS, {"environment": "moon"}).status_code == 400
    assert client.get(ADDRESS).status_code == 405
