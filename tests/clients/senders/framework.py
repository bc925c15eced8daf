"""An agent of Microsoft Agent Framework with a SkillsProvider, whose model is made up: nothing leaves the machine.

Run as a program. The framework's own telemetry is set up from OTEL_* and ENABLE_SENSITIVE_DATA alone; `SKILL` names the
skill that the model loads. Prints the agent's answer.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    InlineSkill,
    Message,
    SkillFrontmatter,
    SkillsProvider,
)
from agent_framework.observability import ChatTelemetryLayer, configure_otel_providers
from opentelemetry import _logs, trace

from tests.clients.senders.told import EMAIL

SKILL = os.environ.get("SKILL", "refund-check")


class Model(FunctionInvocationLayer, ChatMiddlewareLayer, ChatTelemetryLayer, BaseChatClient):  # type: ignore[type-arg]
    """Loads the skill, then answers: the layers around are those of the framework's own clients."""

    OTEL_PROVIDER_NAME = "made-up"

    async def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> ChatResponse:
        told = [content for message in messages for content in message.contents]
        if any(content.type == "function_result" for content in told):
            said = [Content.from_text("You get your money back.")]
        else:
            arguments = json.dumps({"skill_name": SKILL})
            said = [Content.from_function_call(call_id="call_1", name="load_skill", arguments=arguments)]
        return ChatResponse(
            messages=[Message("assistant", said)],
            model="made-up-1",
            usage_details={"input_token_count": 120, "output_token_count": 14},
        )


async def ask() -> str:
    """What the agent answers, once it has loaded the skill."""
    frontmatter = SkillFrontmatter(
        name=SKILL, description="Checks a refund. Use when somebody wants money back."
    )
    skill = InlineSkill(frontmatter=frontmatter, instructions="Read the order, then the rules.")
    agent = Agent(
        client=Model(),
        name="helpdesk",
        context_providers=[SkillsProvider(skill, disable_load_skill_approval=True)],
    )
    answer = await agent.run(f"I am {EMAIL} and want my money back.")
    return answer.text


configure_otel_providers()
print(json.dumps({"answer": asyncio.run(ask())}))
trace.get_tracer_provider().force_flush()  # type: ignore[attr-defined]
if hasattr(_logs.get_logger_provider(), "force_flush"):
    _logs.get_logger_provider().force_flush()  # type: ignore[attr-defined]
