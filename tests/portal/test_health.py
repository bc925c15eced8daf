from __future__ import annotations

from pathlib import Path

import pytest
from django.db import OperationalError, connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries


def test_healthz_asks_no_database(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.django_db
def test_readyz_when_all_is_well(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"database": "ok", "store": "ok"})


@pytest.mark.django_db
def test_readyz_without_a_store(client: Client, tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file, no folder")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["store"]) == (503, "failed")


@pytest.mark.django_db
def test_readyz_without_a_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(connection, "cursor", refuse)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["database"]) == (503, "failed")


def test_only_read(client: Client) -> None:
    assert client.post("/healthz").status_code == 405
    assert client.post("/readyz").status_code == 405


def test_an_icon_that_no_page_named(client: Client) -> None:
    assert client.get("/favicon.ico")["Location"].endswith(".svg")
