"""POST /api/v1/subjects/erase; GET /api/v1/subjects/erasures and /{id}."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from catalog.models import IdempotencyKey
from governance.erasures import erase_due
from governance.models import Erasure
from tests import make
from tests.governance.traced import ANNA, call, kept, report
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller
from tests.portal.api.test_api_schema import examples, same_shape

pytestmark = pytest.mark.django_db
PATH, LIST = "subjects/erase", "subjects/erasures"
MOST_QUERIES = 8


@pytest.fixture
def ada(cast: make.Cast) -> Caller:
    return caller(cast, "ada")


def test_erase_as_the_example_does(ada: Caller, cast: make.Cast) -> None:
    agent = make.agent(team=cast.payments)
    report(agent, call("a", trace="t", intent=ANNA), call("b", trace="t"), now=timezone.now())
    sent, answered = examples("subject_erase")
    made = ada.post(PATH, sent[0])
    assert made.status_code == 202
    same_shape(answered["202"][0], made.json())
    told = made.json()
    assert re.fullmatch(r"\[EMAIL·[0-9a-f]{4}\]", told["masks"][0])
    assert (told["state"], told["reason"], told["requested_by"]) == ("waiting", "Request 2026-118.", "ada")
    assert ada.get(f"{LIST}/{told['id']}").json() == told
    later = timezone.now() + timedelta(minutes=2)
    erase_due(clock=lambda: later, until=later + timedelta(minutes=1))
    done = ada.get(f"{LIST}/{told['id']}").json()
    assert (done["state"], done["traces"], done["calls"], done["lost"], done["lost_until"]) == (
        *("done", 1, 2, 0, None),
    )
    assert kept()["calls"] == []


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ({}, "field-invalid", "value is missing."),
        ({"value": ""}, "field-invalid", "value is missing."),
        ({"value": "  "}, "subject-unknown", "Give the value of the subject"),
        ({"value": ["a"]}, "field-invalid", "value is not text."),
        ({"value": "Anna Schmidt"}, "subject-unknown", "Nothing is masked in this value"),
        ({"value": "a" * 5000}, "field-invalid", "at most 4096"),
        ({"value": ANNA, "reason": 7}, "field-invalid", "reason is not text."),
    ],
)
def test_what_names_nobody_is_told(ada: Caller, body: Any, code: str, words: str) -> None:
    refused = ada.post(PATH, body)
    assert_problem(refused, 422, code)
    assert words in refused.json()["detail"]
    assert "Anna" not in refused.content.decode()
    assert not Erasure.objects.exists()


def test_it_is_done_once_for_a_key_and_nothing_of_the_value_is_kept(
    ada: Caller, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    body = {"value": ANNA, "reason": f"Mail of {ANNA.upper()}"}
    first = ada.post(PATH, body, Idempotency_Key="one")
    again = ada.post(PATH, body, Idempotency_Key="one")
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.content == first.content
    assert Erasure.objects.count() == 1
    assert_problem(
        ada.post(PATH, {"value": "boris@example.org"}, Idempotency_Key="one"), 422, "idempotency-key-reused"
    )
    refused = ada.post(PATH, {"value": "Anna Schmidt"}, Idempotency_Key="two")
    assert_problem(refused, 422, "subject-unknown")
    capsys.readouterr()
    call_command("dumpdata", "governance", "catalog")
    dump = capsys.readouterr().out.lower() + caplog.text.lower()
    assert IdempotencyKey.objects.count() == 2
    for trace in ("anna@", "anna schmidt", "example.org"):
        assert trace not in dump


def test_administrators_with_the_scope_alone(cast: make.Cast, ada: Caller) -> None:
    for name in ("ines", "mara", "lena", "nora"):
        assert_problem(caller(cast, name).post(PATH, {"value": ANNA}), 403, "not-allowed")
        assert_problem(caller(cast, name).get(LIST), 403, "not-allowed")
    assert_problem(caller(cast, "ada", ("read",)).post(PATH, {"value": ANNA}), 403, "scope-missing")
    assert_problem(ada.get(f"{LIST}/01a22c57-0000-7000-8000-000000000000"), 404, "not-found")
    assert not Erasure.objects.exists()


def test_the_list_by_pages(ada: Caller, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    ids = [ada.post(PATH, {"value": ANNA}).json()["id"] for _ in range(5)]
    Erasure.objects.update(lost=2, finished_at=timezone.now())
    with django_assert_max_num_queries(MOST_QUERIES):
        first = ada.get(f"{LIST}?limit=3").json()
    rest = ada.get(f"{LIST}?limit=3&cursor={first['next']}").json()
    assert [one["id"] for one in first["items"] + rest["items"]] == ids[::-1]
    assert first["items"][0]["lost_until"]
