"""An agent in Python that reports `skill_activated` log events, as Claude Code does.

Run as a program. Where they go is told by OTEL_EXPORTER_OTLP_* alone; `SKILL` names the skill. Prints the session's id.
"""

from __future__ import annotations

import json
import os
import time
import uuid

from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource

from tests.clients.senders.told import EMAIL

SKILL = os.environ.get("SKILL", "refund-check")
SESSION = str(uuid.uuid4())

provider = LoggerProvider(
    resource=Resource.create({"service.name": "claude-code", "service.version": "2.1.197"})
)
provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
logger = provider.get_logger("com.anthropic.claude_code.events", "2.1.197")


def emit(name: str, **more: str) -> None:
    """One event with the attributes that each of them has."""
    common = {"session.id": SESSION, "user.email": EMAIL, "event.name": name}
    logger.emit(
        timestamp=time.time_ns(), body=f"claude_code.{name}", event_name=name, attributes={**common, **more}
    )


emit("user_prompt", prompt_length="31", prompt="<REDACTED>")
emit("skill_activated", **{"skill.name": SKILL, "skill.source": "userSettings"})
emit("tool_result", tool_name="Bash", success="true", duration_ms="12")

print(json.dumps({"session_id": SESSION}))
provider.force_flush()
provider.shutdown()
