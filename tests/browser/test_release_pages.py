"""Releases in Chromium: a canary to the end and back, decisions by keyboard alone, gates and glass."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from catalog import rollout
from catalog.canaries import Plan
from catalog.journal import Actor
from catalog.models import Release, State, User
from governance import approvals, rollouts
from tests import make
from tests.browser.conftest import OpenPage
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def cast() -> Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def keeper(cast: Cast) -> User:
    """Vera, approver with the right to override and to break the glass."""
    vera = make.user("vera", first_name="Vera")
    make.grant(vera, "approver", may_override=True)
    return vera


def canary(cast: Cast, plan: Plan) -> Release:
    """1.1.0 as a canary beside 1.0.0 in production."""
    make.release(make.version(cast=cast), "production", cast=cast)
    now = timezone.now()
    release = approvals.propose(
        version=make.version(number="1.1.0", cast=cast),
        environment=make.environment("production"),
        actor=Actor(cast.ines),
        plan=plan,
        now=now,
    )
    make.approve(release, cast.mara, now=now)
    return rollouts.start(release=release, actor=Actor(cast.mara), now=now)


@pytest.fixture
def poll(live_server: LiveServer, cast: Cast) -> Callable[[str], str]:
    """What the feed gives an agent as the version of refund-check, by the caller's key; "" for none."""
    _row, secret = make.token(agent=make.agent(team=cast.payments))

    def poll(key: str) -> str:
        asked = urllib.request.Request(
            f"{live_server.url}/api/v1/feed?key={key}", headers={"Authorization": f"Bearer {secret}"}
        )
        with urllib.request.urlopen(asked, timeout=20) as answer:
            found: dict[str, Any] = json.load(answer)
        return next((one["version"] for one in found["skills"] if one["name"] == "refund-check"), "")

    return poll


def callers(release: Release, count: int, *, candidate: bool) -> list[str]:
    """The keys of so many callers that the canary serves at five percent, or does not."""
    where = {"seed": release.seed, "skill": "refund-check", "environment": "production"}
    keys = (f"session-{n}" for n in range(10_000))
    return list(
        islice(
            (
                key
                for key in keys
                if rollout.is_candidate(bucket=rollout.bucket_of(key=key, **where), percent=5) is candidate
            ),
            count,
        )
    )


def served(poll: Callable[[str], str], page: Page, keys: list[str], wanted: set[str]) -> set[str]:
    """What these callers get, once a poll after the change has reached the feed."""
    for _ in range(20):
        found = {poll(key) for key in keys}
        if found == wanted:
            break
        page.wait_for_timeout(500)
    return found


def test_a_canary_goes_to_everyone_and_back_and_the_feed_follows(
    open_page: OpenPage, cast: Cast, poll: Callable[[str], str]
) -> None:
    release = canary(cast, Plan(percent=5, steps=(5, 25, 100), soak_minutes=60))
    page = open_page(f"/releases/{release.pk}/", user=cast.mara)
    early, late = callers(release, 3, candidate=True), callers(release, 3, candidate=False)
    assert served(poll, page, early, {"1.1.0"}) == {"1.1.0"}
    assert served(poll, page, late, {"1.0.0"}) == {"1.0.0"}
    share = page.get_by_label("Share of callers, in percent")
    expect(share).to_have_value("25")
    slider = page.get_by_role("slider", name="Share of callers who get the candidate")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(share).to_have_value("26")
    expect(page.locator("[data-share='stable']")).to_have_text("74")
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Change the canary's share").click()
    expect(page.locator("#release")).to_contain_text("Canary 25 %")
    expect(page.get_by_label("Share of callers, in percent")).to_have_value("100")
    page.get_by_role("button", name="Change the canary's share").click()
    expect(page.locator("#toasts")).to_contain_text("refund-check 1.1.0 is live in Production.")
    assert served(poll, page, early + late, {"1.1.0"}) == {"1.1.0"}
    page.get_by_role("button", name="Roll back to 1.0.0").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Roll back to 1.0.0").click()
    expect(dialog).to_contain_text("Give a reason; it is kept with the release.")
    dialog.get_by_label("Reason").fill("Wrong totals.")
    dialog.get_by_role("button", name="Roll back to 1.0.0").click()
    expect(page.locator("#release")).to_contain_text("Wrong totals.")
    assert served(poll, page, early + late, {"1.0.0"}) == {"1.0.0"}


def tab_to(page: Page, name: str) -> None:
    """Tab until the control of that name is focused."""
    script = """() => { const at = document.activeElement;
      return (at.labels?.[0]?.textContent ?? at.textContent).trim() }"""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate(script).startswith(name):
            return
    raise AssertionError(f"Tab does not reach {name!r}.")


