"""A token of one environment never learns of another: not of its name, its skills or its versions (spec 4.1)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import get_resolver

from catalog.models import Agent, Environment, JournalEntry, State
from tests import make
from tests.portal.api.callers import API, Caller, document

pytestmark = pytest.mark.django_db

# Of production alone: nothing of it may be in an answer to a token of staging.
FOREIGN = ("production", "Production", "vault-open", "9.9.9", "Secret of the vault", "development")
OWN = "refund-check"


@pytest.fixture
def desk(cast: make.Cast) -> Agent:
    """An agent with tokens in both; refund-check is in staging as 1.0.0 and in production as 9.9.9 too."""
    shared = make.version(OWN, cast=cast, files={"references/rules.md": b"# Rules\n"})
    make.release(shared, "staging", cast=cast)
    newer = make.version(
        OWN, "9.9.9", cast=cast, body="Secret of the vault\n", files={"references/vault.md": b"# Vault\n"}
    )
    make.release(newer, "production", cast=cast)
    hidden = make.version("vault-open", cast=cast, description="Secret of the vault. Use when it is shut.")
    make.release(hidden, "production", cast=cast)
    try_out = make.version("vault-opened", cast=cast, description="Secret of the vault. Use when in doubt.")
    make.release(try_out, "production", cast=cast, state=State.CANARY)
    return make.agent(team=cast.payments)


@pytest.fixture
def staging(desk: Agent) -> Caller:
    """The agent in staging, with every scope that an agent has."""
    scopes = ("feed", "traces:write", "evaluations:write")
    return Caller(make.token(agent=desk, environment="staging", scopes=scopes)[1])


def assert_silent(answer: HttpResponse, *, asked: str = "") -> None:
    """Nothing of another environment is told, in the body or a header; what was `asked` may be repeated."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    told = content.decode("utf-8", "replace") + "\n".join(
        f"{name}: {value}" for name, value in answer.items()
    )
    told = told.replace(asked, "") if asked else told
    for name in FOREIGN:
        assert name not in told, (name, told[:400])


READS = (
    "feed",
    "feed?key=session-1",
    "feed?fields=name,version,description",
    "feed/advertise?format=markdown",
    "feed/advertise?format=xml",
    "feed/advertise?format=json",
    "feed/tools?scripts=true",
    f"feed/skills/{OWN}",
    f"feed/skills/{OWN}?version=1.0.0",
    f"feed/skills/{OWN}/resources/references/rules.md",
    f"feed/skills/{OWN}/bundle.zip",
)
# What is asked for, and answered as if it were nowhere.
REFUSED = (
    ("feed/skills/vault-open", "vault-open"),
    ("feed/skills/vault-ope", "vault-ope"),
    ("feed/skills/vault-open?version=1.0.0", "vault-open"),
    (f"feed/skills/{OWN}?version=9.9.9", "9.9.9"),
    (f"feed/skills/{OWN}/resources/references/vault.md", "references/vault.md"),
    (f"feed/skills/{OWN}/resources/vault.md?version=9.9.9", "9.9.9"),
    (f"feed/skills/{OWN}/bundle.zip?version=9.9.9", "9.9.9"),
    ("feed/skills/vault-open/resources/SKILL.md", "vault-open"),
    ("feed/skills/vault-open/bundle.zip", "vault-open"),
)


@pytest.mark.parametrize("path", READS)
def test_what_the_feed_serves(staging: Caller, path: str) -> None:
    answer = staging.get(path)
    assert answer.status_code == 200
    assert_silent(answer)


@pytest.mark.parametrize(("path", "asked"), REFUSED)
def test_what_another_environment_serves_is_nowhere(staging: Caller, path: str, asked: str) -> None:
    answer = staging.get(path)
    assert answer.status_code in {404, 410}
    assert_silent(answer, asked=asked)


def test_the_same_is_said_of_what_was_never_there(staging: Caller) -> None:
    foreign = staging.get("feed/skills/vault-open").json()
    unknown = staging.get("feed/skills/fault-open").json()
    assert foreign == {**unknown, "detail": unknown["detail"].replace("fault", "vault")}


def test_a_parameter_chooses_no_other_environment(staging: Caller) -> None:
    plain = staging.get("feed").json()
    assert staging.get("feed?environment=production").json() == plain
    assert plain["environment"] == "staging"


