"""Why what is served is unavailable."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.models import Environment, Version
from catalog.shortfalls import shortfalls
from catalog.switches import with_switches
from tests import make

pytestmark = pytest.mark.django_db


def production() -> Environment:
    """Production as the pages read it."""
    return with_switches(Environment.objects.all()).get(name="production")


def live(name: str, *, cast: make.Cast, environment: str = "production", **wanted: str) -> Version:
    """A version that is live and by now lacks what it depends on: that was there when it started."""
    version = make.version(name, cast=cast)
    make.release(version, environment, cast=cast)
    for folder, minimum in wanted.items():
        version.dependencies.create(folder=folder.replace("_", "-"), minimum=minimum)
    return version


def test_a_served_version_lacks_what_is_too_old_missing_or_unavailable_itself(
    django_assert_max_num_queries: Any,
) -> None:
    cast = make.cast()
    place = production()
    live("web-search", cast=cast)
    brief = live("market-brief", cast=cast, web_search="2.0.0")
    letter = live("market-letter", cast=cast, market_brief="1.0.0")
    live("market-note", cast=cast, web_search="1.0.0")
    live("market-alone", cast=cast, environment="staging", nowhere="1.0.0")
    with django_assert_max_num_queries(2):
        found = shortfalls([place])
    assert found.lacking == {
        (place.pk, brief.pk): "web-search 2.0.0 or newer is needed; 1.0.0 is live.",
        (place.pk, letter.pk): "market-brief is needed, and is unavailable here itself.",
    }


def test_nothing_depends_on_anything(django_assert_max_num_queries: Any) -> None:
    cast = make.cast()
    make.release(make.version(cast=cast), "production", cast=cast)
    place = production()
    with django_assert_max_num_queries(1):
        found = shortfalls([place])
    assert (found.lacking, found.off) == ({}, {})
