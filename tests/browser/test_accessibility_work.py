"""Pages where people work (publish, releases, inbox, agents, traces) by axe-core, with dialogs open."""

from __future__ import annotations

from datetime import timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, expect

from catalog.journal import Actor
from catalog.models import Environment, Grant, Release, State
from governance import approvals, rollouts
from governance.traces import ingest
from tests import make
from tests.browser.conftest import OpenPage
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDTHS = (1440, 390)
# Who looks, at what address (`{release}` waits, `{canary}` runs, `{shut}` has a gate shut, `{glass}` was forced), and what they press before.
PAGES = (
    ("ines", "/publish/", ""),
    ("ravi", "/publish/", ""),
    ("mara", "/inbox/", ""),
    ("nora", "/inbox/", ""),
    ("mara", "/releases/{release}/", ""),
    ("mara", "/releases/{release}/?diff=SKILL.md", ""),
    ("mara", "/releases/{release}/", "Approve 1.1.0 for Production"),
    ("mara", "/releases/{canary}/", "Halt the canary"),
    ("ravi", "/releases/{release}/", ""),
    ("mara", "/releases/{canary}/", ""),
    ("otto", "/releases/{release}/", "Break the glass"),
    ("otto", "/releases/{shut}/", "Override the gate Stability"),
    ("ines", "/releases/{shut}/", ""),
    ("otto", "/releases/{glass}/", ""),
    ("otto", "/inbox/", ""),
    (
        "ines",
        "/skills/refund-check/releases/propose/?environment=production&steps=5,100&agents=front-desk",
        "",
    ),
    ("ines", "/skills/refund-check/releases/", ""),
    ("ines", "/skills/refund-check/releases/propose/", ""),
    ("ravi", "/skills/refund-check/releases/propose/", ""),
    ("ines", "/agents/", ""),
    ("ravi", "/agents/", ""),
    ("ines", "/agents/new/", ""),
    ("ines", "/agents/front-desk/", ""),
    ("ines", "/agents/front-desk/", "Issue a token"),
    ("ines", "/agents/front-desk/", "Revoke"),
    ("ines", "/tokens/", ""),
    ("lena", "/traces/", ""),
    ("ravi", "/traces/", ""),
    ("lena", "/traces/?q=nothing-like-it", ""),
    ("lena", "/traces/run-1/", ""),
    ("lena", "/traces/run-2/", ""),
)


@pytest.fixture
def scene() -> tuple[Cast, dict[str, str]]:
    """A release that waits, a canary, an agent with tokens, calls; and the ids of the releases."""
    cast = make.cast()
    files = {"references/rules.md": b"# Rules\n"}
    make.release(make.version(cast=cast, files=files), "production", cast=cast, note="First.")
    risky = make.version(number="1.1.0", cast=cast, risk_level="high", permissions=("network",))
    waiting = make.release(risky, "production", cast=cast, state=State.PROPOSED, note="Rounds to cents.")
    canary = make.release(make.version("order-find", cast=cast), "staging", cast=cast, state=State.CANARY)
    Grant.objects.filter(user=cast.otto).update(may_override=True)
    shut, glass = (
        make.release(
            make.version(name, cast=cast, stability="experimental"),
            "production",
            cast=cast,
            state=State.PROPOSED,
        )
        for name in ("till-close", "stock-count")
    )
    actor = Actor(cast.otto)
    approvals.override(release=shut, gate="stability", actor=actor, reason="Tried.", now=timezone.now())
    Environment.objects.filter(name="production").update(approvals_medium=2)
    rollouts.break_glass(release=glass, actor=actor, reason="Tills are down.", now=timezone.now())
    make.skill_set("shop", risky.skill)
    desk = make.agent(team=cast.payments, description="Answers at the desk", tags=["shop"])
    make.token(agent=desk)
    make.token(agent=desk, environment="staging", days=5)
    make.token(user=cast.ines)
    report(desk.pk, waiting)
    named = {"release": waiting, "canary": canary, "shut": shut, "glass": glass}
    return cast, {name: str(one.pk) for name, one in named.items()}


def report(agent_id: object, release: Release) -> None:
    """A call with everything in it, and a trace of two calls, one of which failed."""
    start = timezone.now() - timedelta(hours=1)
    common = {"skill": "refund-check", "version": "1.0.0", "duration_ms": 900, "outcome": "ok"}
    whole = {
        "user_intent": "Give mara@example.org her money back",
        "candidates": ["refund-check", {"name": "order-find", "score": 0.4}],
        "parameters": {"order": 7},
        "output": {"mail": "mara@example.org"},
        "spans": [{"span_id": "a", "name": "fetch", "start_ms": 0, "duration_ms": 600}],
    }
    failed = {"outcome": "error", "failed_stage": "execution", "error_code": "timeout", "retryable": True}
    calls = [
        {**common, **whole, "trace_id": "run-1"},
        {**common, **whole, "trace_id": "run-2"},
        {**common, **failed, "trace_id": "run-2"},
        {**common, **failed, "failed_stage": "permission", "trace_id": "run-3"},
    ]
    taken = ingest(
        calls=[
            {**call, "call_id": f"c{n}", "started_at": (start + timedelta(minutes=n)).isoformat()}
            for n, call in enumerate(calls)
        ],
        agent_id=agent_id,  # type: ignore[arg-type]
        environment_id=release.environment_id,
        now=timezone.now(),
    )
    assert not taken.rejected


def judge(page: Page) -> None:
    """No finding of axe-core in either theme, and nothing wider than the window."""
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        result = Axe().run(page)
        assert result.violations_count == 0, (theme, page.url, result.generate_report())
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, page.url


@pytest.mark.parametrize(
    ("name", "address", "press"), PAGES, ids=[f"{name}:{address}{press}" for name, address, press in PAGES]
)
def test_pages(
    open_page: OpenPage, scene: tuple[Cast, dict[str, str]], name: str, address: str, press: str
) -> None:
    cast, ids = scene
    for width in WIDTHS:
        page = open_page(address.format(**ids), user=getattr(cast, name), width=width)
        if press:
            page.get_by_role("button", name=press).first.click()
            expect(page.get_by_role("dialog")).to_be_visible()
        judge(page)


def test_reports_and_the_secret(open_page: OpenPage, scene: tuple[Cast, dict[str, str]]) -> None:
    cast, _ = scene
    bad = make.skill_md("Bad_Name", body="See [more](references/none.md).\n")
    for width in WIDTHS:
        page = open_page("/publish/", user=cast.ines, width=width)
        for content, said in ((bad, "Refused"), (make.skill_md("till-close"), "Can be published")):
            page.set_input_files(
                "#id_file", {"name": "SKILL.md", "mimeType": "text/markdown", "buffer": content}
            )
            expect(page.get_by_text(said)).to_be_visible()
            judge(page)
        page = open_page("/agents/front-desk/", user=cast.ines, width=width)
        page.get_by_role("button", name="Issue a token").click()
        page.get_by_role("button", name="Issue the token").click()
        expect(page.get_by_role("heading", name="Copy the token now")).to_be_visible()
        judge(page)
