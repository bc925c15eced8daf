"""The cast with their tokens, and what the API starts from."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from catalog.models import Version
from catalog.tokens import USER_SCOPES
from governance import usage
from tests import make
from tests.portal.api.callers import Caller


@pytest.fixture(autouse=True)
def fresh_start(settings: Settings) -> None:
    """No limit, for tests ask more often than a client would; no reads of a test before."""
    settings.RATE_LIMIT = 0
    usage._counts.take()


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def ines(cast: make.Cast) -> Caller:
    """Ines, publisher in Payments, with every scope."""
    return caller(cast, "ines")


@pytest.fixture
def desk(cast: make.Cast) -> Caller:
    """An agent of Payments in production that reads the feed and reports calls."""
    agent = make.agent(team=cast.payments)
    return Caller(make.token(agent=agent, scopes=("feed", "traces:write"))[1])


@pytest.fixture
def refunds(cast: make.Cast) -> Version:
    """refund-check 1.0.0, live in production, with references, assets and a script."""
    files = {
        "references/rules.md": b"# Rules\n",
        "references/notes.md": b"# Notes\n",
        "assets/notes.md": b"# Other notes\n",
        "assets/table.csv": b"a,b\n",
        "scripts/check.py": b"#!/usr/bin/env python3\nprint('checked')\n",
    }
    version = make.version(cast=cast, files=files)
    make.release(version, "production", cast=cast)
    return version


def caller(cast: make.Cast, name: str, scopes: tuple[str, ...] = USER_SCOPES) -> Caller:
    """One of the cast with a token of these scopes."""
    return Caller(make.token(user=getattr(cast, name), scopes=scopes)[1])