def test_a_template_and_reports(staging: Caller) -> None:
    for template in ("{skills}", "{skills} {environment}", "none"):
        assert_silent(staging.post("feed/advertise", {"template": template}), asked="{environment}")
    call = {
        "call_id": "c-1",
        "skill": "vault-open",
        "version": "9.9.9",
        "outcome": "ok",
        "started_at": "2026-11-30T09:00:00Z",
        "duration_ms": 5,
    }
    for calls in ([call], [call], [{**call, "call_id": "c-2", "outcome": "odd"}], [{}]):
        assert_silent(staging.post("traces", {"calls": calls, "environment": "production"}))


def test_a_change_elsewhere_moves_nothing(staging: Caller, cast: make.Cast) -> None:
    before = staging.get("feed")
    make.release(make.version("cash-count", cast=cast), "production", cast=cast)
    after = staging.get("feed")
    assert (after["ETag"], after.json()["revision"]) == (before["ETag"], before.json()["revision"])


def addresses() -> Iterator[tuple[str, str]]:
    """Every method of every address of the API, with something in place of each name."""
    filled = {
        "name": OWN,
        "version": "9.9.9",
        "path": "references/vault.md",
        "environment": "production",
        "slug": "payments",
        "username": "ada",
    }
    for path, item in document()["paths"].items():
        for method in ("get", "post", "put", "patch", "delete"):
            if method in item:
                address = re.sub(
                    r"{(\w+)}",
                    lambda found: filled.get(found[1], "01936f0e-7c1a-7000-8000-000000000001"),
                    path,
                )
                yield method.upper(), address.removeprefix(API)


def is_of_agents(method: str, path: str) -> bool:
    """Whether an agent's token has a scope for it."""
    match = get_resolver().resolve(API + path)
    scopes = match.func.cls.scopes[method]  # type: ignore[attr-defined]  # set by `portal.api.endpoints`
    return bool({"feed", "traces:write", "evaluations:write"}.intersection(scopes))


def test_addresses_of_people_say_nothing_to_an_agent(staging: Caller, cast: make.Cast) -> None:
    entries, seen = JournalEntry.objects.count(), 0
    body: dict[str, Any] = {"environment": "production", "skill": "vault-open", "version": "9.9.9"}
    for method, path in addresses():
        if is_of_agents(method, path):
            continue
        answer = staging.send(method, path, data=json.dumps(body), content_type="application/json")
        assert answer.status_code == 403, (method, path, answer.content[:200])
        told = answer.json()
        assert told["code"] == "scope-missing", (method, path)
        assert re.fullmatch(r"The token lacks the scope [a-z:, ]+\.", told["detail"])
        assert_silent(answer)
        seen += 1
    assert seen > 20
    assert JournalEntry.objects.count() == entries
    assert_silent(staging.get("environments/moon"))
    assert_silent(staging.get("nowhere"))


@pytest.mark.parametrize("query", ["", "?version=9.9.9", "?environment=production", "?key=production"])
def test_no_address_of_agents_tells_of_another_environment(staging: Caller, query: str) -> None:
    seen = 0
    for method, path in addresses():
        if not is_of_agents(method, path):
            continue
        for asked in (path, path.replace(OWN, "vault-open")):
            answer = staging.send(method, f"{asked}{query}", data="{}", content_type="application/json")
            told = {"vault-open", "references/vault.md", query.rpartition("=")[2]} - {""}
            content = b"".join(answer.streaming_content) if answer.streaming else answer.content
            text = content.decode("utf-8", "replace")
            for name in set(FOREIGN) - told:
                assert name not in text, (method, asked, name, text[:300])
            assert "Secret of the vault" not in text
        seen += 1
    assert seen >= 8


def test_pages_are_closed_to_a_token(staging: Caller) -> None:
    for path in ("/environments/", "/environments/production/", "/skills/vault-open/", "/"):
        answer = staging.client.get(path, headers={"Authorization": f"Bearer {staging.secret}"})
        assert answer.status_code == 302
        assert answer["Location"].startswith("/sign-in/")
        assert not answer.content


def test_each_token_of_one_agent_sees_its_own(desk: Agent, staging: Caller) -> None:
    production = Caller(make.token(agent=desk, environment="production")[1])
    told = {one["name"]: one["version"] for one in production.get("feed").json()["skills"]}
    assert (told[OWN], told["vault-open"]) == ("9.9.9", "1.0.0")
    assert {one["name"] for one in staging.get("feed").json()["skills"]} == {OWN}


def test_a_new_environment_starts_empty_and_unknown(cast: make.Cast, desk: Agent, staging: Caller) -> None:
    Environment.objects.create(name="preview", title="Preview", order=90, permissions=[])
    preview = Caller(make.token(agent=desk, environment="preview")[1])
    assert preview.get("feed").json()["skills"] == []
    assert "refund" not in preview.get("feed/advertise?format=markdown").content.decode()
    assert b"preview" not in staging.get("feed").content
