"""Pages of teams, people and delegations by axe-core, in both themes and two widths."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from catalog import people
from catalog.journal import Actor
from catalog.models import Delegation, Role, User
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility_work import WIDTHS, judge
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGES = (
    ("nora", "/teams/"),
    ("nora", "/teams/?q=nothing-like-it"),
    ("ines", "/teams/payments/"),
    ("ada", "/teams/payments/"),
    ("ada", "/teams/field/"),
    ("ada", "/teams/new/"),
    ("ines", "/teams/payments/leave/"),
    ("ada", "/people/"),
    ("ada", "/people/?q=nothing-like-it"),
    ("ada", "/people/invite/"),
    ("ada", "/people/ines/"),
    ("ada", "/people/lena/"),
    ("ada", "/people/ines/close/"),
    ("ada", "/people/ada/close/"),
    ("nora", "/people/"),
    ("mara", "/delegations/"),
    ("lena", "/delegations/"),
    ("mara", "/delegations/new/"),
    ("ines", "/delegations/new/"),
    ("nora", "/profile/"),
    ("mara", "/profile/"),
    ("", "{welcome}"),
    ("", "/welcome/x/y/"),
)


@pytest.fixture
def scene() -> tuple[Cast, str]:
    """People with everything, a closed account, an invited one; and the address of its welcome."""
    cast, now = make.cast(), datetime.now(UTC)
    make.version(cast=cast, description="Checks a refund. " * 8)
    make.version("order-find", cast=cast).skill.maintainers.add(cast.ines)
    make.agent(team=cast.payments, description="Answers at the desk")
    make.team("field", "Field Sales of the Northern and Eastern Regions")
    production = make.environment("production")
    make.grant(cast.ines, Role.APPROVER, team=cast.payments, environment=production, may_override=True)
    make.token(user=cast.ines)
    make.delegation(cast.mara, cast.nora, team=cast.payments, environment=production, starts_at=now)
    make.delegation(cast.ines, cast.nora, starts_at=now + timedelta(days=2))
    make.delegation(cast.otto, cast.mara, ended_at=make.NOW)
    User.objects.filter(username="lena").update(email="lena.vega@a-rather-long-name-of-a-host.example.org")
    ada = Actor(user=cast.ada)
    wen = people.invite(username="wen", name="Wen Li", actor=ada, now=make.NOW)
    link = people.make_link(person=wen, actor=ada, now=make.NOW)
    return cast, reverse("welcome", args=[link.uid, link.token])


@pytest.mark.parametrize(("name", "address"), PAGES, ids=[f"{name}:{address}" for name, address in PAGES])
def test_pages(open_page: OpenPage, scene: tuple[Cast, str], name: str, address: str) -> None:
    cast, welcome = scene
    for width in WIDTHS:
        user = getattr(cast, name) if name else None
        judge(open_page(address.format(welcome=welcome), user=user, width=width))


def test_somebody_is_invited_and_comes_in(open_page: OpenPage, scene: tuple[Cast, str]) -> None:
    cast, _ = scene
    page = open_page("/people/invite/", user=cast.ada)
    page.get_by_label("User name").fill("tao")
    page.get_by_label("First role").select_option("publisher")
    page.get_by_label("Team").select_option("payments")
    page.get_by_role("button", name="Make the account and the link").click()
    link = page.locator(".secret code").inner_text()
    judge(page)
    guest = open_page(link, user=None)
    guest.get_by_label("New password", exact=True).fill("a kettle of seven fish")
    guest.get_by_label("New password confirmation").fill("a kettle of seven fish")
    guest.get_by_role("button", name="Save it and sign in").click()
    expect(guest.locator("#toasts")).to_contain_text("Welcome.")
    guest.goto(link)
    expect(guest.get_by_role("heading", level=1)).to_have_text("This link works no more")


def test_people_are_filtered_while_typing(open_page: OpenPage, scene: tuple[Cast, str]) -> None:
    cast, _ = scene
    page = open_page("/people/", user=cast.ada)
    page.get_by_label("Filter by name or e-mail").fill("okafor")
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    page.get_by_label("Filter by name or e-mail").fill("")
    page.get_by_label("State").select_option("waiting")
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    expect(page.locator("#rows")).to_contain_text("Wen Li")


def test_rights_are_lent_by_keyboard_and_ended(open_page: OpenPage, scene: tuple[Cast, str]) -> None:
    cast, _ = scene
    page = open_page("/delegations/new/", user=cast.mara)
    page.get_by_label("To whom (user name)").fill("otto")
    until = (datetime.now(UTC) + timedelta(days=3)).strftime("%Y-%m-%dT%H:%M")
    page.get_by_label("Until (UTC)").fill(until)
    page.get_by_label("Reason").fill("On leave.")
    page.get_by_role("button", name="Lend them").press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Your rights are lent to Otto Kraus.")
    page.get_by_role("button", name="End what Mara Lindqvist lends to Otto Kraus").press("Enter")
    expect(page.locator("#past")).to_contain_text("Mara Lindqvist → Otto Kraus")
    assert Delegation.objects.get(giver=cast.mara, taker=cast.otto).ended_at
