"""Batches take turns: a process works at a few at a time, lets a few wait, and sends all others away at once."""

from __future__ import annotations

import threading
from time import monotonic

import pytest

from governance import traces
from governance.models import Call
from tests import make
from tests.governance.traced import call, report

pytestmark = pytest.mark.django_db


def test_who_finds_no_place_to_wait_is_sent_away_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, places = make.agent(team=make.team("tax")), threading.Semaphore(1)
    monkeypatch.setattr(traces, "_places", places)
    begun = monotonic()
    with places, pytest.raises(traces.Busy):
        report(agent, call("c-1", trace="t-1"))
    assert monotonic() - begun < traces.PATIENCE / 2
    assert not Call.objects.exists()
    assert report(agent, call("c-1", trace="t-1")).accepted == 1


def test_a_turn_that_does_not_come_is_waited_for_no_longer_than_said(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, turns = make.agent(team=make.team("tax")), threading.Semaphore(1)
    monkeypatch.setattr(traces, "_turns", turns)
    monkeypatch.setattr(traces, "PATIENCE", 0.05)
    for _ in range(traces.AT_A_TIME + traces.MOST_WAITING + 1):
        # Each gives its place back.
        with turns, pytest.raises(traces.Busy):
            report(agent, call("c-1", trace="t-1"))
    assert report(agent, call("c-1", trace="t-1")).accepted == 1
