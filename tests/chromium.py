"""One Chromium for each process of tests: Playwright cannot be started twice in a thread."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.requirements import find_browser

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]

# A machine that runs other tests beside is slow to answer, and no fault of the page.
expect.set_options(timeout=20_000)

Result = TypeVar("Result")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; skips the test, or fails it where all must run, if it is not installed."""
    path = find_browser()
    # Playwright keeps an event loop in this thread, in which Django would refuse to use the database.
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end, in a thread of its own: Playwright keeps a loop in the tests' thread."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
