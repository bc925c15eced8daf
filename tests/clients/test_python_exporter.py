"""OpenTelemetry's exporter for Python reports to a served instance: protobuf, its length told, with and without gzip."""

from __future__ import annotations

import time

import pytest

from governance.models import Call, Intake, SubjectTag
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
    if compression == "gzip":
        # As OpenTelemetry's own docs write it.
        told["OTEL_EXPORTER_OTLP_HEADERS"] = f"authorization=Bearer%20{scene.token}"
    sent = programs.run_python(programs.SPANS, told)
    assert sent["log"] == ""

    came = arrived(sent["trace_id"])
    assert came.kinds() == [
        ("loaded", "refund-check", "", "ok"),
        ("called", "refund-check", "1.0.0", "ok"),
        ("called", "refund-check", "", "error"),
    ]
    assert came.names() == {"invoke_agent helpdesk", "chat small-model", "GET /orders/7"}
    loaded, called, failed = came.calls
    skill = scene.release.skill_id
    assert [call.skill_id for call in came.calls] == [skill] * 3
    # Without a version nobody knows which it was.
    assert [call.version_id for call in came.calls] == [None, scene.release.version_id, None]
    assert called.release_id == scene.release.pk
    assert {call.source for call in came.calls} == {"otlp"}
    assert (failed.failed_stage, failed.error_code) == ("execution", "TimeoutError")
    assert loaded.detail.parameters == {"skill_name": "refund-check"}

    inner = next(span for span in came.spans if span.name == "GET /orders/7")
    assert inner.parent_id == called.call_id
    assert inner.attributes["http.response.status_code"] == 200


def test_what_must_not_be_written_is_masked_before(scene: Scene, receiver: str) -> None:
    sent = programs.run_python(programs.SPANS, programs.settings(receiver, scene.token))
    written = everything()
    assert sent["trace_id"] in written
    assert EMAIL not in written
    assert SECRET not in written
    [_, called, _] = arrived(sent["trace_id"]).calls
    customer = called.detail.parameters["customer"]
    assert customer.startswith("[EMAIL·")
    assert called.detail.parameters["password"].startswith("[SECRET·")
    # One subject in two calls and the span around them, under one hash.
    assert SubjectTag.objects.filter(kind="EMAIL").count() == 3
    assert SubjectTag.objects.filter(kind="EMAIL").values("hash").distinct().count() == 1

    page = trace_page(scene.cast.lena, sent["trace_id"])
    assert customer.strip("[]") in page
    assert EMAIL not in page
    assert "TimeoutError" in page


def test_a_token_that_is_none_of_ours_is_refused_and_said_so(scene: Scene, receiver: str) -> None:
    sent = programs.run_python(programs.SPANS, programs.settings(receiver, "qm_nobody"))
    assert "Failed to export spans batch code: 401" in sent["log"]
    assert not Call.objects.exists()


def test_a_batch_that_came_too_soon_comes_again_when_told_and_once(
    scene: Scene, strict_receiver: str
) -> None:
    use_up(strict_receiver, scene.token)
    began = time.time()
    # Seconds for all tries: with the default of ten the exporter gives up a batch that has to wait longer.
    told = programs.settings(strict_receiver, scene.token, OTEL_EXPORTER_OTLP_TIMEOUT="90")
    sent = programs.run_python(programs.SPANS, told)
    assert "Too Many Requests encountered while exporting spans batch, retrying in" in sent["log"]
    assert "Failed" not in sent["log"]

    came = arrived(sent["trace_id"])
    assert len(came.calls) == 3
    assert min(call.received_at.timestamp() for call in came.calls) // 60 > began // 60
    [intake] = Intake.objects.all()
    assert (intake.accepted, intake.duplicates, intake.spans) == (3, 0, 3)


def test_without_more_time_a_batch_that_must_wait_is_lost_and_said_so(
    scene: Scene, strict_receiver: str
) -> None:
    use_up(strict_receiver, scene.token, at_least=12)
    sent = programs.run_python(programs.SPANS, programs.settings(strict_receiver, scene.token))
    assert "Failed to export spans batch due to timeout" in sent["log"]
    assert not Call.objects.exists()
