"""What came in, by REST."""

from __future__ import annotations

from typing import Any

import pytest

from catalog.models import Version
from tests import make
from tests.portal.api.callers import Caller, assert_problem
from tests.portal.api.conftest import caller

pytestmark = pytest.mark.django_db


def test_what_came_in(
    desk: Caller, cast: make.Cast, refunds: Version, django_assert_max_num_queries: Any
) -> None:
    sent = {
        "call_id": "c-1",
        "skill": "refund-check",
        "version": "1.0.0",
        "outcome": "ok",
        "started_at": "2020-11-30T12:00:00Z",
        "user_intent": "Give mara@example.org her money back",
    }
    desk.post("traces", {"calls": [sent, sent, {}]})
    make.agent("night-desk", team=cast.support)
    lena = caller(cast, "lena")
    with django_assert_max_num_queries(8):
        answer = lena.get("intake")
    told = answer.json()
    [found] = told["reports"]
    counts = {
        "accepted": 1,
        "duplicates": 1,
        "rejected": 1,
        "unknown": 0,
        "spans": 0,
        "dropped": 0,
        "masked": 1,
    }
    assert found["sources"] == [{"source": "rest", "day": counts, "week": counts}]
    assert (found["agent"], found["team"], found["environment"]) == ("front-desk", "payments", "production")
    assert found["clock"].startswith("It came in ")
    assert told["silent"] == [{"agent": "night-desk", "team": "support", "reads": False}]
    assert told["more"] is False


def test_who_reads_no_traces_sees_nothing(cast: make.Cast) -> None:
    assert_problem(caller(cast, "ravi").get("intake"), 403, "role-needed")
    assert caller(cast, "ada").get("intake").json() == {"reports": [], "silent": [], "more": False}
