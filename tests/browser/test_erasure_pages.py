"""Erasures in a browser: the steps with and without JavaScript, progress by itself, paper, and axe-core."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from governance.erasures import erase_due
from governance.models import Erasure
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility_work import WIDTHS, judge
from tests.governance.traced import ANNA, call, report, span, task

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def cast() -> make.Cast:
    cast = make.cast()
    desk = make.agent(team=cast.payments)
    now = timezone.now()
    for place in ("production", "staging"):
        calls = [call(f"{place}{n}", trace=f"t{n // 2}", intent=f"Write to {ANNA}") for n in range(9)]
        report(
            desk,
            *calls,
            spans=[span("s", trace="t0", user=ANNA)],
            tasks=[task("k", trace="t0")],
            now=now - timedelta(days=3),
            environment=place,
        )
    return cast


def shoot(page: Page, name: str) -> None:
    """A picture to look at, where a folder for it is named."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def erase() -> None:
    """The worker's turn, two minutes from now."""
    later = timezone.now() + timedelta(minutes=2)
    erase_due(clock=lambda: later, until=later + timedelta(minutes=1))


def test_from_the_form_to_the_report(open_page: OpenPage, cast: make.Cast) -> None:
    page = open_page("/erasures/", user=cast.ada)
    page.get_by_label("Value").fill(ANNA)
    page.get_by_label("Reason").fill("Request 118.")
    page.get_by_role("button", name="Look what there is").click()
    expect(page.get_by_role("heading", name="10 traces, 18 calls")).to_be_visible()
    assert page.url.endswith("/erasures/preview/")
    page.get_by_role("button", name="Erase these traces").click()
    expect(page.get_by_text("Waiting")).to_be_visible()
    erase()
    # It looks by itself.
    expect(page.locator("#progress")).to_contain_text("Done")
    expect(page.locator("#progress")).not_to_have_attribute("hx-trigger", "every 3s")
    assert ANNA not in page.content()
    page.emulate_media(media="print")
    expect(page.locator("#sidebar")).to_be_hidden()
    expect(page.get_by_text("Request 118.")).to_be_visible()
    shoot(page, "erasure-print")


def test_a_wrong_value_is_typed_again(open_page: OpenPage, cast: make.Cast) -> None:
    page = open_page("/erasures/", user=cast.ada)
    page.get_by_label("Value").fill("Anna Schmidt")
    page.get_by_label("Reason").fill("Request 118.")
    page.get_by_role("button", name="Look what there is").click()
    expect(page.get_by_text("Nothing is masked in this value")).to_be_visible()
    expect(page.get_by_label("Value")).to_have_value("")
    expect(page.get_by_label("Reason")).to_have_value("Request 118.")
    judge(page)
    shoot(page, "erasure-wrong")


def test_every_page_in_every_width(open_page: OpenPage, cast: make.Cast) -> None:
    for width in WIDTHS:
        page = open_page("/erasures/", user=cast.ada, width=width)
        judge(page)
        shoot(page, f"erasures-{width}")
        page.get_by_label("Value").fill(ANNA)
        page.get_by_label("Reason").fill("Request 118.")
        page.get_by_role("button", name="Look what there is").click()
        judge(page)
        shoot(page, f"erasure-preview-{width}")
        page.get_by_role("button", name="Erase these traces").click()
        expect(page.get_by_role("heading", name="Report")).to_be_visible()
        judge(page)
        shoot(page, f"erasure-waiting-{width}")
    erase()
    Erasure.objects.update(lost=3)
    for width in WIDTHS:
        page = open_page(f"/erasures/{Erasure.objects.first().pk}/", user=cast.ada, width=width)  # type: ignore[union-attr]  # there are some
        judge(page)
        shoot(page, f"erasure-done-{width}")
