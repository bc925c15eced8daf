"""Every address, by every method it takes, asked by everyone about what they own, see and do not see.

The declared answers are in `table.py`. What somebody may not see answers like what is not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from pytest_django import DjangoDbBlocker, Settings

from tests.roles.table import MISSING, ROWS, UNASKED, Row
from tests.roles.world import EVERYONE, INSIDERS, Thing, World, build, undone

pytestmark = pytest.mark.django_db
PROBE = "PURGE"


@pytest.fixture(scope="module")
def built(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[World, Path]]:
    """The world, made once and taken back at the end; `undone` takes back what each request changes."""
    folder = tmp_path_factory.mktemp("roles")
    with django_db_blocker.unblock(), override_settings(STORAGES=stored_in(folder)), transaction.atomic():
        yield build(), folder
        transaction.set_rollback(True)


@pytest.fixture
def world(built: tuple[World, Path], settings: Settings) -> World:
    """Everyone and everything; no rate limit, for a test asks more often than a client would."""
    settings.RATE_LIMIT = 0
    settings.STORAGES = stored_in(built[1])
    return built[0]


def stored_in(folder: Path) -> dict[str, Any]:
    """STORAGES with the blobs in the folder."""
    blobs = {"BACKEND": "catalog.blobs.BlobStorage", "OPTIONS": {"location": str(folder)}}
    return {**settings.STORAGES, "blobs": blobs}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_everyone_gets_the_declared_answer(world: World, row: Row) -> None:
    for who in f"-{EVERYONE}t" if row.is_api else f"-{EVERYONE}":
        told = ask(world, row, who, world.open)
        assert told.status_code == row.expected(who), explain(row, who, told)
        if row.is_bound:
            hidden = ask(world, row, who, world.shut)
            sees = who in f"{INSIDERS}-t"
            assert hidden.status_code == (row.expected(who) if sees else 404), explain(row, who, hidden)


@pytest.mark.parametrize("row", [row for row in ROWS if row.is_bound], ids=str)
def test_what_somebody_does_not_see_is_answered_as_what_is_not_there(world: World, row: Row) -> None:
    for who in "ns":
        hidden, missing = ask(world, row, who, world.shut), ask(world, row, who, None)
        assert (hidden.status_code, missing.status_code) == (404, 404), explain(row, who, hidden)
        assert plain(hidden, world) == plain(missing, world), str(row)


@pytest.mark.parametrize("row", [row for row in ROWS if not row.is_api], ids=str)
def test_a_part_is_for_those_for_whom_its_page_is(world: World, row: Row) -> None:
    assert ask(world, row, "-", world.open, htmx=True).status_code == 401
    for who in EVERYONE:
        told, declared = ask(world, row, who, world.open, htmx=True), row.expected(who)
        is_refused = who not in row.who and declared in {403, 404}
        assert (
            (told.status_code == declared) if is_refused else told.status_code in {declared, 200, 204, 302}
        ), explain(row, who, told)
        if row.is_bound and who not in INSIDERS:
            hidden = ask(world, row, who, world.shut, htmx=True)
            assert hidden.status_code == 404, explain(row, who, hidden)


def test_every_address_and_method_is_in_the_table(world: World) -> None:
    told = {(row.name, row.method) for row in ROWS}
    asked = {(name, method) for name, route in addresses() for method in methods_of(world, name, route)}
    assert sorted(asked - told) == [], "not in tests/roles/table.py"
    assert sorted(told - asked) == [], "in tests/roles/table.py, and no address"


def ask(world: World, row: Row, who: str, thing: Thing | None, *, htmx: bool = False) -> HttpResponse:
    """The answer to this person's request about the thing, or about one that is not there; then undone.

    With `htmx` as that asks for a part of a page.
    """
    as_part = {"HX-Request": "true"} if htmx else {}
    with undone():
        if row.is_api:
            headers = {"Authorization": f"Bearer {world.secrets[who]}"} if who != "-" else {}
            data: Any = json.dumps(row.sent(world, thing)) if row.method != "GET" else b""
            client, kind = Client(raise_request_exception=False), "application/json"
            return client.generic(row.method, row.path(world, thing), data, kind, headers=headers)
        client = world.clients[who]
        if row.method == "GET":
            return client.get(row.path(world, thing), headers=as_part)
        return client.post(row.path(world, thing), row.sent(world, thing), headers=as_part)


def explain(row: Row, who: str, answer: HttpResponse) -> str:
    """What the failing answer said."""
    text = re.sub(r"<[^>]*>|\s+", " ", answer.content.decode(errors="replace"))
    return f"{row} asked by {who}: {answer.status_code}, {re.sub(' +', ' ', text)[:600]}"


def plain(answer: HttpResponse, world: World) -> str:
    """The answer without the names that the address held, and without what is new in each."""
    text: str = answer.content.decode(errors="replace")
    for name in sorted({*world.shut.forms(), *MISSING.values()}, key=len, reverse=True):
        text = text.replace(name, "NAME")
    return re.sub(r'(csrfmiddlewaretoken" value=|X-CSRFToken": )"[^"]*"', "", text)


def addresses() -> Iterator[tuple[str, str]]:
    """The name and the route of every address, but for those of Django's own parts."""

    def walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[tuple[str, str]]:
        for one in patterns:
            route = before + str(one.pattern)
            if isinstance(one, URLResolver):
                yield from walk(one.url_patterns, route)
            elif one.name and one.name not in UNASKED and not route.startswith(("admin/", "i18n/")):
                yield one.name, route

    yield from walk(get_resolver().url_patterns, "")


def methods_of(world: World, name: str, route: str) -> list[str]:
    """The methods that the address takes, as its 405 tells them."""
    kwargs = {key: FILLER.get(kind, "x") for kind, key in re.findall(r"<(?:(\w+):)?(\w+)>", route)}
    path = reverse(name, kwargs=kwargs)
    if name.startswith("api-"):
        headers: Mapping[str, str] = {"Authorization": f"Bearer {world.secrets['d']}"}
        answer = Client(raise_request_exception=False).generic(PROBE, path, headers=headers)
    else:
        answer = world.clients["d"].generic(PROBE, path)
    assert answer.status_code == 405, (name, answer.status_code)
    return [one for one in answer["Allow"].split(", ") if one not in {"HEAD", "OPTIONS"}]


FILLER = {"uuid": "01a22c57-0000-7000-8000-000000000000"}
