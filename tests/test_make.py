"""The builders of the other tests build what they say."""

from __future__ import annotations

import pytest

from catalog.models import State
from tests import make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "state",
    [
        State.PROPOSED,
        State.APPROVED,
        State.CANARY,
        State.LIVE,
        State.REJECTED,
        State.WITHDRAWN,
        State.HALTED,
        State.ROLLED_BACK,
    ],
)
def test_release_reaches_the_state(state: State) -> None:
    cast = make.cast()
    first = make.version("refund-check", cast=cast)
    made = make.release(first, "production", cast=cast, state=state)
    assert made.state == state


def test_high_risk_takes_two_approvals() -> None:
    cast = make.cast()
    version = make.version("refund-check", cast=cast, risk_level="high")
    made = make.release(version, "production", cast=cast)
    assert {approval.user for approval in made.approvals.all()} == {cast.mara, cast.otto}


def test_tool_has_a_schema() -> None:
    cast = make.cast()
    version = make.version(
        "refund.issue",
        cast=cast,
        files={"manifest.yaml": make.manifest(), "run.py": b"#!/usr/bin/env python3\n"},
    )
    assert version.fields["input_schema"]["required"] == ["order_id"]
    assert version.skill.folder == "refund-issue"


def test_token_is_of_its_agent() -> None:
    cast = make.cast()
    agent = make.agent(team=cast.payments)
    token, secret = make.token(agent=agent)
    assert (token.agent, secret[:3]) == (agent, "qm_")
