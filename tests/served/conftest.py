"""One instance for all tests of this folder, and a browser beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.cast import shared_database
from tests.served.instance import Instance, serve_instance

__all__ = ["shared_database"]


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """The instance; tests leave what they make, under names of their own."""
    with serve_instance(tmp_path_factory.mktemp("served")) as instance:
        yield instance


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page without cookies."""
    context = browser.new_context()
    context.set_default_timeout(20_000)
    yield context.new_page()
    context.close()
