"""Publishing, deciding and issuing tokens in Chromium: what only a browser can show."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from catalog.models import Release, State, Token, Version
from tests import make
from tests.browser.conftest import OpenPage
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def cast() -> Cast:
    """The cast."""
    return make.cast()


def choose(page: Page, content: bytes) -> None:
    """Choose a SKILL.md of this content."""
    page.set_input_files("#id_file", {"name": "SKILL.md", "mimeType": "text/markdown", "buffer": content})


def test_a_file_is_checked_when_chosen_and_published_by_one_of_two_clicks(
    open_page: OpenPage, cast: Cast
) -> None:
    page = open_page("/publish/", user=cast.ines)
    choose(page, make.skill_md("Bad_Name"))
    expect(page.locator("#report-h")).to_be_focused()
    expect(page.get_by_role("button", name="Publish", exact=True)).to_be_disabled()
    choose(page, make.skill_md(version="1.0.0"))
    expect(page.get_by_role("button", name="Publish refund-check 1.0.0")).to_be_visible()
    page.get_by_label("Risk level").select_option("high")
    expect(page.get_by_role("button", name="Publish refund-check 1.0.0")).to_be_hidden()
    page.get_by_role("button", name="Check the form again").click()
    assert not Version.objects.exists()
    page.get_by_role("button", name="Publish refund-check 1.0.0").dblclick()
    page.wait_for_url("**/skills/refund-check/versions/1.0.0/")
    expect(page.locator("#toasts")).to_contain_text("refund-check 1.0.0 is published.")
    assert Version.objects.get().risk_level == "high"


def test_errors_come_and_go_and_the_file_stays_chosen(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/publish/", user=cast.ines)
    page.get_by_label("Tags").fill(",".join(f"tag-{n}" for n in range(30)))
    choose(page, make.skill_md(version="1.0.0"))
    expect(page.locator("#report")).to_contain_text("Give at most 20 tags.")
    expect(page.get_by_label("Tags")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Tags").fill("money")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("button", name="Publish refund-check 1.0.0")).to_be_visible()
    expect(page.get_by_label("Tags")).not_to_have_attribute("aria-invalid", "true")


def test_a_file_that_is_too_large_is_not_sent(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/publish/", user=cast.ines)
    page.evaluate("document.getElementById('publish-form').dataset.mostBytes = 10")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    choose(page, make.skill_md())
    expect(page.locator("#report")).to_contain_text("The file is too large")
    assert "POST" not in sent


@pytest.mark.parametrize(
    ("status", "said"),
    [(413, "The file is too large"), (500, "The server could not answer")],
)
def test_an_upload_that_fails_is_explained_in_its_place(
    open_page: OpenPage, cast: Cast, status: int, said: str
) -> None:
    page = open_page("/publish/", user=cast.ines)
    page.get_by_label("Notes").fill("Rounds to cents.")
    page.route("**/publish/check/", lambda route: route.fulfill(status=status, body="{}"))
    choose(page, make.skill_md(version="1.0.0"))
    expect(page.locator("#report")).to_contain_text(said)
    expect(page.locator("#toasts .toast")).to_have_count(0)
    expect(page.get_by_label("Notes")).to_have_value("Rounds to cents.")
    # htmx writes a broken connection to the console as an error, so here only its event comes.
    page.evaluate("htmx.trigger('#publish-form', 'htmx:sendError')")
    expect(page.locator("#report")).to_contain_text("The connection broke")
    page.unroute("**/publish/check/")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("button", name="Publish refund-check 1.0.0")).to_be_visible()


def test_a_session_that_ended_loses_nothing(open_page: OpenPage, cast: Cast) -> None:
    page = open_page("/publish/", user=cast.ines)
    page.get_by_label("Notes").fill("Rounds to cents.")
    cookies = page.context.cookies()
    page.context.clear_cookies()
    choose(page, make.skill_md(version="1.0.0"))
    expect(page.locator("#report")).to_contain_text("Your session has ended")
    # Signed in again in another tab: the session is there, the form's token is another one.
    page.context.add_cookies([cookie for cookie in cookies if cookie.get("name") == "sessionid"])  # type: ignore[misc]
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("button", name="Publish refund-check 1.0.0")).to_be_visible()
    expect(page.get_by_label("Notes")).to_have_value("Rounds to cents.")


def test_a_decision_is_a_dialog_that_keeps_what_is_wrong(open_page: OpenPage, cast: Cast) -> None:
    version = make.version(cast=cast, risk_level="high")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    page = open_page(f"/releases/{release.pk}/", user=cast.mara)
    page.get_by_role("button", name="Approve 1.0.0 for Production").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Note")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Approve 1.0.0 for Production").click()
    dialog.get_by_label("Note").fill("Read twice.")
    dialog.get_by_role("button", name="Approve 1.0.0 for Production").click()
    expect(dialog).to_contain_text("Type refund-check to confirm a high-risk release")
    expect(dialog.get_by_label("Note")).to_have_value("Read twice.")
    dialog.get_by_label("Type refund-check to confirm").fill("refund-check")
    dialog.get_by_label("Your password").fill(make.PASSWORD)
    dialog.get_by_role("button", name="Approve 1.0.0 for Production").click()
    expect(page.locator("#release")).to_contain_text("1 of 2 approvals.")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.locator("#toasts")).to_contain_text("waits for approval in Production")


def test_a_lost_race_shows_the_release_as_it_is(open_page: OpenPage, cast: Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    page = open_page(f"/releases/{release.pk}/", user=cast.mara)
    other = open_page(f"/releases/{release.pk}/", user=cast.otto)
    for one in (page, other):
        one.get_by_role("button", name="Reject 1.0.0").click()
        one.get_by_role("dialog").get_by_label("Reason").fill("Wrong totals.")
        one.get_by_role("dialog").get_by_role("button", name="Reject 1.0.0").click()
    expect(page.locator("#release")).to_contain_text("Rejected")
    expect(other.get_by_role("alert")).to_contain_text("Nothing was changed")
    expect(other.get_by_role("dialog")).to_have_count(0)
    assert Release.objects.get().state == State.REJECTED


def test_a_secret_leaves_with_its_dialog(open_page: OpenPage, cast: Cast) -> None:
    make.agent(team=cast.payments)
    page = open_page("/agents/front-desk/", user=cast.ines)
    page.get_by_role("button", name="Issue a token").click()
    page.get_by_role("button", name="Issue the token").click()
    secret = page.get_by_role("dialog").locator(".secret code")
    expect(secret).to_contain_text("qm_")
    expect(page.locator("#tokens tbody tr")).to_have_count(1)
    shown = secret.inner_text()
    page.keyboard.press("Escape")
    expect(secret).to_be_visible()  # no key loses it
    page.get_by_role("link", name="I have put it in a safe place").click()
    expect(page.locator(".secret")).to_have_count(0)
    expect(page.locator("body")).not_to_contain_text(shown)
    page.get_by_role("button", name="Revoke").click()
    page.get_by_role("button", name="Revoke the token").click()
    expect(page.locator("#toasts")).to_contain_text("is revoked")
    assert Token.objects.get().revoked_at
