"""A team or an environment that is removed while something comes to refer to it: a refusal, and nothing is written."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db.transaction import Atomic
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from catalog.models import Environment, JournalEntry, Team
from tests import make
from tests.portal.api.callers import assert_problem
from tests.portal.api.conftest import caller

TOLD = "Something that this refers to was removed meanwhile, and nothing was changed; look at it again."


WRITES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "role in a team": ("POST", "grants", {"user": "nora", "role": "reader", "team": "field"}),
    "role in a place": ("POST", "grants", {"user": "nora", "role": "reader", "environment": "attic"}),
    "agent": ("POST", "agents", {"name": "clerk", "team": "field"}),
    "given agent": ("POST", "agents/front-desk/transfer", {"team": "field", "reason": "Moved."}),
    "loan for a team": ("POST", "delegations", {"taker": "nora", "team": "field", "reason": "Away."}),
    "loan in a place": (
        *("POST", "delegations"),
        {"taker": "nora", "environment": "attic", "reason": "Away."},
    ),
    "token": ("POST", "agents/front-desk/tokens", {"environment": "attic", "scopes": ["feed"]}),
    "skill": ("POST", "skills/refund-check/transfer", {"team": "field", "reason": "Moved."}),
    "proposal": (
        *("POST", "releases"),
        {"skill": "refund-check", "version": "1.0.0", "environment": "attic"},
    ),
    "new name": ("PATCH", "teams/field", {"name": "Fields"}),
    "new policy": ("PATCH", "environments/attic", {"title": "Loft"}),
}
# Those whose domain function says it in its own words.
OWN_WORDS = {"new policy": "environment-removed"}


@pytest.fixture
def everybody(settings: Settings, transactional_db: None) -> make.Cast:
    """The cast, with Ada holding every role, an empty team and an empty environment."""
    settings.RATE_LIMIT = 0
    cast = make.cast()
    make.version(cast=cast)
    make.agent(team=cast.payments)
    for role in ("publisher", "approver"):
        make.grant(cast.ada, role)
    make.team("field", "Field")
    Environment.objects.create(name="attic", title="Attic", order=90)
    return cast


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch, everybody: make.Cast) -> list[str]:
    """Somebody removes both once the request was read, before its first transaction begins; what was done."""
    begin, done = Atomic.__enter__, list[str]()

    def begin_late(self: Atomic) -> None:
        if "armed" in done:
            done.remove("armed")
            Team.objects.filter(slug="field").delete()
            Environment.objects.filter(name="attic").delete()
            done.append("removed")
        begin(self)

    monkeypatch.setattr(Atomic, "__enter__", begin_late)
    return done


@pytest.mark.parametrize("write", WRITES)
def test_what_was_removed_meanwhile_is_a_refusal(everybody: make.Cast, late: list[str], write: str) -> None:
    ada = caller(everybody, "ada")
    method, path, body = WRITES[write]
    if path == "delegations":
        body = {**body, "ends_at": (timezone.now() + timedelta(days=1)).isoformat()}
    entries = JournalEntry.objects.count()
    late.append("armed")
    answer = ada.send(method, path, data=json.dumps(body), content_type="application/json")
    assert late == ["removed"]
    told = assert_problem(answer, 409, OWN_WORDS.get(write, "removed-meanwhile"))
    assert write in OWN_WORDS or told["detail"] == TOLD
    assert JournalEntry.objects.count() == entries


def test_a_page_says_so_too(client: Client, everybody: make.Cast, late: list[str]) -> None:
    client.force_login(everybody.ada)
    late.append("armed")
    answer = client.post("/people/nora/grant/", {"role": "reader", "team": "field"})
    assert answer.status_code == 409
    assert TOLD in answer.content.decode()
    assert not everybody.nora.grants.exists()
