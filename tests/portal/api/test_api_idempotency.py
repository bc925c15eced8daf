"""Writes with an Idempotency-Key are done once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, connection

from catalog.models import IdempotencyKey, Release, Skill, Version
from governance import traces
from portal.api import publish as publishing
from portal.api import traces as api_traces
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db

WHERE = {"skill": "refund-check", "version": "1.0.0", "environment": "production"}


def test_the_same_request_gets_the_same_answer(ines: Caller, cast: make.Cast) -> None:
    make.version(cast=cast)
    first = ines.post("releases", WHERE, Idempotency_Key="k-1")
    again = ines.post("releases", WHERE, Idempotency_Key="k-1")
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert again["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first
    assert Release.objects.count() == 1


def test_a_form_with_another_boundary_is_the_same_request(ines: Caller) -> None:
    first = ines.publish(make.skill_md(), Idempotency_Key="")
    assert first.status_code == 201
    file = make.skill_md("other")
    answers = [with_key(ines, file) for _ in range(2)]
    assert answers[0].status_code == answers[1].status_code == 201
    assert answers[0].content == answers[1].content
    assert answers[1]["Idempotency-Replayed"] == "true"
    assert_problem(with_key(ines, make.skill_md("third")), 422, "idempotency-key-reused")
    assert Skill.objects.count() == 2


def with_key(who: Caller, content: bytes) -> Any:
    """Publish a SKILL.md with the key k-1."""
    from django.core.files.uploadedfile import SimpleUploadedFile

    fields = {"team": "payments", "file": SimpleUploadedFile("SKILL.md", content)}
    return who.form("publish", fields, Idempotency_Key="k-1")


def test_a_refusal_is_repeated_too(ines: Caller, cast: make.Cast) -> None:
    for body, status in ((WHERE, 404), ({}, 422)):
        key = f"k-{status}"
        first = ines.post("releases", body, Idempotency_Key=key)
        make.version(cast=cast)
        again = ines.post("releases", body, Idempotency_Key=key)
        assert (first.status_code, again.status_code) == (status, status)
        assert first["Content-Type"] == again["Content-Type"] == "application/problem+json"
        assert first.content == again.content
    rejected = [ines.post("publish", {"team": "payments"}, Idempotency_Key="k-r") for _ in range(2)]
    assert {answer["Content-Type"] for answer in rejected} == {"application/json"}
    assert {answer.status_code for answer in rejected} == {422}


def test_another_body_or_address_under_the_key(ines: Caller, cast: make.Cast) -> None:
    make.version(cast=cast)
    made = ines.post("releases", WHERE, Idempotency_Key="k-1").json()
    assert_problem(
        ines.post("releases", {**WHERE, "note": "x"}, Idempotency_Key="k-1"), 422, "idempotency-key-reused"
    )
    other = ines.post(f"releases/{made['id']}/withdraw", WHERE, Idempotency_Key="k-1")
    assert_problem(other, 422, "idempotency-key-reused")


def test_a_key_belongs_to_its_token(cast: make.Cast) -> None:
    make.version(cast=cast)
    ines, sven = caller(cast, "ines"), caller(cast, "sven")
    assert ines.post("releases", WHERE, Idempotency_Key="k-1").status_code == 201
    assert_problem(sven.post("releases", WHERE, Idempotency_Key="k-1"), 403, "not-allowed")


def test_the_length_of_a_key(ines: Caller) -> None:
    assert ines.post("publish", {}, Idempotency_Key="x" * 200).status_code == 422
    answer = ines.post("publish", {}, Idempotency_Key="x" * 201)
    assert_problem(answer, 400, "idempotency-key-too-long")
    assert ines.post("publish", {}, Idempotency_Key="ключ'\"").status_code == 422


def test_a_read_takes_no_key(ines: Caller) -> None:
    ines.get("releases", Idempotency_Key="k-1")
    assert not IdempotencyKey.objects.exists()


def test_while_the_first_runs(ines: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    work, inner = publishing.publish_upload, []

    def slow(**arguments: Any) -> Any:
        inner.append(with_key(ines, make.skill_md()))
        return work(**arguments)

    monkeypatch.setattr(publishing, "publish_upload", slow)
    assert with_key(ines, make.skill_md()).status_code == 201
    assert len(inner) == 1
    assert_problem(inner[0], 409, "request-in-progress")
    assert Version.objects.count() == 1


def test_a_defect_frees_the_key(ines: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(publishing, "publish_upload", fail)
        with pytest.raises(AssertionError, match="server-error"):
            with_key(ines, make.skill_md())
    assert not IdempotencyKey.objects.exists()
    assert with_key(ines, make.skill_md()).status_code == 201


def test_what_is_to_be_sent_again_is_done_then(
    desk: Caller, refunds: Version, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that was busy once does not answer 503 to the same key for a day."""
    moment = {"outcome": "ok", "started_at": "2026-11-30T12:00:00Z", "duration_ms": 1}
    report = {"calls": [{"call_id": "c-1", "skill": "refund-check", **moment}]}
    for away in (traces.Busy(), OperationalError("connection refused"), InterfaceError("closed")):

        def fail(*_: Any, fault: Exception = away, **__: Any) -> None:
            raise fault

        with monkeypatch.context() as broken:
            broken.setattr(api_traces, "ingest", fail)
            refused = desk.post("traces", report, Idempotency_Key="k-1")
        assert_problem(refused, 503, "busy")
        assert refused["Retry-After"] == "5"
        assert not IdempotencyKey.objects.exists()
    assert desk.post("traces", report, Idempotency_Key="k-1").json()["accepted"] == 1
    assert desk.post("traces", report, Idempotency_Key="k-1")["Idempotency-Replayed"] == "true"


