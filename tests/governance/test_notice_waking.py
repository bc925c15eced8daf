"""The message that wakes a worker: sent soon, never waited for, and not needed."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from celery import Celery

from catalog.models import JournalHead
from governance import waking
from governance.models import Notice, NoticeCursor
from governance.tasks import post, tell
from tests.portal.ports import find_port


@pytest.fixture(autouse=True)
def nothing_written() -> None:
    waking._written.clear()


def app(monkeypatch: pytest.MonkeyPatch, broker: str) -> Celery:
    """An application with that broker, in the place of ours."""
    made = Celery("test", broker=broker, set_as_current=False)
    monkeypatch.setattr(waking, "current_app", made)
    return made


def test_one_message_for_all_that_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    made = app(monkeypatch, "memory://")
    for _ in range(5):
        waking.note()
    waking.send()
    waking.send()
    with made.connection_for_read() as connection:
        queue = connection.SimpleQueue("celery")
        message: Any = queue.get(block=False)
        assert message.headers["task"] == waking.TASK == tell.name
        with pytest.raises(queue.Empty):
            queue.get(block=False)


def test_without_anything_written_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    made = app(monkeypatch, "memory://")
    waking.send()
    with made.connection_for_read() as connection:
        queue = connection.SimpleQueue("celery")
        with pytest.raises(queue.Empty):
            queue.get(block=False)


def test_a_broker_that_is_away_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    app(monkeypatch, f"redis://127.0.0.1:{find_port()}/0")
    waking.note()
    waking.send()
    assert "The worker was not woken for notices" in caplog.text
    caplog.clear()
    waking.send()  # not tried again: the minute comes anyway
    assert caplog.text == ""


def test_a_broker_that_says_nothing_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(waking, "IMPATIENT", {**waking.IMPATIENT, "socket_timeout": 0.2})
    with socket.create_server(("127.0.0.1", 0)) as silent:
        app(monkeypatch, f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
        waking.note()
        waking.send()
    assert "The worker was not woken for notices" in caplog.text


@pytest.mark.django_db
def test_the_tasks_may_come_twice_and_with_nothing_to_do() -> None:
    for task in (tell, tell, post, post):
        task()
    assert not Notice.objects.exists()
    assert NoticeCursor.objects.get().n == JournalHead.objects.get().n
