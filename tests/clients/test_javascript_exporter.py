"""OpenTelemetry's exporter for JavaScript reports to a served instance: JSON in chunks, with and without gzip."""

from __future__ import annotations

import time

import pytest

from governance.models import Call, Intake
from tests.clients import programs
from tests.clients.arrivals import arrived, everything, trace_page
from tests.clients.conftest import Scene
from tests.clients.limits import use_up
from tests.clients.senders.told import EMAIL, SECRET

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_spans_of_a_skill_are_calls_and_the_others_their_context(
    scene: Scene, receiver: str, compression: str
) -> None:
    told = programs.settings(receiver, scene.token, OTEL_EXPORTER_OTLP_COMPRESSION=compression)
    sent = programs.run_javascript("spans.mjs", told)
    assert sent["log"] == ""

    came = arrived(sent["trace_id"])
    assert came.kinds() == [
        ("loaded", "refund-check", "", "ok"),
        ("called", "refund-check", "1.0.0", "ok"),
        ("called", "refund-check", "", "error"),
    ]
    assert came.names() == {"invoke_agent helpdesk", "chat small-model", "GET /orders/7"}
    _, called, failed = came.calls
    assert called.version_id == scene.release.version_id
    assert failed.error_code == "TimeoutError"
    assert abs(called.started_at.timestamp() - time.time()) < 600
    inner = next(span for span in came.spans if span.name == "GET /orders/7")
    assert inner.parent_id == called.call_id

    written = everything()
    assert EMAIL not in written
    assert SECRET not in written
    assert called.detail.parameters["customer"].startswith("[EMAIL·")
    page = trace_page(scene.cast.lena, sent["trace_id"])
    assert called.detail.parameters["customer"].strip("[]") in page


def test_a_batch_that_came_too_soon_comes_again_when_told_and_once(
    scene: Scene, strict_receiver: str
) -> None:
    use_up(strict_receiver, scene.token)
    began = time.time()
    # Milliseconds here, seconds in Python.
    times = {"OTEL_EXPORTER_OTLP_TIMEOUT": "90000", "OTEL_BSP_EXPORT_TIMEOUT": "90000"}
    told = programs.settings(strict_receiver, scene.token, **times)
    sent = programs.run_javascript("spans.mjs", told)

    came = arrived(sent["trace_id"])
    assert len(came.calls) == Call.objects.count() == 3
    assert min(call.received_at.timestamp() for call in came.calls) // 60 > began // 60
    [intake] = Intake.objects.all()
    assert (intake.accepted, intake.duplicates, intake.spans) == (3, 0, 3)
