"""Which spans are calls of a skill, of what kind, and what failed in them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from governance.calls import BadCall, read_call
from governance.otlp import read_traces
from governance.otlp.calls import intent_of
from tests.governance.otlp_payloads import ERROR, LOAD, PARENT, SPAN, START, binary_spans, span

NOW = datetime(2026, 12, 1, tzinfo=UTC)
NAMED = {"gen_ai.skill.name": "refund-check"}


def calls(*spans: dict[str, Any]) -> list[dict[str, Any]]:
    """The calls among the spans."""
    return list(read_traces(binary_spans(*spans), now=NOW).calls)


def seen(name: str, attributes: dict[str, Any]) -> tuple[str, str] | None:
    """Skill and kind of the call that the span is; None for context."""
    found = calls(span(name, attributes))
    return (found[0]["skill"], found[0]["kind"]) if found else None


def tool(name: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    """The attributes of a span of a tool."""
    told = {"skill_name": "refund-check"} if arguments is None else arguments
    text = told if isinstance(told, str) else json.dumps(told)
    return {"gen_ai.tool.name": name, "gen_ai.tool.call.arguments": text, **more}


@pytest.mark.parametrize(
    ("name", "attributes", "expected"),
    [
        # The order of the names.
        ("x", {"gen_ai.skill.name": "a", "skill.name": "b"}, ("a", "called")),
        ("x", {"skill.name": "b"}, ("b", "called")),
        ("x", {"gen_ai.skill.name": " ", "skill.name": "b"}, ("b", "called")),
        ("x", tool("load_skill", **NAMED, **{"skill.name": "b"}), ("refund-check", "loaded")),
        ("x", tool("load_skill", {"skill_name": "c"}, **{"skill.name": "b"}), ("b", "loaded")),
        # The tools of Agent Framework, pydantic-ai-skills and ADK, and Claude Code's.
        ("x", tool("load_skill"), ("refund-check", "loaded")),
        ("x", tool("read_skill_resource"), ("refund-check", "resource")),
        ("x", tool("load_skill_resource"), ("refund-check", "resource")),
        ("x", tool("run_skill_script"), ("refund-check", "script")),
        ("x", tool("load_skill", {"name": "refund-check"}), ("refund-check", "loaded")),
        ("x", tool("Skill", {"skill": "refund-check", "args": "5"}), ("refund-check", "loaded")),
        ("x", tool("Skill", {"command": "/refund-check"}), ("refund-check", "loaded")),
        ("x", tool("load_skill", {"kwargs": {"skill_name": "refund-check"}}), ("refund-check", "loaded")),
        # Tools behind MCP.
        ("x", tool("mcp__quartermaster__load_skill"), ("refund-check", "loaded")),
        ("x", tool("quartermaster.run_skill_script"), ("refund-check", "script")),
        ("x", tool("quartermaster/read_skill_resource"), ("refund-check", "resource")),
        # Only the span's name, and other spellings of arguments.
        ("execute_tool load_skill", {"input.value": '{"skill_name": "a"}'}, ("a", "loaded")),
        ("execute_tool mcp__q__load_skill", {"tool_arguments": '{"skill_name": "a"}'}, ("a", "loaded")),
        ("load_skill", {"input.value": '{"skill_name": "a"}'}, ("a", "loaded")),
        ("x", {"tool.name": "load_skill", "input.value": '{"skill_name": "a"}'}, ("a", "loaded")),
        ("x", {"gen_ai.tool.name": "load_skill", "gen_ai.tool.call.arguments": {"skill_name": "a"}}, ("a", "loaded")),
        # No skill is named, or by what is no tool of skills.
        ("execute_tool load_skill", {}, None),
        ("x", tool("load_skill", "not JSON"), None),
        ("x", tool("load_skill", {"skill_name": 5}), None),
        ("x", tool("load_skill", ["refund-check"]), None),
        ("x", tool("download_skill"), None),
        ("x", tool("unload_skill"), None),
        ("Skill", {"input.value": '{"skill": "a"}'}, None),
        ("x", {"gen_ai.skill.name": ["a"]}, None),
        # What carries the name on.
        ("chat m-1", {**NAMED, "gen_ai.operation.name": "chat"}, None),
        ("embeddings m-1", {**NAMED, "gen_ai.operation.name": "embeddings"}, None),
        ("GET", {**NAMED, "http.request.method": "GET"}, None),
        ("SELECT", {**NAMED, "db.system.name": "postgresql"}, None),
        # What does not.
        ("execute_tool refund", {**NAMED, "gen_ai.tool.name": "refund"}, ("refund-check", "called")),
        ("invoke_agent desk", {**NAMED, "gen_ai.operation.name": "invoke_agent"}, ("refund-check", "called")),
        # The agent's own word.
        ("chat", {**NAMED, "gen_ai.operation.name": "chat", "quartermaster.kind": "called"}, ("refund-check", "called")),
        ("x", {**NAMED, "quartermaster.kind": "script"}, ("refund-check", "script")),
        ("x", tool("load_skill", **{"quartermaster.kind": "resource"}), ("refund-check", "resource")),
        ("x", tool("load_skill", **{"quartermaster.kind": "context"}), None),
    ],
)  # fmt: skip
def test_which_span_is_a_call(
    name: str, attributes: dict[str, Any], expected: tuple[str, str] | None
) -> None:
    assert seen(name, attributes) == expected


def test_below_a_span_of_a_skill_its_name_is_only_carried_on() -> None:
    ids = ("aa" * 8, "bb" * 8, "cc" * 8, "dd" * 8, "ee" * 8)
    outer = span("refund", NAMED, span_id=ids[0], parent_span_id="")
    inner = span("step", NAMED, span_id=ids[1], parent_span_id=ids[0])
    deeper = span("sub-step", NAMED, span_id=ids[2], parent_span_id=ids[1])
    other = span("lookup", {"skill.name": "order-lookup"}, span_id=ids[3], parent_span_id=ids[2])
    loads = span("execute_tool load_skill", {**LOAD, **NAMED}, span_id=ids[4], parent_span_id=ids[0])
    # Children end, and so come, before their parents.
    batch = read_traces(binary_spans(other, deeper, loads, inner, outer), now=NOW)
    assert [(call["skill"], call["kind"]) for call in batch.calls] == [
        ("order-lookup", "called"),
        ("refund-check", "loaded"),
        ("refund-check", "called"),
    ]
    assert [one.name for one in batch.spans] == ["sub-step", "step"]
    assert {batch.calls[1]["parent_id"], batch.spans[1].parent_id} == {batch.calls[2]["call_id"]}


def test_below_a_call_of_a_model_a_span_of_a_skill_is_a_call() -> None:
    chat = span("chat", {**NAMED, "gen_ai.operation.name": "chat"}, span_id=PARENT, parent_span_id="")
    assert len(calls(span("refund", NAMED), chat)) == 1


def test_what_an_agent_says_of_its_own() -> None:
    told = {
        **LOAD,
        "quartermaster.attempt": 2,
        "quartermaster.fallback_for": "refund-old",
        "quartermaster.replanned": True,
        "quartermaster.candidates": ["refund-check", "refund-old"],
        "quartermaster.selection_reason": "The nearer one",
        "quartermaster.user_intent": "Money back",
        "quartermaster.retryable": False,
        "quartermaster.cost": 0.0042,
        "quartermaster.currency": "EUR",
        "quartermaster.cache_hit": True,
    }
    [call] = calls(span(attributes=told))
    typed = read_call(call, now=NOW)
    names = ("attempt", "fallback_for", "replanned", "retryable", "currency", "cache_hit")
    assert [typed.row[name] for name in names] == [2, "refund-old", True, False, "EUR", True]
    assert str(typed.row["cost"]) == "0.00420000"
    assert typed.detail["candidates"] == ["refund-check", "refund-old"]
    assert (typed.detail["selection_reason"], typed.detail["user_intent"]) == ("The nearer one", "Money back")
    assert call["spans"][0]["attributes"] == {"gen_ai.tool.name": "load_skill", "otel.scope": "desk"}
    as_text = {**LOAD, "quartermaster.candidates": '["a", "b"]'}
    assert calls(span(attributes=as_text))[0]["candidates"] == ["a", "b"]


def test_what_an_agent_says_wrongly_is_told() -> None:
    for name, value, message in (
        ("kind", "used", "kind is not one of called, loaded, resource, script."),
        ("attempt", "2", "attempt is not a whole number from 1 to 1000000."),
        ("failed_stage", "planning", "failed_stage is not one of intent, selection, parameters, permission, execution, output."),
    ):  # fmt: skip
        [call] = calls(span(attributes={**LOAD, f"quartermaster.{name}": value}))
        with pytest.raises(BadCall) as told:
            read_call(call, now=NOW)
        assert str(told.value) == message


@pytest.mark.parametrize("stage", ["intent", "selection"])
def test_a_failure_before_a_skill_was_chosen_names_none(stage: str) -> None:
    [call] = calls(span("plan", {"quartermaster.failed_stage": stage}))
    typed = read_call(call, now=NOW)
    assert (typed.row["skill_text"], typed.row["failed_stage"], typed.row["outcome"]) == ("", stage, "error")


@pytest.mark.parametrize(
    ("attributes", "fields", "expected"),
    [
        ({}, {}, ("ok", "", None)),
        ({}, {"status": (1, "")}, ("ok", "", None)),
        ({}, {"status": (ERROR, "It broke")}, ("error", "", "execution")),
        ({"error.type": "TimeoutError"}, {}, ("error", "TimeoutError", "execution")),
        ({"error.type": "builtins.PermissionError"}, {}, ("error", "builtins.PermissionError", "permission")),
        ({"error.type": "403"}, {}, ("error", "403", "permission")),
        ({"error.type": 401}, {}, ("error", "401", "permission")),
        ({"error.type": "pydantic_core.ValidationError"}, {}, ("error", "pydantic_core.ValidationError", "parameters")),
        ({"error.type": "INVALID_ARGUMENT"}, {}, ("error", "INVALID_ARGUMENT", "parameters")),
        ({"error.type": "-32602"}, {}, ("error", "-32602", "parameters")),
        ({"error.type": "OutputValidationError"}, {}, ("error", "OutputValidationError", "output")),
        ({"error.type": "ToolNotFoundError"}, {}, ("error", "ToolNotFoundError", "selection")),
        ({"error.type": "500"}, {}, ("error", "500", "execution")),
        ({"error.type": "x" * 300}, {}, ("error", "x" * 200, "execution")),
        ({"error.type": "A", "quartermaster.error_code": "upstream"}, {}, ("error", "upstream", "execution")),
        ({"quartermaster.failed_stage": "output"}, {}, ("error", "", "output")),
        (
            {"error.type": "PermissionError", "quartermaster.failed_stage": "execution"}, {},
            ("error", "PermissionError", "execution"),
        ),
        (
            {}, {"status": (ERROR, ""), "events": [("exception", START, {"exception.type": "a.Forbidden"})]},
            ("error", "a.Forbidden", "permission"),
        ),
        # An exception that was caught is no failure of the span.
        ({}, {"events": [("exception", START, {"exception.type": "KeyError"})]}, ("ok", "", None)),
    ],
)  # fmt: skip
def test_what_failed(
    attributes: dict[str, Any], fields: dict[str, Any], expected: tuple[str, str, str | None]
) -> None:
    [call] = calls(span(attributes={**LOAD, **attributes}, **fields))
    assert (call["outcome"], call["error_code"], call.get("failed_stage")) == expected
    read_call(call, now=NOW)


MESSAGES = [
    {"role": "user", "parts": [{"type": "text", "content": "First"}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "1"}]},
    {"role": "user", "parts": [{"type": "text", "content": "Money"}, {"type": "text", "content": "back"}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "response": "x"}]},
]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (None, ""),
        ("Money back", "Money back"),
        (MESSAGES, "Money\nback"),
        (json.dumps(MESSAGES), "Money\nback"),
        ([{"role": "user", "content": "Money"}], "Money"),
        ([{"role": "user", "content": [{"type": "text", "text": "Money"}, 5]}], "Money"),
        ([{"role": "assistant", "content": "No"}, 5], ""),
        ({"role": "user"}, ""),
        # What is too long ends with a sentence, never within an address or a number.
        ("A sentence. " + "b" * 20_000, "A sentence."),
        ("永久。" + "永" * 20_000, "永久。"),
        ("ina@example.com" * 2000, "[TOO LONG: 30000 characters]"),
    ],
)
def test_the_intent(told: Any, expected: str) -> None:
    assert intent_of(told) == expected


def test_an_id_is_never_cut() -> None:
    [call] = calls(span(attributes={**LOAD, "session.id": "s" * 201}))
    with pytest.raises(BadCall, match=r"^session_id has 201 characters; at most 200 are taken\.$"):
        read_call(call, now=NOW)


def test_tokens_that_are_none_are_left_out() -> None:
    for value in (-1, 10**13, "5", 1.5, float("nan"), True, ["a"]):
        assert calls(span(attributes={**LOAD, "gen_ai.usage.input_tokens": value}))[0]["input_tokens"] is None


def test_a_session_is_text() -> None:
    assert calls(span(attributes={**LOAD, "session.id": 5}))[0]["session_id"] == "5"
    assert calls(span(span_id=SPAN, attributes={**LOAD, "session.id": ["a"]}))[0]["session_id"] == ""
