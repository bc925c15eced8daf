"""Microsoft Agent Framework's own telemetry of a run with a SkillsProvider, reported to a served instance."""

from __future__ import annotations

import pytest

from governance.models import Call, ContextSpan
from tests.clients import programs
from tests.clients.arrivals import arrived, everything, trace_page
from tests.clients.conftest import Scene
from tests.clients.senders.told import EMAIL

pytestmark = pytest.mark.slow


def settings(receiver: str, token: str, **more: str) -> dict[str, str]:
    """What docs/traces.md tells: spans over HTTP, and no metrics, which nothing here takes.

    The framework reads the headers itself and would leave `%20` as it is; a space is understood by every exporter.
    """
    return {
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{receiver}/v1/traces",
        "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization=Bearer {token}",
        **more,
    }


def test_with_sensitive_data_the_skill_that_was_loaded_is_known(scene: Scene, receiver: str) -> None:
    told = settings(receiver, scene.token, ENABLE_SENSITIVE_DATA="true")
    sent = programs.run_python(programs.FRAMEWORK, told)
    assert sent == {"answer": "You get your money back.", "log": ""}

    [call] = Call.objects.all()
    came = arrived(call.trace_id)
    assert came.kinds() == [("loaded", "refund-check", "", "ok")]
    # The framework knows no versions: the skill is known, which version of it is not.
    assert (call.skill_id, call.version_id) == (scene.release.skill_id, None)
    assert call.detail.parameters == {"skill_name": "refund-check"}
    assert "Read the order, then the rules." in call.detail.output
    assert came.names() == {"invoke_agent helpdesk", "chat made-up-1"}
    agent = next(span for span in came.spans if span.name == "invoke_agent helpdesk")
    assert call.parent_id == agent.span_id
    assert EMAIL not in everything()
    assert "[EMAIL·" in everything()

    page = trace_page(scene.cast.lena, call.trace_id)
    assert "refund-check" in page
    assert "Loaded" in page
    assert EMAIL not in page


def test_without_sensitive_data_no_skill_is_known_and_the_spans_are_context(
    scene: Scene, receiver: str
) -> None:
    sent = programs.run_python(programs.FRAMEWORK, settings(receiver, scene.token))
    assert sent == {"answer": "You get your money back.", "log": ""}

    assert not Call.objects.exists()
    [trace_id] = ContextSpan.objects.values_list("trace_id", flat=True).distinct()
    spans = arrived(trace_id).spans
    names = ["chat made-up-1", "chat made-up-1", "execute_tool load_skill", "invoke_agent helpdesk"]
    assert sorted(span.name for span in spans) == names
    load = next(span for span in spans if span.name == "execute_tool load_skill")
    assert load.attributes["gen_ai.tool.name"] == "load_skill"
    assert "refund-check" not in everything()


def test_of_its_log_records_nothing_is_kept(scene: Scene, receiver: str) -> None:
    told = settings(
        receiver,
        scene.token,
        ENABLE_SENSITIVE_DATA="true",
        OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=f"{receiver}/v1/logs",
    )
    sent = programs.run_python(programs.FRAMEWORK, told)
    assert sent["log"] == ""
    assert [call.source for call in Call.objects.all()] == ["otlp"]
    assert EMAIL not in everything()
