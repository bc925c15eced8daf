"""One rate limit per token over all calls and all processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest
from django.conf import settings as configured
from django.test import Client
from pytest_django import Settings
from redis.exceptions import ConnectionError as NoRedis

from portal import counters
from portal.api import throttling
from tests import make

NOW = 1_800_000_000.0
LIMIT = 100
# A fiftieth of the limit: what each process may let through beyond it.
BATCH = 2
WORK = f"""
import sys, uuid, types
import django
django.setup()
from datetime import datetime, UTC
from catalog.tokens import Bearer
from portal.api import throttling
throttling.time = types.SimpleNamespace(time=lambda: {NOW})
bearer = Bearer(token_id=uuid.UUID(sys.argv[1]), scopes=frozenset(), expires_at=datetime.now(UTC))
print("ready", flush=True)
sys.stdin.readline()
print(sum(throttling.is_within_limit(bearer) for _ in range(90)))
"""


def test_two_processes_at_once_keep_to_one_limit(tmp_path: Path) -> None:
    """With Redis where the tests run with it, else with files."""
    environ = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "VAR_DIR": str(tmp_path / "var"),
        "REDIS_URL": configured.REDIS_URL,
        "RATE_LIMIT": str(LIMIT),
    }
    token = str(uuid4())
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WORK, token],
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for one in processes:
        assert one.stdout
        assert one.stdout.readline() == "ready\n"
    for one in processes:
        assert one.stdin
        one.stdin.write("\n")
        one.stdin.flush()
    told = [one.communicate(timeout=120)[0] for one in processes]
    allowed = [int(text) for text in told]
    assert LIMIT <= sum(allowed) <= LIMIT + 2 * BATCH, allowed


@pytest.mark.django_db
def test_every_call_counts_refused_ones_too(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMIT = 5
    monkeypatch.setattr(throttling.time, "time", lambda: NOW)
    cast = make.cast()
    _, secret = make.token(user=cast.ines, scopes=("publish",))
    client, headers = Client(), {"Authorization": f"Bearer {secret}"}
    # A scope that is missing, a wrong method, a skill that is not there, one more of each.
    calls = [("GET", "skills"), ("PUT", "publish"), ("POST", "skills/none/transfer"), ("GET", "agents")]
    answers = [
        client.generic(method, f"/api/v1/{path}", headers=headers) for method, path in [*calls, *calls]
    ]
    assert [answer.status_code for answer in answers] == [403, 405, 404, 403, 403, 429, 429, 429]
    assert [answer["RateLimit"] for answer in answers] == [
        f'"default";r={left};t=60' for left in (4, 3, 2, 1, 0, 0, 0, 0)
    ]
    assert answers[-1]["Retry-After"] == "60"
    assert answers[-1].json()["code"] == "rate-limit"


@pytest.mark.django_db
def test_a_new_minute_begins_anew(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMIT = 1
    now = [NOW]
    monkeypatch.setattr(throttling.time, "time", lambda: now[0])
    _, secret = make.token(user=make.cast().ines)
    client, headers = Client(), {"Authorization": f"Bearer {secret}"}
    statuses = []
    for seconds in (0, 59.5, 60):
        now[0] = NOW + seconds
        answer = client.get("/api/v1/skills", headers=headers)
        statuses.append(answer.status_code)
        if seconds == 59.5:
            assert (answer["Retry-After"], answer["RateLimit"]) == ("1", '"default";r=0;t=1')
    assert statuses == [200, 429, 200]


@pytest.mark.django_db
def test_no_limit_tells_nothing(settings: Settings) -> None:
    settings.RATE_LIMIT = 0
    _, secret = make.token(user=make.cast().ines)
    answer = Client().get("/api/v1/skills", headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 200
    assert "RateLimit" not in answer
    assert "RateLimit-Policy" not in answer


@pytest.mark.django_db
def test_a_store_that_is_gone_takes_the_api_not_away(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise NoRedis("Connection refused")

    settings.RATE_LIMIT, settings.REDIS_URL = 1, "redis://gone"
    monkeypatch.setattr(counters, "cache", SimpleNamespace(add=fail))
    with pytest.raises(counters.Uncounted):
        counters.count("requests", "a", seconds=60, now=NOW)
    _, secret = make.token(agent=make.agent(team=make.cast().payments))
    for path in ("feed", "feed/tools", "feed", "feed/tools"):
        answer = Client().get(f"/api/v1/{path}", headers={"Authorization": f"Bearer {secret}"})
        assert answer.status_code == 200, answer.content
