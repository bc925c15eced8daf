"""A Redis that accepts and never answers: agents are served, and who signs in is told to wait."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.tokens import AGENT_SCOPES
from tests import make
from tests.cast import shared_database
from tests.served.instance import serve_web
from tests.served.visitor import Visitor

__all__ = ["shared_database"]

pytestmark = pytest.mark.slow
# A second for Redis, and the rest for a machine that is busy: who waits for an answer of Redis waits for ever.
PROMISED = 8.0


@pytest.fixture
def silent() -> Iterator[str]:
    """REDIS_URL of something that takes every connection, reads what comes and says nothing."""
    held: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:

        def accept() -> None:
            while True:
                try:
                    held.append(listener.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
        assert held, "nobody has asked for Redis"
    for one in held:
        one.close()


def test_requests_do_not_wait_for_it(silent: str, shared_database: str, tmp_path: Path) -> None:
    cast = make.cast()
    _, secret = make.token(agent=make.agent(team=cast.payments), scopes=AGENT_SCOPES)
    call = {
        "call_id": "c-1",
        "skill": "refund-check",
        "outcome": "ok",
        "started_at": "2026-11-30T09:15:00Z",
        "duration_ms": 5,
    }
    with serve_web(tmp_path / "web", shared_database, REDIS_URL=silent, RATE_LIMIT="600") as url:
        agent = Visitor(url, secret)
        agent.send("/healthz")
        for n in range(3):
            assert took(agent, "traces", {"calls": [{**call, "call_id": f"c-{n}"}]}) == 202
            assert took(agent, "feed") == 200
        began = time.monotonic()
        stranger = Visitor(url)
        answer = stranger.submit("/sign-in/", {"username": "ines", "password": "ines"})
        assert answer.status == 503
        assert time.monotonic() - began < 2 * PROMISED


def took(agent: Visitor, path: str, body: object = None) -> int:
    """The status of an answer that came in time."""
    began = time.monotonic()
    answer = agent.rest(path, body)
    assert time.monotonic() - began < PROMISED, json.dumps({"path": path, "status": answer.status})
    return answer.status
