from __future__ import annotations

import pytest
from django.test import Client, RequestFactory

from catalog.access import NotAllowed
from catalog.models import Skill
from portal.views import errors, skills
from tests import make
from tests.portal.pages import HTMX, is_page, signed_in

pytestmark = pytest.mark.django_db


def test_not_found_offers_the_nearest_names() -> None:
    cast = make.cast()
    make.version("refund-check", cast=cast)
    answer = signed_in(cast.nora).get("/skills/refund-chek/")
    html = answer.content.decode()
    assert answer.status_code == 404
    assert "There is no skill called refund-chek" in html
    assert 'href="/skills/refund-check/"' in html


def test_not_found_never_names_what_is_hidden() -> None:
    cast = make.cast()
    make.version("refund-check", cast=cast)
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    hidden = signed_in(cast.sven).get("/skills/refund-check/").content.decode()
    unknown = signed_in(cast.sven).get("/skills/refund-chick/").content.decode()
    assert 'href="/skills/refund-check/"' not in hidden + unknown
    assert hidden.count("refund-check") == unknown.count("refund-chick")


def test_not_found_escapes_the_name() -> None:
    html = signed_in(make.user("ines")).get("/skills/<script>x/").content.decode()
    assert "<script>x" not in html
    assert "&lt;script&gt;x" in html


def test_unknown_address_signed_out(client: Client) -> None:
    answer = client.get("/nowhere")
    assert answer.status_code == 404
    assert "There is no such page" in answer.content.decode()


def test_htmx_gets_a_toast_that_leaves_the_page_alone() -> None:
    answer = signed_in(make.user("ines")).get("/skills/nothing/", headers=HTMX)
    html = answer.content.decode()
    assert (answer.status_code, answer["HX-Retarget"]) == (404, "#toasts")
    assert not is_page(html)
    assert "There is no skill called nothing" in html


def test_refusal_names_who_can_help(monkeypatch: pytest.MonkeyPatch) -> None:
    cast = make.cast()

    def refuse(*_: object) -> None:
        raise NotAllowed("Publishing for Payments needs the role publisher in that team.")

    monkeypatch.setattr(skills.access, "skill_read", refuse)
    answer = signed_in(cast.nora).get("/skills/refund-check/")
    html = answer.content.decode()
    assert answer.status_code == 403
    assert "needs the role publisher in that team" in html
    assert "Roles are given by Ada Moreau" in html


def test_expired_form_keeps_what_was_typed_but_no_secret() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.user("ines"))
    answer = client.post(
        "/preferences/environment/",
        {"reason": "Too many <b>errors</b>", "password": "hush", "csrfmiddlewaretoken": "old"},
    )
    html = answer.content.decode()
    assert answer.status_code == 403
    assert "This form had expired" in html
    assert "Too many &lt;b&gt;errors&lt;/b&gt;" in html
    assert "hush" not in html


def test_our_own_fault_needs_no_database(rf: RequestFactory, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        answer = errors.server_error(rf.get("/"))
    html = answer.content.decode()
    assert answer.status_code == 500
    assert "Something broke on our side" in html
    assert "Reference " in html


def test_api_gets_problems(client: Client) -> None:
    answer = client.get("/api/v1/nowhere")
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"


def test_every_page_keeps_the_policy() -> None:
    answer = signed_in(make.user("ines")).get("/nowhere")
    assert "script-src 'self'" in answer["Content-Security-Policy"]
    assert "unsafe-inline" not in answer["Content-Security-Policy"]
