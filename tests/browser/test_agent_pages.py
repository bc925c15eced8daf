"""Agents and their tokens in Chromium: by axe-core with dialogs open, and by keyboard alone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from catalog.models import Agent, Token
from catalog.tokens import digest_of
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility_work import WIDTHS, judge
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Who looks, at what address, and what they press before (a button or a link).
PAGES = (
    ("ines", "/agents/front-desk/", ""),
    ("ines", "/agents/front-desk/", "not served to it"),
    ("ines", "/agents/front-desk/", "expired or revoked"),
    ("ines", "/agents/front-desk/", "Replace"),
    ("ines", "/agents/front-desk/", "Revoke all"),
    ("nora", "/agents/front-desk/", ""),
    ("ines", "/agents/front-desk/settings/", ""),
    ("ada", "/agents/front-desk/settings/", "Retire the agent…"),
    ("nora", "/agents/front-desk/settings/", ""),
    ("ines", "/agents/?retired=1", ""),
    ("sven", "/agents/?retired=1", ""),
    ("ines", "/agents/till/", ""),
    ("ines", "/tokens/", "Replace"),
    ("ines", "/tokens/{token}/rotate/", ""),
    ("ines", "/tokens/{ended}/rotate/", ""),
)


@pytest.fixture
def scene() -> tuple[Cast, dict[str, str]]:
    """An agent with limits, and tokens in every state; one that is retired; and the ids of two tokens."""
    cast, now = make.cast(), timezone.now()
    make.grant(cast.nora, "publisher", team=cast.payments, environment=make.environment("staging"))
    risky = make.version(cast=cast, risk_level="high", permissions=("network",))
    for version in (risky, make.version("order-find", cast=cast)):
        make.release(version, "staging", cast=cast)
    desk = make.agent(
        team=cast.payments, description="Answers at the desk", tags=["shop"], highest_risk="medium"
    )
    make.agent("till", team=cast.payments, retired_at=now)
    token, _ = make.token(agent=desk)
    make.token(agent=desk, environment="staging", days=5)
    replaced, _ = make.token(agent=desk, days=2)
    ended, _ = make.token(agent=desk, now=now - timedelta(days=91))
    Token.objects.filter(pk=replaced.pk).update(replaced_by=token, name="Nightly run of the desk in Lisbon")
    make.token(user=cast.ines)
    return cast, {"token": str(token.pk), "ended": str(ended.pk)}


@pytest.mark.parametrize(
    ("name", "address", "press"), PAGES, ids=[f"{name}:{address}{press}" for name, address, press in PAGES]
)
def test_pages(
    open_page: OpenPage, scene: tuple[Cast, dict[str, str]], name: str, address: str, press: str
) -> None:
    cast, ids = scene
    for width in WIDTHS:
        page = open_page(address.format(**ids), user=getattr(cast, name), width=width)
        if press in {"not served to it", "expired or revoked"}:
            page.locator("summary", has_text=press).click()
        elif press == "Replace":
            page.get_by_role("link", name=press).first.click()
            expect(page.get_by_role("dialog").get_by_role("button", name="Replace the token")).to_be_visible()
        elif press:
            page.get_by_role("button", name=press).first.click()
            expect(page.get_by_role("dialog")).to_be_visible()
        judge(page)


def focused(page: Page) -> str:
    """The text of what has the focus."""
    return str(page.evaluate("document.activeElement.textContent.trim()"))


def settled(page: Page) -> None:
    """Wait until htmx has put in its place what it got."""
    marks = ".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added"
    expect(page.locator(marks)).to_have_count(0)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_token_is_replaced_by_keyboard(open_page: OpenPage, width: int) -> None:
    cast = make.cast()
    old, _ = make.token(agent=make.agent(team=cast.payments))
    page = open_page("/agents/front-desk/", user=cast.ines, width=width)
    page.get_by_role("link", name="Replace").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=f"Replace the token {old.prefix}…")
    expect(dialog).to_be_visible()
    assert focused(page).startswith("Replace the token")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    with page.expect_response("**/rotate/"):
        page.get_by_role("link", name="Replace").press("Enter")
    settled(page)
    hours = page.get_by_label("Hours for which the old one works still")
    hours.fill("169")
    # The browser's own check says so; the server's, where it is asked.
    page.evaluate("document.querySelector('#rotate-token form').noValidate = true")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("less than or equal to 168")
    expect(hours).to_be_focused()
    hours.fill("48")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Copy the token now")).to_be_visible()
    judge(page)
    secret = page.locator(".secret code").inner_text()
    assert Token.objects.get(sha256=digest_of(secret)).agent == Agent.objects.get()
    expect(page.locator("#tokens")).to_contain_text("Replaced, ends in 2 days")
    page.keyboard.press("Escape")
    expect(page.locator(".secret")).to_be_visible()
    page.get_by_role("link", name="I have put it in a safe place").press("Enter")
    expect(page.locator(".secret")).to_have_count(0)
    assert secret not in page.content()


def test_a_token_that_was_replaced_meanwhile(open_page: OpenPage) -> None:
    cast = make.cast()
    old, _ = make.token(user=cast.ines)
    page = open_page("/tokens/", user=cast.ines)
    Token.objects.filter(pk=old.pk).update(revoked_at=timezone.now())
    page.get_by_role("link", name="Replace").click()
    dialog = page.get_by_role("dialog", name="cannot be replaced")
    expect(dialog).to_contain_text("is revoked; issue a new one.")
    judge(page)
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_without_script_a_token_is_replaced_on_a_page(open_page: OpenPage) -> None:
    cast = make.cast()
    old, _ = make.token(user=cast.ines)
    page = open_page(f"/tokens/{old.pk}/rotate/", user=cast.ines, width=390)
    page.get_by_role("button", name="Replace the token").click()
    expect(page.get_by_role("heading", name="Copy the token now")).to_be_visible()
    judge(page)


def test_an_agent_is_retired_by_keyboard(open_page: OpenPage, scene: tuple[Cast, dict[str, str]]) -> None:
    cast, _ = scene
    page = open_page("/agents/front-desk/settings/", user=cast.ines, width=390)
    page.get_by_role("button", name="Retire the agent…").press("Enter")
    page.get_by_label("Name of the agent").fill("front-desk")
    page.get_by_role("dialog").get_by_label("Reason").fill("The till does it.")
    page.get_by_role("dialog").get_by_role("button", name="Retire the agent").press("Enter")
    expect(page.get_by_role("link", name="Retired agents")).to_be_visible()
    assert Agent.objects.get(name="front-desk").retired_at
