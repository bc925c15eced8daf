"""An agent that reports by OpenTelemetry, and the one who reads what came."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from catalog.models import Version
from tests import make
from tests.portal.protocols.sender import Sender


@pytest.fixture(autouse=True)
def fresh_start(settings: Settings) -> None:
    """No limit, for tests ask more often than a client would."""
    settings.RATE_LIMIT = 0


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def refunds(cast: make.Cast) -> Version:
    """refund-check 1.0.0, live in production."""
    version = make.version(cast=cast)
    make.release(version, "production", cast=cast)
    return version


@pytest.fixture
def desk(cast: make.Cast) -> Sender:
    """An agent of Payments in production that reports calls."""
    return Sender(make.token(agent=make.agent(team=cast.payments), scopes=("traces:write",))[1])
