"""The list of people, and inviting somebody."""

from __future__ import annotations

import pytest
from django.core.mail import EmailMessage
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from catalog.models import JournalEntry, Role, User
from tests import make
from tests.make import Cast
from tests.portal.answers import HTMX, text_of
from tests.portal.pages import is_page, links, signed_in

pytestmark = pytest.mark.django_db
MOST_QUERIES = 14
SENT = {"username": "wen", "name": "Wen Li", "email": "wen@example.org", "role": ""}


def test_it_lists_and_filters(cast: Cast) -> None:
    User.objects.filter(username="nora").update(is_active=False)
    client = signed_in(cast.ada)
    html = client.get("/people/").content.decode()
    assert {f"/people/{name}/" for name in ("ines", "mara", "nora", "ada")} <= set(links(html))
    assert "Payments" in html
    part = client.get("/people/?q=okafor", headers=HTMX).content.decode()
    assert not is_page(part)
    assert "/people/ines/" in part
    assert "/people/mara/" not in part
    assert links(client.get("/people/?state=closed", headers=HTMX).content.decode()) == ["/people/nora/"]
    assert "Nobody matches" in text_of(client.get("/people/?q=nothing"))
    assert client.get("/people/?state=odd&page=x").status_code == 200


@pytest.mark.parametrize("name", ["ines", "mara", "lena", "nora"])
def test_only_administrators(client: Client, cast: Cast, name: str) -> None:
    for address in ("/people/", "/people/invite/", "/people/ines/", "/people/nobody/", "/people/ines/close/"):
        assert client.get(address).status_code == 302
        answer = signed_in(getattr(cast, name)).get(address)
        assert answer.status_code == 403
        assert "Roles are given by Ada Moreau" in text_of(answer)


def test_an_invitation_shows_its_link_once(cast: Cast) -> None:
    client = signed_in(cast.ada)
    answer = client.post("/people/invite/", {**SENT, "role": "publisher", "team": "payments"})
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    html = answer.content.decode()
    assert "Wen Li is invited" in html
    assert "It was not mailed." in html
    link = html.split("<code>")[1].split("</code>")[0]
    assert link.startswith("http://testserver/welcome/")
    wen = User.objects.get(username="wen")
    assert [(one.role, one.team) for one in wen.grants.all()] == [("publisher", cast.payments)]
    assert not wen.has_usable_password()
    assert "/welcome/" not in client.get("/people/wen/").content.decode()
    assert client.post("/people/invite/", SENT).status_code == 422
    assert [one.actor for one in JournalEntry.objects.order_by("n")] == ["ada"] * 3


def test_it_is_mailed_where_mail_is_on(
    cast: Cast, settings: Settings, mailoutbox: list[EmailMessage]
) -> None:
    settings.MAIL_IS_ON = True
    html = signed_in(cast.ada).post("/people/invite/", SENT).content.decode()
    assert "It was also sent to wen@example.org." in html
    assert mailoutbox[0].to == ["wen@example.org"]
    path = html.split("<code>http://testserver")[1].split("</code>")[0]
    assert f"\n{settings.PORTAL_URL}{path}\n" in mailoutbox[0].body


def test_a_link_is_below_the_address_of_the_portal_whatever_host_was_asked_for(
    cast: Cast, settings: Settings, mailoutbox: list[EmailMessage]
) -> None:
    settings.MAIL_IS_ON, settings.PORTAL_URL = True, "https://skills.example.org"
    settings.ALLOWED_HOSTS = ["*"]
    client = signed_in(cast.ada)
    html = client.post("/people/invite/", SENT, headers={"Host": "evil.example"}).content.decode()
    assert "<code>http://evil.example/welcome/" in html  # nobody said what the portal is called
    assert "https://skills.example.org/welcome/" in mailoutbox[0].body
    assert "evil.example" not in mailoutbox[0].body
    settings.PORTAL_IS_NAMED = True
    html = client.post("/people/wen/link/", headers={"Host": "evil.example"}).content.decode()
    assert "<code>https://skills.example.org/welcome/" in html
    assert "evil.example" not in html + mailoutbox[1].body


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"username": ""}, "Give a user name."),
        ({"username": "a b"}, "a b is no user name"),
        ({"username": "invite"}, "is no user name; choose another one."),
        ({"username": "INES"}, "There is an account INES already."),
        ({"email": "x"}, "This is no e-mail address."),
        ({"role": "king"}, "Select a valid choice."),
        ({"role": "admin", "team": "payments"}, "whole instance"),
        ({"role": "reader", "may_override": "on"}, "beside the role approver alone"),
    ],
)
def test_invitations_that_are_none(cast: Cast, sent: dict[str, str], message: str) -> None:
    answer = signed_in(cast.ada).post("/people/invite/", {**SENT, **sent})
    assert answer.status_code == 422
    assert message in text_of(answer)
    assert User.objects.count() == 8


def test_queries_do_not_grow(cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for n in range(55):
        make.grant(make.user(f"p{n}"), Role.READER, team=cast.payments)
    client = signed_in(cast.ada)
    with django_assert_max_num_queries(MOST_QUERIES):
        client.get("/people/")
