"""Switching a skill off and on in Chromium: by keyboard, in dialogs, on a phone, without script."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from catalog.degradations import degrade
from catalog.models import Degradation, Skill
from tests import cast as crew
from tests import make
from tests.browser.conftest import OpenPage
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PAGE = "/skills/refund-check/"


@pytest.fixture
def cast() -> Cast:
    """refund-check and refund-issue, live in production."""
    cast = make.cast()
    for name in ("refund-check", "refund-issue"):
        make.release(make.version(name, cast=cast), "production", cast=cast)
    return cast


def switched_off(cast: Cast) -> None:
    degrade(
        skill=Skill.objects.get(folder="refund-check"),
        fallback=Skill.objects.get(folder="refund-issue"),
        reason="It grants refunds that the rules do not know, since this morning.",
        actor=crew.actor(cast.mara),
        now=make.NOW,
    )


def faults_of(page: Page) -> list[str]:
    """What axe finds, in both themes and two widths."""
    found: list[str] = []
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            found += [
                f"{width} {theme} {one['id']} {one['nodes'][0]['html'][:120]}"
                for one in Axe().run(page).response["violations"]
            ]
        across = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert across == 0, f"it scrolls sideways at {width} px"
    return found


def test_by_keyboard_with_a_mistake_first(open_page: OpenPage, cast: Cast) -> None:
    page = open_page(PAGE, user=cast.ines)
    page.get_by_role("button", name="Switch off…").focus()
    page.keyboard.press("Enter")
    dialog = page.locator("#dialog-degrade")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_label("Production")).to_be_checked()
    dialog.get_by_label("Fallback").fill("refund-isue")
    dialog.get_by_label("Reason").focus()
    page.keyboard.type("Wrong totals.")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("There is no skill refund-isue. Did you mean refund-issue")
    expect(dialog.get_by_label("Reason")).to_have_value("Wrong totals.")
    dialog.get_by_label("Fallback").fill("refund-issue")
    dialog.get_by_role("button", name="Switch it off").click()
    expect(page.get_by_role("heading", name="Switched off in Production")).to_be_visible()
    expect(page.locator("#toasts")).to_contain_text("refund-check is switched off in Production.")
    page.get_by_role("button", name="Switch on again…").click()
    page.locator("#dialog-restore").get_by_role("button", name="Switch it on").click()
    expect(page.get_by_role("heading", name="Switched off in Production")).to_have_count(0)
    assert not Degradation.objects.filter(restored_at=None).exists()


def test_names_are_fetched_when_the_field_is_used(open_page: OpenPage, cast: Cast) -> None:
    page = open_page(PAGE, user=cast.ines)
    page.get_by_role("button", name="Switch off…").click()
    assert page.locator("#degrade-live option").count() == 0
    page.locator("#dialog-degrade").get_by_label("Fallback").click()
    expect(page.locator("#degrade-live option")).to_have_count(1)


def test_escape_leaves_it_on(open_page: OpenPage, cast: Cast) -> None:
    page = open_page(PAGE, user=cast.ines)
    page.get_by_role("button", name="Switch off…").click()
    page.keyboard.press("Escape")
    expect(page.locator("#dialog-degrade")).to_be_hidden()
    assert not Degradation.objects.exists()


def test_axe_finds_nothing(open_page: OpenPage, cast: Cast) -> None:
    page = open_page(PAGE, user=cast.ines)
    page.get_by_role("button", name="Switch off…").click()
    assert faults_of(page) == []
    switched_off(cast)
    for address in (PAGE, f"{PAGE}switch-off/", f"{PAGE}restore/", "/", f"{PAGE}releases/"):
        page = open_page(address, user=cast.mara)
        assert faults_of(page) == [], address
    page = open_page(PAGE, user=cast.mara)
    page.get_by_role("button", name="Switch on again…").click()
    assert faults_of(page) == []


def test_without_script(browser: Browser, live_server: LiveServer, open_page: OpenPage, cast: Cast) -> None:
    cookies = open_page(PAGE, user=cast.ines).context.cookies()
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    context.add_cookies(cookies)  # type: ignore[arg-type]  # what it gives it takes
    page = context.new_page()
    page.goto(PAGE)
    page.get_by_role("button", name="Switch off…").click()
    page.locator("#dialog-degrade").get_by_role("button", name="Switch it off").click()
    expect(page.locator("main")).to_contain_text("Give a reason; it is kept in the audit log.")
    page.get_by_label("Reason").fill("Wrong totals.")
    page.get_by_role("button", name="Switch it off").click()
    expect(page.get_by_role("heading", name="Switched off in Production")).to_be_visible()
    context.close()
