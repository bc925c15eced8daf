"""Advice on the design of a schema, and schemas that no value can satisfy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeGuard

from catalog.bundles.schema_values import problems
from catalog.bundles.typed_yaml import Place

MAX_REQUIRED = 3

Advice = tuple[str, Place, str, str]
"""Code, place, problem and hint."""

_BOUNDS = (
    ("minimum", "maximum"),
    ("exclusiveMinimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
)
# Names of parameters that take one word of a few, in every service that has them.
_CHOICE_NAME = re.compile(
    r"(?:^|_)(?:format|mode|type|kind|sort(?:_by)?|order(?:_by)?|direction|unit|units|status|state|level|priority|severity"
    r"|category|currency|style|theme|method|strategy|scope|visibility|role|size|quality|tone|period|granularity)$"
)
_CHOICE_TEXT = re.compile(
    r"\bone of\b|\beither\b|\ballowed values?\b|\boptions?:|\bvalues?:|\b\w+ ?\| ?\w+\b|可选值|取值|之一|один из|одно из|допустимые",
    re.IGNORECASE,
)
_BOUNDED_TEXT = ("enum", "const", "pattern", "format", "$ref", "maxLength", "examples", "anyOf", "oneOf")


def contradiction(part: dict[str, Any]) -> str:
    """Why no value satisfies a valid schema, or "" where none of the simple reasons is met."""
    for least, most in _BOUNDS:
        low, high = part.get(least), part.get(most)
        if _is_number(low) and _is_number(high):
            open_end = least.startswith("exclusive") or most.startswith("exclusive")
            if low > high or (open_end and low == high):
                return f"{least} {low} is above {most} {high}"
    if part.get("not") in ({}, True):
        return "not refuses every value"
    if "enum" in part and _no_choice(part):
        return "no value of enum satisfies the rest"
    if "const" in part and problems({k: v for k, v in part.items() if k in _PLAIN}, part["const"]):
        return "const does not satisfy the rest"
    if any(part.get(keyword) == [] for keyword in ("anyOf", "oneOf")):
        return "there is no alternative"
    return _missing_field(part) or _no_common_type(part)


# Keywords that need no other part of the schema.
_PLAIN = frozenset(
    {
        "type",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "pattern",
    }
    | {"multipleOf", "minItems", "maxItems", "required"}
)


def _no_choice(part: dict[str, Any]) -> bool:
    plain = {key: value for key, value in part.items() if key in _PLAIN}
    return all(problems(plain, value) for value in part["enum"][:200])


def _missing_field(part: dict[str, Any]) -> str:
    """A field that is required and refused."""
    properties = part.get("properties", {})
    for name in part.get("required", []):
        refused = properties.get(name) is False
        if name not in properties and part.get("additionalProperties") is False:
            refused = "patternProperties" not in part
        if refused:
            return "a required field is not allowed"
    return ""


def _no_common_type(part: dict[str, Any]) -> str:
    common: set[str] | None = None
    for one in (part, *part.get("allOf", [])):
        types = one.get("type") if isinstance(one, dict) else None
        if types is not None:
            named = set(types if isinstance(types, list) else [types])
            named |= {"integer"} if "number" in named else set()
            common = named if common is None else common & named
    return "allOf asks for types that exclude each other" if common == set() else ""


def check_design(schema: dict[str, Any], *, output: bool) -> Iterator[Advice]:
    """Advice on a valid schema; on an output only what its readers miss (spec 2.2)."""
    properties = schema.get("properties")
    if output:
        if not isinstance(properties, dict) or "meta" not in properties:
            problem = "says nothing of where an answer comes from and what it took"
            hint = "Add meta: {source, duration_ms, tokens}."
            yield "output-no-meta", (), problem, hint
        return
    required = schema.get("required", [])
    if len(required) > MAX_REQUIRED:
        problem = f"asks for {len(required)} parameters, more than {MAX_REQUIRED}"
        yield "schema-many-required", ("required",), problem, "Give some a default, or split the skill."
    if not isinstance(properties, dict):
        return
    for name, part in properties.items():
        if isinstance(part, dict):
            yield from _parameter(name, part, name in required)


def _parameter(name: str, part: dict[str, Any], required: bool) -> Iterator[Advice]:
    place: Place = ("properties", name)
    if not part.get("description") and "$ref" not in part:
        hint = "Say what it means, in which unit or format."
        yield "schema-no-description", place, "has no description", hint
    if not required and "default" not in part and "const" not in part and "$ref" not in part:
        hint = "Add the default that the skill uses when it is not given."
        yield "schema-no-default", place, "is optional and has no default", hint
    if part.get("type") == "string" and not any(keyword in part for keyword in _BOUNDED_TEXT):
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", name[:100]).lower()
        if _CHOICE_NAME.search(words) or _CHOICE_TEXT.search(str(part.get("description", ""))[:1000]):
            hint = "List the values: enum: [a, b]."
            yield "schema-free-text", place, "takes any text where a few values would do", hint


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
