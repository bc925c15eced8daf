"""The pages of masking in a browser: axe-core, a rule tried as it is written, and the dialog that switches a kind off."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from governance.models import MaskingRule, MaskingSwitch
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility_work import WIDTHS, judge
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def scene() -> Cast:
    """A rule that masks, one that rests, and a kind of credentials that is off."""
    cast = make.cast()
    times = {"created_at": make.NOW, "changed_at": make.NOW}
    MaskingRule.objects.create(
        kind="STAFF",
        description="Numbers of staff",
        pattern="EMP-[0-9]{5}",
        fields=["staff_id", "manager"],
        **times,
    )
    MaskingRule.objects.create(kind="SALARY", fields=["salary"], is_on=False, **times)
    MaskingSwitch.objects.create(kind="KEY", reason="Made-up keys alone.", changed_at=make.NOW)
    return cast


@pytest.mark.parametrize("width", WIDTHS)
def test_pages(open_page: OpenPage, scene: Cast, width: int) -> None:
    rule = MaskingRule.objects.get(kind="STAFF")
    titles = {
        "/masking/": "Masking",
        "/masking/rules/new/": "Write a rule",
        f"/masking/rules/{rule.pk}/": "The rule STAFF",
        f"/masking/rules/{rule.pk}/delete/": "Delete the rule STAFF?",
        "/masking/kinds/EMAIL/": "Switch EMAIL off",
    }
    for address, title in titles.items():
        page = open_page(address, user=scene.ada, width=width)
        judge(page)
        expect(page.locator("main h1")).to_have_text(title)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_rule_is_tried_and_saved(open_page: OpenPage, scene: Cast, width: int) -> None:
    page = open_page("/masking/rules/new/", user=scene.ada, width=width)
    page.get_by_label("Kind").fill("deal")
    page.get_by_label("Pattern").fill("(")
    page.get_by_label("Sample", exact=True).fill('{"note": "D-4711 goes to jane@example.com"}')
    page.get_by_role("button", name="Try the rule").click()
    expect(page.get_by_text("a bracket is opened and not closed")).to_be_visible()
    page.get_by_label("Pattern").fill("D-[0-9]{4}")
    page.get_by_role("button", name="Try the rule").click()
    expect(page.get_by_text("The rule finds 1 value in the sample.")).to_be_visible()
    assert page.locator("#trial mark").all_inner_texts()[0] == "D-4711"
    judge(page)
    page.get_by_role("button", name="Save the rule").click()
    expect(page.get_by_text("The rule DEAL is saved and holds now.")).to_be_visible()
    assert MaskingRule.objects.filter(kind="DEAL").exists()


def test_a_sample_is_masked_in_its_place(open_page: OpenPage, scene: Cast) -> None:
    page = open_page("/masking/", user=scene.ada, width=390)
    page.get_by_label("Sample").fill("Write to jane@example.com")
    page.get_by_role("button", name="Mask the sample").click()
    expect(page.locator("#trial pre")).to_contain_text("Write to [EMAIL·")
    judge(page)


def test_the_dialog_asks_for_a_reason(open_page: OpenPage, scene: Cast) -> None:
    page = open_page("/masking/", user=scene.ada)
    page.get_by_role("button", name="Switch EMAIL off").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    judge(page)
    dialog.get_by_label("Reason").fill("All addresses are made up.")
    dialog.get_by_role("button", name="Switch it off").click()
    expect(page.get_by_text("EMAIL is masked no longer.")).to_be_visible()
    assert MaskingSwitch.objects.filter(kind="EMAIL").exists()
