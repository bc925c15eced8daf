"""The form and its report in Chromium: a report that is outdated, what is typed, keys alone, no script."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Dialog, Page, Route, expect

from catalog.models import Role, Version
from tests import make
from tests.browser.conftest import OpenPage
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = (1440, 390)


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
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, page.url


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


def test_a_file_that_was_chosen_before_the_script_came_is_checked(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/publish/", user=cast.ines)
    held: list[Route] = []
    page.route("**/js/publish*.js", lambda route: held.append(route))
    page.reload(wait_until="commit")
    choose(page, make.skill_md(version="1.0.0"))
    while not held:
        page.wait_for_timeout(50)
    held[0].continue_()
    expect(page.get_by_role("button", name="Publish refund-check 1.0.0")).to_be_visible()
    expect(page.locator("#chosen")).to_contain_text("SKILL.md")


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


def test_leaving_with_something_typed_is_asked_about(open_page: OpenPage, cast: Cast) -> None:
    make.version(cast=cast)
    page = open_page("/skills/refund-check/versions/1.0.0/edit/", user=cast.ines)
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    text = make.skill_md(version="1.1.0").decode()
    page.locator("#id_skill_text").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_text("Can be published")).to_be_visible()
    page.get_by_role("link", name="Back to 1.0.0").click()
    expect(page.locator("#id_skill_text")).to_have_value(text)
    assert asked == ["beforeunload"]
    page.get_by_role("button", name="Publish as a new version").click()
    page.wait_for_url("**/versions/1.1.0/")
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_role("heading", name="Environments")).to_be_visible()
    assert asked == ["beforeunload"]


def test_without_script_the_chosen_file_is_seen_and_the_answer_begins_at_its_report(
    browser: Browser, open_page: OpenPage, cast: Cast
) -> None:
    scripted = open_page("/publish/", user=cast.ines)
    context = browser.new_context(java_script_enabled=False, storage_state=scripted.context.storage_state())
    page = context.new_page()
    page.goto(scripted.url)
    choose(page, make.skill_md("Bad_Name"), name="bad.md")
    assert page.locator("#id_file").evaluate("one => getComputedStyle(one).opacity") == "1"
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("#report-h")).to_be_in_viewport()
    assert page.url.endswith("/publish/check/#report")
    context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_several_skills_are_folded_until_one_goes_there(open_page: OpenPage, cast: Cast, width: int) -> None:
    page = open_page("/publish/", user=cast.ines, width=width)
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        archive.writestr("refund-check/SKILL.md", make.skill_md(version="1.0.0"))
        archive.writestr("order-find/SKILL.md", make.skill_md("order-find", version="1.0.0"))
        archive.writestr("bad/SKILL.md", b"no frontmatter")
    file = {"name": "skills.zip", "mimeType": "application/zip", "buffer": buffer.getvalue()}
    page.set_input_files("#id_file", file)  # type: ignore[arg-type]
    order = page.locator("details.fold", has_text="order-find")
    expect(page.locator("details.fold", has_text="bad")).to_have_attribute("open", "")
    expect(order).not_to_have_attribute("open", "")
    page.get_by_role("link", name="order-find").click()
    expect(order).to_have_attribute("open", "")
    expect(order.get_by_role("heading", name="order-find")).to_be_in_viewport()
    judge(page)
