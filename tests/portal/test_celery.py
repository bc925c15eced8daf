"""The Celery application: its settings, and a log without values."""

from __future__ import annotations

import logging

import pytest
from django.conf import settings

from portal import celery_app
from portal.celery import WithoutValues


def test_settings_that_keep_tasks_are_on() -> None:
    conf = celery_app.conf
    assert str(conf.timezone) == "UTC"
    assert conf.task_acks_late
    assert conf.task_reject_on_worker_lost
    assert conf.task_ignore_result
    assert conf.worker_prefetch_multiplier == 4


def test_without_redis_messages_are_files_in_var_dir() -> None:
    if settings.REDIS_URL:
        assert celery_app.conf.broker_url == settings.REDIS_URL
        assert "folder" not in celery_app.conf.broker_transport_options
    else:
        assert celery_app.conf.broker_url == "spool://localhost"
        assert celery_app.conf.broker_transport_options == {"folder": str(settings.VAR_DIR / "broker")}


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="celery.app.trace")
    return caplog


def test_log_of_a_task_that_fails_says_where_and_not_what(lines: pytest.LogCaptureFixture) -> None:
    try:
        int("ada@example.org")
    except ValueError as error:
        logging.getLogger("celery.app.trace").error(
            "Task %(name)s[%(id)s] %(description)s: %(exc)s",
            {"name": "sweep", "id": "1", "description": "raised unexpected", "exc": repr(error)},
            exc_info=error,
        )
    (record,) = lines.records
    assert record.getMessage().startswith("Task sweep[1] raised unexpected: ValueError at test_celery.py:")
    assert "ada" not in lines.text


def test_log_of_a_task_that_succeeds_has_no_result(lines: pytest.LogCaptureFixture) -> None:
    logging.getLogger("celery.app.trace").info(
        "Task %(name)s succeeded in %(runtime)ss: %(return_value)s",
        {"name": "sweep", "runtime": 0.5, "return_value": "'ada@example.org'", "args": "('ada',)"},
    )
    assert [record.getMessage() for record in lines.records] == ["Task sweep succeeded in 0.5s: "]


def test_other_records_pass_unchanged() -> None:
    record = logging.LogRecord("x", logging.INFO, "f", 1, "%d of %d", (1, 2), None)
    assert WithoutValues().filter(record)
    assert record.getMessage() == "1 of 2"
