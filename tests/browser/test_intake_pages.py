"""What came in, and a trace with what is around its calls, in a browser and under axe-core."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from governance.models.traces import Source
from governance.otlp import Span
from governance.traces import ingest
from tests import make
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility_work import WIDTHS, judge
from tests.make import Cast
from tests.portal.reports import report

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def scene() -> Cast:
    """A trace of three calls in a run with turns of the model; an agent whose clock is off, and one that says nothing."""
    cast = make.cast()
    make.release(make.version(cast=cast), "production", cast=cast)
    desk = make.agent(team=cast.payments)
    start = timezone.now() - timedelta(hours=1)
    calls = [
        {"parent_id": "turn-0"},
        {"parent_id": "turn-1", "skill": "home-grown-lookup", "version": "0.1.0"},
        {"parent_id": "turn-1", "outcome": "error", "failed_stage": "execution", "error_code": "timeout"},
    ]
    for n, call in enumerate(calls):
        call |= {"trace_id": "run-7", "started_at": (start + timedelta(seconds=4 * n)).isoformat()}
    report(desk, *calls)
    turns = [("run", "", 0, 14_000), ("turn-0", "run", 100, 3000), ("turn-1", "run", 4000, 9000)]
    spans = [
        Span(
            "run-7",
            key,
            parent,
            "invoke_agent front-desk" if key == "run" else "chat sonnet-4",
            False,
            start - timedelta(seconds=1) + timedelta(milliseconds=begin),
            took,
            {"gen_ai.request.model": "sonnet-4", "gen_ai.prompt": "Give mara@example.org her money back"},
        )
        for key, parent, begin, took in turns
    ]
    where = make.environment("production").pk
    ingest(
        calls=[],
        spans=spans,
        agent_id=desk.pk,
        environment_id=where,
        source=Source.OTLP,
        now=timezone.now(),
    )
    late = timezone.now() + timedelta(hours=3, minutes=1)
    report(make.agent("till-bot", team=cast.support), {"started_at": late.isoformat()})
    make.agent("night-desk", team=cast.support)
    return cast


def shoot(page: Page, name: str) -> None:
    """A picture to look at, where a folder for it is named."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_what_came_in(open_page: OpenPage, scene: Cast) -> None:
    for width in WIDTHS:
        page = open_page("/telemetry/", user=scene.lena, width=width)
        judge(page)
        shoot(page, f"telemetry-{width}")
    page.emulate_media(color_scheme="dark")
    judge(page)
    shoot(page, "telemetry-dark")
    expect(page.get_by_text("The agent's clock is 3 h ahead.")).to_be_visible()


def test_nothing_came_in(open_page: OpenPage) -> None:
    cast = make.cast()
    for width in WIDTHS:
        page = open_page("/telemetry/", user=cast.ada, width=width)
        judge(page)
        shoot(page, f"telemetry-empty-{width}")
        expect(page.locator("main h1")).to_have_text("Telemetry")
        expect(page.locator("main table")).to_have_count(0)
    page = open_page("/telemetry/", user=cast.nora)
    judge(page)
    expect(page.locator("main table")).to_have_count(0)


def test_a_trace_with_what_is_around_its_calls(open_page: OpenPage, scene: Cast) -> None:
    for width in WIDTHS:
        page = open_page("/traces/run-7/", user=scene.lena, width=width)
        judge(page)
        shoot(page, f"trace-{width}")
        page.locator(".fall summary").nth(1).click()
        expect(page.locator(".fall pre:visible")).to_contain_text("EMAIL·")
        judge(page)
        shoot(page, f"trace-open-{width}")
    page.emulate_media(color_scheme="dark")
    judge(page)
    shoot(page, "trace-dark")
