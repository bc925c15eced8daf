"""The main job in a browser: publish, check, release, feed an agent, see its call, masked."""

from __future__ import annotations

import json
import re
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.served.instance import Instance

pytestmark = pytest.mark.browser

NAME = "desk-move"
SKILL_MD = """---
name: desk-move
description: Plans the move of a desk to another floor. Use when someone changes places; not for whole offices.
metadata:
  version: "1.0.0"
---

# Desk move

1. Ask for the date and both floors.
2. Read `references/floors.md` and book the lift.
"""


def sign_in(page: Page, served: Instance, name: str) -> None:
    """Sign in as one of the sample accounts."""
    page.context.clear_cookies()
    page.goto(f"{served.url}/sign-in/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(name)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Catalog", level=1)).to_be_visible()


def ask(served: Instance, path: str, token: str, body: Any = None) -> Any:
    """The JSON answer of the API."""
    request = urllib.request.Request(
        f"{served.url}/api/v1/{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def test_a_skill_goes_from_a_file_to_an_agent_and_its_call_comes_back(
    page: Page, served: Instance, tmp_path: Path
) -> None:
    archive = tmp_path / "desk-move.zip"
    with zipfile.ZipFile(archive, "w") as bundle:
        bundle.writestr("desk-move/SKILL.md", SKILL_MD)
        bundle.writestr("desk-move/references/floors.md", "Floors 1 to 4 have a lift.\n")

    publish(page, served, archive)
    release = propose(page, served)
    assert re.fullmatch(rf"{re.escape(served.url)}/releases/[0-9a-f-]{{36}}/", release)
    decide(page, served, release)
    token = issue_token(page, served)
    read_and_report(page, served, token)
    assert NAME in names_in_feed(served, token)
    see_the_call(page, served)
    roll_back(page, served, release)
    page.wait_for_timeout(2100)
    assert NAME not in names_in_feed(served, token)


def names_in_feed(served: Instance, token: str) -> list[str]:
    """What the agent is served."""
    return [skill["name"] for skill in ask(served, "feed?fields=name", token)["skills"]]


def publish(page: Page, served: Instance, archive: Path) -> None:
    """Choose the file, read the report, publish."""
    sign_in(page, served, "publisher")
    page.get_by_role("link", name="Publish", exact=True).click()
    page.get_by_label("Team").select_option(label="Workplace")
    page.get_by_label("Choose a file").set_input_files(archive)
    page.get_by_role("button", name=f"Publish {NAME} 1.0.0").click()
    expect(page.get_by_text("1.0.0").first).to_be_visible()
    expect(page).to_have_url(re.compile(rf"/skills/{NAME}/"))


def propose(page: Page, served: Instance) -> str:
    """Propose a release to staging; it waits there. Answers its address."""
    page.goto(f"{served.url}/skills/{NAME}/")
    page.get_by_role("link", name="Propose a release").click()
    page.get_by_label("Environment").last.select_option(label="Staging")
    page.get_by_role("button", name="Propose the release").click()
    expect(page.get_by_text("Waits for approval").first).to_be_visible()
    return page.url


def decide(page: Page, served: Instance, release: str) -> None:
    """An approver finds it in the inbox, approves and starts it."""
    sign_in(page, served, "approver")
    page.get_by_role("link", name="Inbox").click()
    row = page.get_by_role("row").filter(has_text=NAME)
    row.get_by_role("link", name="Review").click()
    expect(page).to_have_url(release)
    page.get_by_role("button", name="Approve 1.0.0 for Staging").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Note").fill("Lift times checked.")
    dialog.get_by_role("button", name="Approve 1.0.0 for Staging").click()
    page.get_by_role("button", name="Start 1.0.0 in Staging").click()
    page.get_by_role("dialog").get_by_role("button", name="Start 1.0.0 in Staging").click()
    expect(page.get_by_text("Live", exact=True).first).to_be_visible()


def issue_token(page: Page, served: Instance) -> str:
    """The publisher makes an agent and a token, which is shown once."""
    sign_in(page, served, "publisher")
    page.get_by_role("link", name="Agents").click()
    page.get_by_role("link", name="Register an agent").first.click()
    page.get_by_label("Name", exact=True).fill("desk-bot")
    page.get_by_label("Team").select_option(label="Workplace")
    page.get_by_role("button", name="Register the agent").click()
    expect(page).to_have_url(re.compile("/agents/desk-bot/"))
    page.get_by_role("button", name="Issue a token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Environment").select_option(label="Staging")
    dialog.get_by_role("button", name="Issue the token").click()
    secret = page.locator("text=/qm_[A-Za-z0-9_-]{20,}/").first
    expect(secret).to_be_visible()
    found = re.search(r"qm_[A-Za-z0-9_-]{20,}", secret.inner_text())
    assert found
    page.reload()
    expect(page.locator(f"text={found[0]}")).to_have_count(0)
    return found[0]


def read_and_report(page: Page, served: Instance, token: str) -> None:
    """The agent reads the skill and reports a call that failed."""
    page.wait_for_timeout(2100)
    loaded = ask(served, f"feed/skills/{NAME}", token)
    assert loaded["instructions"].startswith("# Desk move")
    assert [resource["path"] for resource in loaded["resources"]] == ["references/floors.md"]
    call = {
        "call_id": "desk-call-1",
        "trace_id": "desk-trace-1",
        "skill": NAME,
        "version": "1.0.0",
        "user_intent": "Move my desk, call me at +49 30 901820 or desk@example.com",
        "parameters": {"floor": 3, "badge": {"email": "desk@example.com"}},
        "outcome": "error",
        "failed_stage": "parameters",
        "error_code": "floor_missing",
        "started_at": "2026-11-30T09:15:00Z",
        "duration_ms": 1840,
    }
    assert ask(served, "traces", token, {"calls": [call]})["accepted"] == 1


def see_the_call(page: Page, served: Instance) -> None:
    """The analyst finds the call and reads it, masked."""
    sign_in(page, served, "analyst")
    page.get_by_role("link", name="Traces").click()
    page.goto(f"{served.url}/traces/?q={NAME}")
    page.get_by_role("link", name=re.compile("desk-trace-1|desk-move")).first.click()
    expect(page).to_have_url(re.compile("/traces/desk-trace-1/"))
    body = page.locator("main")
    expect(body).to_contain_text("EMAIL")
    expect(body).to_contain_text("PHONE")
    expect(body).to_contain_text("floor_missing")
    assert "desk@example.com" not in page.content()
    assert "901820" not in page.content()


def roll_back(page: Page, served: Instance, release: str) -> None:
    """One dialog with a reason."""
    sign_in(page, served, "approver2")
    page.goto(release)
    page.get_by_role("button", name="Take 1.0.0 out").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Take 1.0.0 out").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_label("Reason").fill("The lift is out of order.")
    dialog.get_by_role("button", name="Take 1.0.0 out").click()
    expect(page.get_by_text("Rolled back").first).to_be_visible()
