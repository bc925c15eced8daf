"""Two web servers on one database: what one is told, agents of the other hear of within two seconds."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from catalog import tokens
from catalog.models import Release, State
from governance import rollouts
from tests import cast as crew
from tests import make
from tests.served.instance import serve_web

pytestmark = pytest.mark.slow
# What agents are promised (spec 4.3, 4.5): a second for the token or agent, a second for the revision.
PROMISED = 2.0
# Each server has two processes, and each its own memory: so many requests reach both.
ASKED = 24


@pytest.fixture
def servers(shared_database: str, tmp_path: Path) -> Iterator[list[str]]:
    """The addresses of two web servers without worker, each with a folder of its own."""
    with ExitStack() as stack:
        yield [stack.enter_context(serve_web(tmp_path / name, shared_database)) for name in ("one", "two")]


def ask(server: str, secret: str) -> str:
    """The status of the feed, and which versions it lists."""
    headers = {"Authorization": f"Bearer {secret}"}
    request = urllib.request.Request(f"{server}/api/v1/feed", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            skills = json.load(answer)["skills"]
    except urllib.error.HTTPError as refusal:
        return str(refusal.code)
    return " ".join(sorted(f"{skill['name']} {skill['version']}" for skill in skills))


def after(change: Callable[[], object], servers: list[str], secret: str) -> list[set[str]]:
    """What each server answers once the promised time is over; until then it is asked all the while."""
    change()
    ends = time.monotonic() + PROMISED
    while time.monotonic() < ends:
        for server in servers:
            ask(server, secret)
    return [{ask(server, secret) for _ in range(ASKED)} for server in servers]


def test_what_changes_reaches_both(servers: list[str]) -> None:
    cast = make.cast()
    names = ("order-status", "refund-check")
    for name in names:
        make.release(make.version(name, cast=cast, body=f"# {name}\n"), "production", cast=cast)
    orders, refunds = (make.version(name, "1.1.0", cast=cast, body=f"# {name}, newer\n") for name in names)
    live = make.release(orders, "production", cast=cast)
    canary = make.release(refunds, "production", cast=cast, state=State.CANARY, percent=99)
    agent = make.agent(team=cast.payments)
    Release.objects.filter(pk=canary.pk).update(canary={"percent": 99, "agents": [agent.name]})
    row, secret = make.token(agent=agent)
    mara, ada = crew.actor(cast.mara), crew.actor(cast.ada)
    seen = [{ask(server, secret) for _ in range(ASKED)} for server in servers]
    assert seen == [{"order-status 1.1.0 refund-check 1.1.0"}] * 2

    def halt() -> None:
        rollouts.halt(release=canary, actor=mara, reason="Too many errors.", now=datetime.now(UTC))

    assert after(halt, servers, secret) == [{"order-status 1.1.0 refund-check 1.0.0"}] * 2

    def roll_back() -> None:
        rollouts.roll_back(release=live, actor=mara, reason="Wrong totals.", now=datetime.now(UTC))

    assert after(roll_back, servers, secret) == [{"order-status 1.0.0 refund-check 1.0.0"}] * 2

    def revoke() -> None:
        tokens.revoke_token(token=row, actor=ada, now=datetime.now(UTC))

    assert after(revoke, servers, secret) == [{"401"}] * 2
