"""Chromium for the tests that look at pages: one browser, a fresh context for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page
from pytest_django.live_server_helper import LiveServer

from catalog.models import User

# An answer such as 404 is told of in the console as well, by Chromium and by htmx.
REFUSALS = ("Failed to load resource", "Response Status Error Code")
OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, live_server: LiveServer) -> Iterator[OpenPage]:
    """Opens an address of the portal as a user (None: signed out) and answers the page.

    Motion is reduced, so that no colour is caught half-way. Whatever the page writes to the console as an error fails the test: the policy forbids inline code.
    """
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def open_page(address: str, *, user: User | None, width: int = 1440) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, base_url=live_server.url, reduced_motion="reduce"
        )
        contexts.append(context)
        if user:
            client = Client()
            client.force_login(user)
            cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
            context.add_cookies(
                [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}]
            )
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [fault for fault in faults if not fault.startswith(REFUSALS)] == []
