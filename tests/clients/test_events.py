"""`skill_activated` log events, as Claude Code emits them, through OpenTelemetry's exporter for Python."""

from __future__ import annotations

import pytest

from governance.models import Call, ContextSpan
from tests.clients import programs
from tests.clients.arrivals import everything
from tests.clients.conftest import Scene
from tests.clients.senders.told import EMAIL

pytestmark = pytest.mark.slow


def test_a_skill_that_was_activated_is_a_call_and_no_other_record_is_kept(
    scene: Scene, receiver: str
) -> None:
    sent = programs.run_python(programs.EVENTS, programs.settings(receiver, scene.token))
    assert sent["log"] == ""

    [call] = Call.objects.all()
    assert (call.kind, call.skill_text, call.outcome) == ("loaded", "refund-check", "ok")
    assert (call.source, call.session_id) == ("logs", sent["session_id"])
    assert (call.skill_id, call.version_id) == (scene.release.skill_id, None)
    assert not ContextSpan.objects.exists()
    written = everything()
    assert EMAIL not in written
    assert "user_prompt" not in written
    assert "Bash" not in written
