"""An agent in Python that reports spans: one of a skill, one that loads it, one of a failed skill, and what is around.

Run as a program. Where its spans go is told by OTEL_EXPORTER_OTLP_* alone; `SKILL` names the skill and
`VERSION` its version. Prints the trace's id.
"""

from __future__ import annotations

import json
import os

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode

from tests.clients.senders.told import EMAIL, SECRET

SKILL = os.environ.get("SKILL", "refund-check")
VERSION = os.environ.get("VERSION", "1.0.0")

provider = TracerProvider(resource=Resource.create({"service.name": "helpdesk"}))
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("helpdesk", "1.0")

with tracer.start_as_current_span("invoke_agent helpdesk") as agent:
    agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helpdesk"})
    agent.set_attribute("enduser.email", EMAIL)
    with tracer.start_as_current_span("chat small-model") as chat:
        chat.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.request.model": "small-model"})
        chat.set_attributes({"gen_ai.usage.input_tokens": 120, "gen_ai.usage.output_tokens": 14})
    with tracer.start_as_current_span("execute_tool load_skill") as load:
        load.set_attributes({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "load_skill"})
        load.set_attribute("gen_ai.tool.call.id", "call_1")
        load.set_attribute("gen_ai.tool.call.arguments", json.dumps({"skill_name": SKILL}))
    with tracer.start_as_current_span(f"skill {SKILL}") as skill:
        skill.set_attributes({"gen_ai.skill.name": SKILL, "gen_ai.skill.version": VERSION})
        skill.set_attribute("gen_ai.tool.call.arguments", json.dumps({"customer": EMAIL, "password": SECRET}))
        with tracer.start_as_current_span("GET /orders/7") as inner:
            inner.set_attribute("http.response.status_code", 200)
    with tracer.start_as_current_span(f"skill {SKILL}") as failed:
        failed.set_attributes({"skill.name": SKILL, "error.type": "TimeoutError"})
        failed.set_status(Status(StatusCode.ERROR, f"no answer for {EMAIL}"))

print(json.dumps({"trace_id": format(agent.get_span_context().trace_id, "032x")}))
# Waits for the exporter, and for its retries; `shutdown` alone ends them.
provider.force_flush()
provider.shutdown()
