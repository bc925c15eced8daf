"""The bell, the notices and the audit log in a browser: what moves by itself, and axe-core."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from catalog import lifecycle
from catalog.models import JournalEntry, Release, State
from governance.models import Notice
from governance.notices import spread
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility_work import WIDTHS, judge
from tests.cast import actor
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def scene() -> tuple[Cast, Release]:
    """A proposal that Mara and Otto are told of, with another skill's version yanked before."""
    cast = make.cast()
    other = make.version("order-find", cast=cast)
    other.skill.maintainers.add(cast.mara)
    lifecycle.yank(version=other, actor=actor(cast.ines), reason="It finds the wrong order.", now=make.NOW)
    version = make.version(cast=cast)
    waiting = make.release(version, "production", cast=cast, state=State.PROPOSED, note="Rounds to cents.")
    spread(now=make.NOW)
    return cast, waiting


def shoot(page: Page, name: str) -> None:
    """A picture to look at, where a folder for it is named."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_notices(open_page: OpenPage, scene: tuple[Cast, Release]) -> None:
    cast, _ = scene
    for width in WIDTHS:
        page = open_page("/notices/", user=cast.mara, width=width)
        judge(page)
        shoot(page, f"notices-{width}")
        judge(open_page("/notices/?kind=people", user=cast.mara, width=width))
        judge(open_page("/notices/", user=cast.nora, width=width))
        judge(open_page("/profile/", user=cast.mara, width=width))


def test_marking_as_read_changes_the_bell(open_page: OpenPage, scene: tuple[Cast, Release]) -> None:
    cast, _ = scene
    page = open_page("/notices/", user=cast.mara)
    expect(page.locator("#bell .count")).to_contain_text("2")
    page.get_by_role("button", name=re.compile("Mark as read ?: Ines Okafor proposes")).click()
    expect(page.locator("#bell .count")).to_contain_text("1")
    expect(page.get_by_role("heading", name="1 unread")).to_be_focused()
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_role("heading", name="All read")).to_be_focused()
    expect(page.locator("#bell .count")).to_have_count(0)
    page.get_by_role("radio", name="Unread").check()
    expect(page.get_by_role("heading", name="Nothing new")).to_be_visible()
    assert page.url.endswith("show=unread&kind=")


def test_the_bell_tells_of_what_is_new_by_itself(open_page: OpenPage, scene: tuple[Cast, Release]) -> None:
    cast, waiting = scene
    Notice.objects.all().delete()
    page = open_page("/notices/", user=cast.mara)
    expect(page.locator("#bell .count")).to_have_count(0)
    row = JournalEntry.objects.get(verb="release.propose")
    Notice.objects.create(
        entry=row.n, user=cast.mara, verb="release.halt", told={"skill": "x"}, release=waiting, at=row.at
    )
    page.evaluate("htmx.ajax('GET', '/notices/bell/?had=', {source: '#bell', swap: 'outerHTML'})")
    expect(page.locator("#bell .count")).to_contain_text("1")
    expect(page.locator("#announce")).to_have_text("1 unread notice")
    expect(page.get_by_role("heading", name="1 unread")).to_be_visible()


def test_the_audit_log(open_page: OpenPage, scene: tuple[Cast, Release]) -> None:
    cast, _ = scene
    for width in WIDTHS:
        page = open_page("/audit-log/", user=cast.ada, width=width)
        page.locator("#entries summary").first.click()
        judge(page)
        shoot(page, f"audit-{width}")
        page.get_by_role("button", name="Check the whole chain now").click()
        expect(page.get_by_text("The audit log is as it was written")).to_be_visible()
        expect(page.get_by_role("heading", name="Proof")).to_be_focused()
        judge(page)
        judge(open_page("/audit-log/?actor=nobody", user=cast.ada, width=width))
    page.get_by_label("A head that you kept").fill("5:xyz")
    page.get_by_role("button", name="Check the whole chain now").click()
    expect(page.get_by_text("A head reads n:hash")).to_be_visible()
    judge(page)
    JournalEntry.objects.filter(n=2).update(actor="somebody")
    page.get_by_label("A head that you kept").fill("")
    page.get_by_role("button", name="Check the whole chain now").click()
    expect(page.get_by_text("entry 2 does not fit")).to_be_visible()
    judge(page)
    page.emulate_media(color_scheme="dark")
    shoot(page, "audit-broken-dark")


def test_filters_of_the_audit_log_stand_in_the_address(
    open_page: OpenPage, scene: tuple[Cast, Release]
) -> None:
    cast, _ = scene
    page = open_page("/audit-log/", user=cast.ada)
    page.get_by_label("What", exact=True).fill("version.yank")
    page.get_by_label("What", exact=True).press("Enter")
    expect(page.locator("#entries tbody > tr[id]")).to_have_count(1)
    assert "verb=version.yank" in page.url
    assert "verb=version.yank" in (
        page.get_by_role("link", name="Export what matches").get_attribute("href") or ""
    )
    page.reload()
    expect(page.locator("#entries tbody > tr[id]")).to_have_count(1)
