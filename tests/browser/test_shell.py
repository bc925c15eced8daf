"""What the shell does with script: filters, tabs, search, drawer, theme, copying, errors, an expired session."""

from __future__ import annotations

import re

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import expect

from tests import make
from tests.browser.conftest import OpenPage
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = (1440, 390)


@pytest.fixture
def cast() -> Cast:
    cast = make.cast()
    make.release(make.version("refund-check", cast=cast), "production", cast=cast)
    make.version("ticket-triage", cast=cast, risk_level="high")
    return cast


def test_a_filter_changes_rows_counts_address_and_keeps_the_focus(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/", user=cast.nora)
    page.get_by_label("High").check()
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/\?risk=high$"))
    expect(page.locator("#announce")).to_have_text("1 skill")
    expect(page.locator("#risk-high")).to_be_focused()
    page.locator("#filter").fill("nothing-like-it")
    expect(page.get_by_text("No skill matches “nothing-like-it”")).to_be_visible()
    page.go_back()
    expect(page.locator("#rows tbody tr")).to_have_count(1)


def test_a_tab_is_a_part_with_an_address_and_a_title(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/skills/refund-check/", user=cast.nora)
    page.locator("#tab-files").click()
    expect(page).to_have_url(re.compile(r"/skills/refund-check/files/$"))
    expect(page).to_have_title(re.compile("SKILL.md · refund-check"))
    expect(page.locator("#tab-files")).to_have_attribute("aria-current", "page")
    expect(page.locator("#tab-files")).to_be_focused()
    page.go_back()
    expect(page.locator("#tab-overview")).to_have_attribute("aria-current", "page")
    expect(page.locator(".app")).to_have_count(1)


def test_the_search_is_reached_and_walked_by_keys(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/", user=cast.nora)
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("triage")
    expect(page.locator("#search-results a")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/skills/ticket-triage/$"))


def test_escape_closes_the_results(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/", user=cast.nora)
    page.locator("#q").fill("triage")
    expect(page.locator("#search-results a")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("#search-results a")).to_have_count(0)


def test_the_environment_is_chosen_for_every_page(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/", user=cast.nora)
    page.get_by_label("Production", exact=True).first.check()
    expect(page.get_by_text("Every skill that is served in Production.")).to_be_visible()
    expect(page.locator("#rows tbody tr")).to_have_count(1)


def test_the_theme_is_kept(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/", user=cast.nora)
    page.emulate_media(color_scheme="light")
    page.get_by_label("Switch between light and dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_navigation_is_a_drawer_on_a_phone(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/", user=cast.ines, width=390)
    expect(page.locator("#sidebar")).to_be_hidden()
    page.get_by_label("Open navigation").click()
    expect(page.locator("#sidebar")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#sidebar")).to_be_hidden()


def test_an_expired_session_leads_to_the_sign_in_and_back(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/skills/refund-check/", user=cast.nora)
    Session.objects.all().delete()
    page.locator("#tab-versions").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Username").fill("nora")
    page.get_by_label("Password").fill(make.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile("/skills/refund-check/$"))


def test_what_went_wrong_is_told_and_the_page_stays(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/skills/refund-check/", user=cast.nora)
    make.version("refund-check", "1.1.0", cast=cast)
    cast.payments.skills.update(visibility="team")
    page.locator("#tab-versions").click()
    expect(page.locator("#toasts .toast")).to_contain_text("There is no skill called refund-check")
    expect(page.get_by_role("heading", name="refund-check")).to_be_visible()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_with_errors_begins_at_the_first_of_them(open_page: OpenPage, cast: Cast, width: int) -> None:
    page = open_page("/skills/refund-check/settings/", user=cast.ines, width=width)
    page.get_by_role("button", name="Delete the skill…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the skill").click()
    expect(page.locator("#delete-confirm")).to_be_focused()
    expect(page.locator("#delete-confirm")).to_be_in_viewport()


@pytest.mark.parametrize("secure", [True, False])
def test_copying_says_so_and_works_without_https(open_page: OpenPage, cast: Cast, secure: bool) -> None:
    page = open_page("/skills/refund-check/versions/1.0.0/", user=cast.ines)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    if not secure:
        page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    button = page.get_by_role("button", name="Copy as Markdown")
    markdown = button.get_attribute("data-copy")
    button.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    expect(page.locator("#announce")).to_have_text("Copied")
    expect(button).to_be_visible()  # the button is itself again
    page.locator("#q").evaluate(
        "one => one.replaceWith(Object.assign(document.createElement('textarea'), {id: 'q'}))"
    )
    page.locator("#q").focus()
    page.keyboard.press("Control+V")
    expect(page.locator("#q")).to_have_value(markdown or "")