def test_a_request_that_died_is_done_again(ines: Caller) -> None:
    assert with_key(ines, make.skill_md()).status_code == 201
    IdempotencyKey.objects.update(status=None, body=None)
    assert_problem(with_key(ines, make.skill_md()), 409, "request-in-progress")
    kept = IdempotencyKey.objects.get()
    IdempotencyKey.objects.update(created_at=kept.created_at - timedelta(minutes=6))
    answer = with_key(ines, make.skill_md())
    assert (answer.status_code, answer.json()["results"][0]["status"]) == (200, "unchanged")
    assert "Idempotency-Replayed" not in answer
    assert with_key(ines, make.skill_md())["Idempotency-Replayed"] == "true"


@pytest.mark.django_db(transaction=True)
def test_many_at_once_do_the_work_once() -> None:
    who = caller(make.cast(), "ines")
    # An SQLite database in memory has one connection for all threads.
    workers = 8 if connection.vendor == "postgresql" else 1

    def send(_: int) -> int:
        try:
            return int(with_key(Caller(who.secret), make.skill_md()).status_code)
        finally:
            if workers > 1:
                connection.close()

    with ThreadPoolExecutor(workers) as pool:
        statuses = list(pool.map(send, range(16))) if workers > 1 else [send(n) for n in range(16)]
    assert set(statuses) <= {201, 409}
    assert 201 in statuses
    assert Version.objects.count() == 1
    assert IdempotencyKey.objects.get().status == 201


def test_neither_key_nor_request_is_kept(ines: Caller, cast: make.Cast) -> None:
    make.version(cast=cast)
    key, note = "for ina.berg@example.com", "Asked for by ina.berg@example.com."
    first, again = (ines.post("releases", {**WHERE, "note": note}, Idempotency_Key=key) for _ in range(2))
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert first.json()["note"].startswith("Asked for by [EMAIL·")
    row = IdempotencyKey.objects.get()
    assert len(row.key) == len(row.request_sha256) == 64
    assert "ina.berg" not in f"{row.key} {row.body}"


def test_a_refusal_that_may_quote_personal_data_is_kept_without_its_details(ines: Caller) -> None:
    # Cut after 80 characters, half an address is left of it.
    team = "x" * 60 + " ina.berg-and-friends@example.com"
    sent = {"team": team, "metadata": {}, "instructions": ""}
    first, again = (ines.post("publish", sent, Idempotency_Key="k-1") for _ in range(2))
    assert "ina.berg-and-frien" in assert_problem(first, 422, "team-unknown")["detail"]
    told = assert_problem(again, 422, "team-unknown")
    assert told["detail"].startswith("The request was refused as before.")
    assert "ina.berg" not in str(IdempotencyKey.objects.get().body)