def test_high_risk_is_approved_by_keyboard_alone(open_page: OpenPage, cast: Cast) -> None:
    version = make.version(cast=cast, risk_level="high")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    page = open_page(f"/releases/{release.pk}/", user=cast.mara)
    tab_to(page, "Approve 1.0.0 for Production")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Note")).to_be_focused()
    page.keyboard.type("Read twice.")
    page.keyboard.press("Tab")
    page.keyboard.type("refund-check")
    page.keyboard.press("Tab")
    expect(dialog.get_by_label("Your password")).to_be_focused()
    page.keyboard.type("not this one")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("Enter the password of your account; this one is missing or wrong.")
    expect(dialog.get_by_label("Your password")).to_have_value("")
    expect(dialog.get_by_label("Note")).to_have_value("Read twice.")
    tab_to(page, "Your password")
    page.keyboard.type(make.PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#release")).to_contain_text("1 of 2 approvals.")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    assert release.approvals.get().confirmed


def test_a_publisher_sees_why_they_cannot_approve(open_page: OpenPage, cast: Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    page = open_page(f"/releases/{release.pk}/", user=cast.ines, width=390)
    approve = page.get_by_role("button", name="Approve 1.0.0 for Production")
    expect(approve).to_have_attribute("aria-disabled", "true")
    expect(page.locator("#why-not")).to_contain_text("Deciding needs the role approver for Production.")
    expect(page.locator("#why-not")).to_contain_text("Can decide: Mara Lindqvist, Otto Kraus.")
    approve.click(force=True)
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_halted_canary_is_resumed(open_page: OpenPage, cast: Cast) -> None:
    release = canary(cast, Plan(percent=20))
    page = open_page(f"/releases/{release.pk}/", user=cast.mara)
    page.get_by_role("button", name="Halt the canary").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("Errors.")
    page.get_by_role("dialog").get_by_role("button", name="Halt the canary").click()
    expect(page.locator("#release")).to_contain_text("Halted")
    page.get_by_role("button", name="Resume the canary").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Share of callers, in percent")).to_have_value("20")
    dialog.get_by_role("button", name="Resume the canary").click()
    expect(page.locator("#toasts")).to_contain_text("refund-check 1.1.0 goes to 20 % of the callers")
    expect(page.locator("#release")).to_contain_text("Resumed.")


def test_a_gate_is_overridden_and_keeps_its_mark(open_page: OpenPage, cast: Cast, keeper: User) -> None:
    version = make.version(cast=cast, stability="experimental")
    release = make.release(version, "production", cast=cast, state=State.APPROVED)
    page = open_page(f"/releases/{release.pk}/", user=keeper)
    page.get_by_role("button", name="Override the gate Stability").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The version is experimental; stable is asked for here.")
    dialog.get_by_label("Reason").fill("Tried for a month.")
    dialog.get_by_role("button", name="Override the gate Stability").click()
    expect(page.locator(".answer")).to_contain_text("Overridden by Vera")
    other = open_page(f"/releases/{release.pk}/", user=cast.ravi)
    expect(other.locator(".answer")).to_contain_text("Tried for a month.")
    expect(other.get_by_role("button", name="Override the gate Stability")).to_have_count(0)


def test_the_glass_is_broken_once_and_in_sight_for_ever(
    open_page: OpenPage, cast: Cast, keeper: User
) -> None:
    version = make.version(cast=cast, stability="experimental")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    page = open_page(f"/releases/{release.pk}/", user=keeper)
    page.get_by_role("button", name="Break the glass").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("Tills are down.")
    dialog.get_by_label("Type refund-check to confirm").fill("refund-check")
    dialog.get_by_label("Your password").fill(make.PASSWORD)
    dialog.get_by_role("button", name="Break the glass").click()
    expect(page.locator("#glass")).to_contain_text("Vera broke the glass")
    expect(page.locator("#toasts")).to_contain_text("refund-check 1.0.0 is live in Production.")
    other = open_page("/inbox/", user=cast.otto)
    other.get_by_role("link", name="refund-check 1.0.0").first.click()
    expect(other.locator("#glass")).to_contain_text("Tills are down.")


def test_names_on_offer_go_into_their_field_and_the_preview_follows(open_page: OpenPage, cast: Cast) -> None:
    make.version(cast=cast)
    make.agent(team=cast.payments)
    page = open_page("/skills/refund-check/releases/propose/?environment=production", user=cast.ines)
    page.get_by_text("1 on offer").first.click()
    page.get_by_role("button", name="front-desk").click()
    expect(page.get_by_label("Agents", exact=True)).to_have_value("front-desk")
    page.get_by_label("Steps, in percent").fill("5, 25, 100")
    page.get_by_label("Steps, in percent").press("Tab")
    expect(page.locator("#needs")).to_contain_text("At first 5 % of the callers get it.")
    expect(page.locator("#needs")).to_contain_text("Always: agents front-desk.")
    page.get_by_role("button", name="Propose the release").click()
    page.wait_for_url("**/releases/*/")
    assert Release.objects.get().canary["steps"] == [5, 25, 100]


def test_what_is_missing_in_a_dialog_gets_the_focus(open_page: OpenPage, cast: Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    page = open_page(f"/releases/{Release.objects.get().pk}/", user=cast.mara)
    page.get_by_role("button", name="Reject 1.0.0").click()
    page.get_by_role("dialog").get_by_role("button", name="Reject 1.0.0").click()
    field = page.get_by_role("dialog").get_by_label("Reason")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
