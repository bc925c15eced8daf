"""The pages of environments in a browser: axe-core, the preview as one types, and the dialog that removes."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from catalog.models import Environment, State
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility_work import WIDTHS, judge
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = (
    ("ada", "/environments/"),
    ("nora", "/environments/"),
    ("ada", "/environments/new/"),
    ("ada", "/environments/production/"),
    ("ravi", "/environments/production/"),
    ("nora", "/environments/development/"),
    ("nora", "/environments/moon/"),
    ("ada", "/environments/production/delete/"),
    ("ada", "/environments/staging/delete/"),
)


@pytest.fixture
def scene() -> Cast:
    """A version that is live and a proposal in production; nothing in staging."""
    cast = make.cast()
    make.release(make.version(cast=cast, permissions=("network",)), "production", cast=cast)
    waiting = make.version("order-find", cast=cast)
    make.release(waiting, "production", cast=cast, state=State.APPROVED)
    return cast


@pytest.mark.parametrize(("name", "address"), PAGES, ids=[f"{name}:{address}" for name, address in PAGES])
def test_pages(open_page: OpenPage, scene: Cast, name: str, address: str) -> None:
    for width in WIDTHS:
        judge(open_page(address, user=getattr(scene, name), width=width))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_preview_follows_what_is_typed_and_is_saved(open_page: OpenPage, scene: Cast, width: int) -> None:
    page = open_page("/environments/production/", user=scene.ada, width=width)
    allowed = page.get_by_role("checkbox", name="network")
    allowed.uncheck()
    expect(page.get_by_text("1 served version becomes unavailable")).to_be_visible()
    expect(page.get_by_text("Not allowed here: network.")).to_be_visible()
    judge(page)
    allowed.check()
    page.get_by_label("Approvals, high risk").fill("3")
    page.get_by_label("Approvals, high risk").press("Tab")
    expect(page.get_by_text("1 approval becomes void")).to_be_visible()
    expect(page.get_by_text("becomes unavailable")).to_have_count(0)
    page.get_by_role("button", name="Save the policy").click()
    expect(page.get_by_text("The policy of Production is saved.")).to_be_visible()
    assert Environment.objects.get(name="production").approvals_high == 3


def test_a_second_editor_sees_what_was_changed(open_page: OpenPage, scene: Cast) -> None:
    for width in WIDTHS:
        page = open_page("/environments/production/", user=scene.ada, width=width)
        changed = Environment.objects.get(name="production")
        changed.retention_days += 1
        changed.save()
        page.get_by_label("Approvals, low risk").fill("2")
        page.get_by_label("Approvals, low risk").press("Tab")
        expect(page.get_by_text("Somebody else has changed this policy meanwhile")).to_be_visible()
        judge(page)
        page.get_by_role("button", name="Save the policy").click()
        expect(page.get_by_text("Nothing of yours is saved.")).to_be_visible()
        judge(page)
        assert Environment.objects.get(name="production").approvals_low == 1


def test_what_is_wrong_is_said_in_the_preview_and_on_the_page(open_page: OpenPage, scene: Cast) -> None:
    page = open_page("/environments/production/", user=scene.ada, width=390)
    page.get_by_label("Title").fill("")
    page.get_by_label("Title").press("Tab")
    expect(page.get_by_text("Title: This field is required.")).to_be_visible()
    page.get_by_role("button", name="Save the policy").click()
    expect(page.get_by_text("Mend what is wrong above first.")).to_be_visible()
    judge(page)


def test_the_dialog_asks_for_the_name(open_page: OpenPage, scene: Cast) -> None:
    for width in WIDTHS:
        page = open_page("/environments/staging/", user=scene.ada, width=width)
        page.get_by_role("button", name="Remove the environment…").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        judge(page)
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("button", name="Remove the environment…").click()
    page.get_by_label("Type staging to confirm").fill("staging")
    page.get_by_role("button", name="Remove the environment", exact=True).click()
    expect(page.get_by_text("Staging is removed.")).to_be_visible()
    assert not Environment.objects.filter(name="staging").exists()
