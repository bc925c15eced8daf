"""Which spans are the act of a skill: a call, and not what an agent did under it (docs/traces.md).

Facts from the clients: Agent Framework's and pydantic-ai-skills' tools, Claude Code's `Skill`, ADK's tools,
and the proposed `gen_ai.skill.name` (open-telemetry/semantic-conventions-genai, issue 501).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from governance.otlp.records import Sent
from governance.otlp.values import first_of, parsed, text_of

NAMES = ("gen_ai.skill.name", "skill.name")
VERSIONS = ("gen_ai.skill.version", "skill.version")
TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "tool_name")
ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.arguments",
    "tool_arguments",  # pydantic-ai
    "input.value",  # OpenInference
    "gcp.vertex.agent.tool_call_args",  # ADK
    "tool_input",
)
# What the tools call their argument: skill_name everywhere but in Claude Code and ADK.
SKILL_ARGUMENTS = ("skill_name", "skill", "name", "command")
WRAPPERS = ("arguments", "input", "inputs", "kwargs")
KIND_OF_TOOL = {
    "load_skill": "loaded",
    "Skill": "loaded",
    "read_skill_resource": "resource",
    "load_skill_resource": "resource",
    "run_skill_script": "script",
}
# A tool of an MCP server has the server's name before its own: mcp__quartermaster__load_skill.
TOOL = re.compile(
    r"(?:^|__|[./:])(load_skill|load_skill_resource|read_skill_resource|run_skill_script|Skill)$"
)
KIND, STAGE = "quartermaster.kind", "quartermaster.failed_stage"
CONTEXT = "context"
# A tuple, for an attribute may be a list, which no set is asked for.
EARLY_STAGES = ("intent", "selection")
# Calls of a model: whatever skill they name, they were made on its behalf.
MODEL_OPERATIONS = {"chat", "text_completion", "generate_content", "embeddings", "retrieval"}
# Requests between programs. Processors copy attributes onto every span below the one that set them.
TRANSPORT = (
    "http.request.method",
    "http.method",
    "db.system.name",
    "db.system",
    "rpc.system",
    "messaging.system",
)
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Act:
    """A span that is a call: the skill as the agent named it, its version, and the kind of call."""

    skill: str
    version: str
    kind: Any


def named_skill(attributes: Mapping[str, Any]) -> str:
    """The skill that an attribute names; "" where none does."""
    for name in NAMES:
        if name in attributes and (skill := text_of(attributes[name]).strip()):
            return skill
    return ""


def acting_spans(sent: list[Sent]) -> dict[Key, str]:
    """The skill that a span of these names, by trace and span; calls of models are left out."""
    return {
        (one.trace_id, one.span_id): skill
        for one in sent
        if (skill := named_skill(one.attributes)) and not _is_of_a_model(one)
    }


def find_act(span: Sent, acting: Mapping[Key, str]) -> Act | None:
    """The act of a skill that this span is; None for context. `acting` are the spans that came with it."""
    attributes = span.attributes
    told, skill, kind = attributes.get(KIND), named_skill(attributes), _kind_of_tool(span)
    if told == CONTEXT:
        return None
    if told is None and kind is None and skill and _is_under_it(span, skill, acting):
        return None
    if not skill and (kind or told is not None):
        skill = _skill_of_arguments(attributes)
    is_early = attributes.get(STAGE) in EARLY_STAGES
    if not skill and told is None and not is_early:
        return None
    return Act(skill, text_of(first_of(attributes, *VERSIONS)), told or kind or "called")


def _kind_of_tool(span: Sent) -> str | None:
    attributes = span.attributes
    for name in TOOL_NAMES:
        tool = attributes.get(name)
        if isinstance(tool, str) and tool:
            return _kind_of(tool)
    if span.name.startswith("execute_tool "):
        return _kind_of(span.name[len("execute_tool ") :])
    # OpenInference and others name the span for the tool; `Skill` alone may be anything.
    return KIND_OF_TOOL.get(span.name) if span.name != "Skill" else None


@lru_cache(maxsize=4096)
def _kind_of(tool: str) -> str | None:
    found = TOOL.search(tool.strip())
    return KIND_OF_TOOL[found[1]] if found else None


def _skill_of_arguments(attributes: Mapping[str, Any]) -> str:
    arguments = parsed(first_of(attributes, *ARGUMENTS))
    for holder in (
        (arguments, *(arguments.get(name) for name in WRAPPERS)) if isinstance(arguments, dict) else ()
    ):
        if isinstance(holder, dict):
            for name in SKILL_ARGUMENTS:
                if isinstance(skill := holder.get(name), str) and skill.strip():
                    return skill.strip().removeprefix("/")
    return ""


def _is_under_it(span: Sent, skill: str, acting: Mapping[Key, str]) -> bool:
    """Whether the span only carries the name on, from the one that is the act."""
    if _is_of_a_model(span) or any(name in span.attributes for name in TRANSPORT):
        return True
    return bool(span.parent_id) and acting.get((span.trace_id, span.parent_id)) == skill


def _is_of_a_model(span: Sent) -> bool:
    operation = span.attributes.get("gen_ai.operation.name")
    return isinstance(operation, str) and operation in MODEL_OPERATIONS
