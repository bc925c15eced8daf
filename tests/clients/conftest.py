"""A served instance for each test, with a skill in production and the token of an agent that reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from catalog.models import Release
from tests import make
from tests.cast import shared_database
from tests.served.instance import serve_web

__all__ = ["shared_database"]


@dataclass(frozen=True)
class Scene:
    """What senders and tests speak of: refund-check 1.0.0 is live in production."""

    cast: make.Cast
    release: Release
    token: str


@pytest.fixture
def scene(shared_database: str) -> Scene:
    """The catalog, before anything is served."""
    cast = make.cast()
    release = make.release(make.version("refund-check", cast=cast), "production", cast=cast)
    _, token = make.token(agent=make.agent(team=cast.payments), scopes=("traces:write", "feed"))
    return Scene(cast, release, token)


@pytest.fixture
def receiver(scene: Scene, shared_database: str, tmp_path: Path) -> Iterator[str]:
    """The address of the instance."""
    with serve_web(tmp_path / "served", shared_database) as url:
        yield url


@pytest.fixture
def strict_receiver(scene: Scene, shared_database: str, tmp_path: Path) -> Iterator[str]:
    """The address of an instance that takes two requests of a token in a minute."""
    with serve_web(tmp_path / "served", shared_database, RATE_LIMIT="2") as url:
        yield url
