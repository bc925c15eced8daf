"""A secret is nowhere but in its answer: not in the database, the journal, the session or the logs."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db import models
from django.test import Client

from catalog.models import Agent, IdempotencyKey, Token
from catalog.tokens import digest_of
from portal.logs import Masked
from tests import make
from tests.portal.answers import HTMX, secret_in, text_of

pytestmark = pytest.mark.django_db

ISSUE = {"name": "Main", "environment": "production", "scopes": ["feed"], "days": "90"}


def everything() -> str:
    """All that every column of every table holds."""
    rows: list[models.Model] = [row for model in apps.get_models() for row in model._default_manager.all()]
    return "\n".join(
        str({field.name: getattr(row, field.attname) for field in row._meta.concrete_fields}) for row in rows
    )


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What is logged, at its most talkative."""
    out, root = io.StringIO(), logging.getLogger()
    for handler in root.handlers:
        if any(isinstance(one, Masked) for one in handler.filters):
            assert isinstance(handler, logging.StreamHandler)
            monkeypatch.setattr(handler, "stream", out)
    level = root.level
    root.setLevel(logging.DEBUG)
    yield out
    root.setLevel(level)


def by_page(ines: Client, address: str, sent: dict[str, object]) -> str:
    """The secret that a page answers."""
    answer = ines.post(address, sent, headers=HTMX)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    return secret_in(text_of(answer))


def by_rest(who: str, path: str, body: dict[str, object]) -> str:
    """The secret that REST answers, asked for twice with the same key."""
    headers = {"Authorization": f"Bearer {who}", "Idempotency-Key": path}
    first, again = (
        Client().post(f"/api/v1/{path}", json.dumps(body), content_type="application/json", headers=headers)
        for _ in range(2)
    )
    assert (first.status_code, again.status_code) == (201, 201), first.content
    assert first["Cache-Control"] == "no-store"
    secret: str = first.json()["secret"]
    assert again.json() == {**first.json(), "secret": None}
    assert again["Idempotency-Replayed"] == "true"
    return secret


def test_it_is_kept_nowhere(ines: Client, cast: make.Cast, desk: Agent, written: io.StringIO) -> None:
    _, key = make.token(user=cast.ines, scopes=("read", "publish"))
    secrets = [key, by_page(ines, "/agents/front-desk/tokens/", ISSUE)]
    secrets.append(by_page(ines, "/tokens/issue/", {"name": "CI", "scopes": ["read"], "days": "30"}))
    for token in Token.objects.exclude(sha256=digest_of(key)):
        secrets.append(by_page(ines, f"/tokens/{token.pk}/rotate/", {"overlap_hours": "1", "days": "9"}))
    asked = {"environment": "staging", "scopes": ["feed"]}
    secrets.append(by_rest(key, "agents/front-desk/tokens", asked))
    fresh = Token.objects.get(sha256=digest_of(secrets[-1]))
    secrets.append(by_rest(key, f"tokens/{fresh.pk}/rotate", {}))
    assert len(set(secrets)) == Token.objects.count() == 7
    assert IdempotencyKey.objects.count() == 2
    kept, logged = everything(), written.getvalue()
    for secret in secrets:
        assert digest_of(secret) in kept
        for form in (secret, secret.removeprefix("qm_"), secret[8:]):
            assert form not in kept
            assert form not in logged


def test_what_is_asked_for_with_a_secret_in_its_address_is_not_logged(
    ines: Client, cast: make.Cast, written: io.StringIO
) -> None:
    _, secret = make.token(user=cast.ines)
    for path in (f"/api/v1/skills?token={secret}", f"/agents/{secret}/", f"/tokens/{secret}/rotate/"):
        ines.get(path)
    assert secret not in written.getvalue()
