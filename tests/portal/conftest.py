"""The cast of the pages, and who is signed in where several files ask for them."""

from __future__ import annotations

import pytest
from django.test import Client

from catalog.models import Agent, Release
from tests import make


@pytest.fixture
def cast() -> make.Cast:
    """The cast."""
    return make.cast()


@pytest.fixture
def live(cast: make.Cast) -> Release:
    """refund-check, live in production."""
    return make.release(make.version(cast=cast), "production", cast=cast)


@pytest.fixture
def desk(cast: make.Cast) -> Agent:
    """An agent of Payments."""
    return make.agent(team=cast.payments)


@pytest.fixture
def ines(client: Client, cast: make.Cast) -> Client:
    """Ines, publisher in Payments, signed in."""
    client.force_login(cast.ines)
    return client


@pytest.fixture
def lena(client: Client, cast: make.Cast) -> Client:
    """Lena, analyst, signed in."""
    client.force_login(cast.lena)
    return client
