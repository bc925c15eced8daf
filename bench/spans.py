"""Made-up spans of agents at work, as OTLP batches: ten spans a trace, four of them the act of a skill.

One span in ten tells an e-mail address and a telephone number, as conversations do; a span has about 800 bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

A_TRACE = 10
BEGUN = 1_796_000_000 * 10**9
WORDS = (
    "The customer asks for the refund of order 4711-2231 and wants to hear by tomorrow evening",
    "Клиент спрашивает, когда придёт заказ, и просит ответить сегодня до вечера",
    "客户想知道订单什么时候能到，请今天晚上之前回复",
)
TOLD = " Write to anna.schmidt{n}@post.example.org or call +49 30 5557{n:04}."
STEPS = (
    ("invoke_agent desk", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}),
    ("chat model-5", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "model-5"}),
    ("execute_tool load_skill", {"gen_ai.tool.name": "load_skill"}),
    ("execute_tool read_skill_resource", {"gen_ai.tool.name": "read_skill_resource"}),
    ("chat model-5", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "model-5"}),
    ("execute_tool order-skill", {"gen_ai.skill.name": "order-skill-0001", "gen_ai.skill.version": "1.0.0"}),
    ("GET", {"http.request.method": "GET", "http.response.status_code": 200, "server.address": "shop.example.org"}),
    ("chat model-5", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "model-5"}),
    ("execute_tool order-skill", {"gen_ai.skill.name": "order-skill-0002", "gen_ai.skill.version": "1.0.0"}),
    ("POST", {"http.request.method": "POST", "http.response.status_code": 201, "server.address": "mail.example.org"}),
)  # fmt: skip


@dataclass(frozen=True)
class Batch:
    """An OTLP request as it goes over the wire, how many spans it holds, and how many of them are acts of a skill."""

    body: bytes
    spans: int
    calls: int


def batches(count: int, *, size: int, seed: str) -> Iterator[Batch]:
    """So many batches of `size` spans; another seed gives other ids."""
    for number in range(count):
        sent = ExportTraceServiceRequest()
        resource = sent.resource_spans.add()
        _put(resource.resource.attributes, {"service.name": "desk", "service.version": "2.3.1"})
        spans = resource.scope_spans.add(scope={"name": "agent_framework", "version": "1.23.0"}).spans
        calls = 0
        for place in range(size):
            trace = sha256(f"{seed} {number} {place // A_TRACE}".encode()).digest()
            calls += _add(spans, trace, number * size + place, place % A_TRACE)
        yield Batch(sent.SerializeToString(), size, calls)


def _add(spans: object, trace: bytes, n: int, step: int) -> bool:
    name, attributes = STEPS[step]
    begun = BEGUN + n * 7_000_000
    span = spans.add(  # type: ignore[attr-defined]
        name=name,
        trace_id=trace[:16],
        span_id=sha256(trace + bytes([step])).digest()[:8],
        parent_span_id=sha256(trace + bytes([0])).digest()[:8] if step else b"",
        kind=3,
        start_time_unix_nano=begun,
        end_time_unix_nano=begun + (400_000_000 if "chat" in name else 12_000_000),
    )
    said = WORDS[n % 3] + (TOLD.format(n=n % 10_000) if n % 10 == 1 else ".")
    more: dict[str, object] = {
        "gen_ai.conversation.id": trace[16:28].hex(),
        "gen_ai.system": "example",
        "thread.id": 17,
    }
    if "chat" in name:
        messages = [
            {"role": "system", "content": "You help at the desk of a shop."},
            {"role": "user", "content": said},
        ]
        more |= {
            "gen_ai.input.messages": json.dumps(messages, ensure_ascii=False),
            "gen_ai.output.messages": json.dumps([{"role": "assistant", "content": said[:60]}]),
            "gen_ai.usage.input_tokens": 900 + n % 300,
            "gen_ai.usage.output_tokens": 40 + n % 90,
            "gen_ai.response.finish_reasons": "stop",
        }
    elif "tool" in name:
        asked = {"skill_name": "order-skill-0001", "resource": "policy.md", "note": said}
        more |= {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.call.id": f"call_{trace[:9].hex()}",
            "gen_ai.tool.call.arguments": json.dumps(asked, ensure_ascii=False),
            "gen_ai.tool.call.result": "# Policy\n\nLook at the order, then at its date, then at the payment. "
            * 4,
        }
    else:
        more |= {
            "url.full": f"https://shop.example.org/orders/{n}?expand=items",
            "network.protocol.version": "1.1",
        }
        more |= {"user_agent.original": "desk/2.3 (agent) example/1.0", "http.request.body.size": 312}
    _put(span.attributes, {**attributes, **more})
    return step in (2, 3, 5, 8)


def _put(attributes: object, values: dict[str, object]) -> None:
    for key, value in values.items():
        told = AnyValue(int_value=value) if isinstance(value, int) else AnyValue(string_value=str(value))
        attributes.add(key=key, value=told)  # type: ignore[attr-defined]
