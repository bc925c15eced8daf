"""JSON Schemas of manifests: every refusal, warning and advice by its words."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.bundles.schemas import check_schema, check_value, extra_fields

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
TOLD = {"description": "x", "default": 1}


def check(schema: Any, field: str = "input_schema") -> list[tuple[str, str, str, str]]:
    found = check_schema(schema, path="manifest.yaml", field=field, line=5)
    assert all((f.path, f.line) == ("manifest.yaml", 5) for f in found)
    return [(f.severity, f.code, f.message, f.hint) for f in found]


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


AGAIN = (
    "applies to a value again and again without an end.",
    "Let a reference go through properties or items before it comes back.",
)
UNSAFE_HINT = (
    "Take out repetitions inside repetitions: ^a+$ instead of ^(a+)+$; bound the rest with maxLength."
)
LOOSEN = "Loosen one of the two."
A = "input_schema.properties.a"

# fmt: off
# Schema, severity, code, message, hint.
CASES: list[tuple[Any, str, str, str, str]] = [
    (True, "error", "schema-invalid", "input_schema (line 5) is no mapping, and only an object can be a schema here.", "Write type: object and its properties."),
    ({"type": "string"}, "error", "schema-invalid", "input_schema.type (line 5) is not object, and only an object has named parameters.", "Write type: object and its properties."),
    ({"properties": {"a": {"type": "strng"}}}, "error", "schema-invalid", A + '.type (line 5) is "strng", no type of JSON Schema.', "Write string."),
    ({"required": "a"}, "error", "schema-invalid", "input_schema.required (line 5) must be of the type array.", "Write it as JSON Schema 2020-12 says."),
    ({"properties": {"a": {"$ref": "http://169.254.169.254/x"}}}, "error", "schema-remote-ref", A + ".$ref (line 5) refers to something outside the schema, and nothing is fetched.", "Copy what it names under $defs and refer to #/$defs/name."),
    ({"properties": {"a": {"$ref": "#/$defs/x"}}}, "error", "schema-invalid", A + ".$ref (line 5) refers to a part that the schema does not have.", "Refer to #/$defs/name, and define it there."),
    ({"$ref": "#"}, "error", "schema-invalid", "input_schema (line 5) " + AGAIN[0], AGAIN[1]),
    ({"$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(20)} | {"d20": {}}}, "error", "schema-invalid", "input_schema.$defs.d0 (line 5) " + AGAIN[0], AGAIN[1]),
    ({"properties": {"a": {"pattern": "(a+)+$"}}}, "error", "schema-regex-unsafe", A + ".pattern (line 5) can take for ever on a text that almost matches.", UNSAFE_HINT),
    ({"properties": {"a": {"pattern": "["}}}, "error", "schema-regex-invalid", A + ".pattern (line 5) is no regular expression: unterminated character set at position 0.", "Mend it; it is read as ECMA 262 and Python read it alike."),
    ({"patternProperties": {"(a|a)*b": {}}}, "error", "schema-regex-unsafe", "input_schema.patternProperties.(a|a)*b (line 5) can take for ever on a text that almost matches.", UNSAFE_HINT),
    ({"properties": {"a": {"enum": ["x", "y"], "default": "z"}}}, "error", "schema-default-mismatch", A + ".default (line 5) is a default that its own schema refuses: it is not one of the 2 allowed values: x, y.", "Mend the default or the schema."),
    ({"properties": {"a": {"type": "integer", "examples": [1, "x"]}}}, "error", "schema-default-mismatch", A + ".examples.1 (line 5) is an example that its own schema refuses: it is not of the type integer.", "Mend the example or the schema."),
    (deep(40), "error", "schema-too-deep", "input_schema.a.properties.a.properties.a.properties (line 5) lies deeper than 64 levels.", "Flatten it, or refer to $defs."),
    ({"enum": ["x" * 300_000]}, "error", "schema-too-large", "input_schema (line 5) holds more than 5,000 values or 262,144 characters.", "Describe less, or share parts under $defs."),
    ({"$schema": DRAFT_4}, "warning", "schema-draft-old", "input_schema.$schema (line 5) names the draft draft-04, and schemas are read as 2020-12.", "Write $schema: https://json-schema.org/draft/2020-12/schema, or leave it out."),
    ({"$schema": "https://e.example/x"}, "warning", "schema-draft-old", "input_schema.$schema (line 5) names a dialect that is not known here and is not fetched.", "Write $schema: https://json-schema.org/draft/2020-12/schema, or leave it out."),
    ({"properties": {"__proto__": TOLD}}, "warning", "schema-reserved-name", "input_schema.properties.__proto__ (line 5) has a name that JavaScript reserves, which breaks its callers.", "Rename it."),
    ({"properties": {"a": {"minimum": 3, "maximum": 1}}}, "warning", "schema-unsatisfiable", A + " (line 5) lets no value pass: minimum 3 is above maximum 1.", LOOSEN),
    ({"properties": {"a": {"minimum": 3, "exclusiveMaximum": 3}}}, "warning", "schema-unsatisfiable", A + " (line 5) lets no value pass: minimum 3 is above exclusiveMaximum 3.", LOOSEN),
    ({"properties": {"a": {"type": "string", "enum": [1]}}}, "warning", "schema-unsatisfiable", A + " (line 5) lets no value pass: no value of enum satisfies the rest.", LOOSEN),
    ({"properties": {"a": {"type": "string", "const": 1}}}, "warning", "schema-unsatisfiable", A + " (line 5) lets no value pass: const does not satisfy the rest.", LOOSEN),
    ({"properties": {"a": {"not": {}}}}, "warning", "schema-unsatisfiable", A + " (line 5) lets no value pass: not refuses every value.", LOOSEN),
    ({"required": ["b"], "additionalProperties": False}, "warning", "schema-unsatisfiable", "input_schema (line 5) lets no value pass: a required field is not allowed.", LOOSEN),
    ({"properties": {"a": {"allOf": [{"type": "string"}, {"type": "integer"}]}}}, "warning", "schema-unsatisfiable", A + " (line 5) lets no value pass: allOf asks for types that exclude each other.", LOOSEN),
    ({"required": ["a", "b", "c", "d"]}, "advice", "schema-many-required", "input_schema.required (line 5) asks for 4 parameters, more than 3.", "Give some a default, or split the skill."),
    ({"properties": {"a": {"default": 1}}}, "advice", "schema-no-description", A + " (line 5) has no description.", "Say what it means, in which unit or format."),
    ({"properties": {"a": {"description": "x"}}}, "advice", "schema-no-default", A + " (line 5) is optional and has no default.", "Add the default that the skill uses when it is not given."),
    ({"properties": {"outputFormat": {"type": "string", **TOLD, "default": "x"}}}, "advice", "schema-free-text", "input_schema.properties.outputFormat (line 5) takes any text where a few values would do.", "List the values: enum: [a, b]."),
    ({"properties": {"a": {"type": "string", "description": "One of csv, json", "default": "x"}}}, "advice", "schema-free-text", A + " (line 5) takes any text where a few values would do.", "List the values: enum: [a, b]."),
]
# fmt: on


@pytest.mark.parametrize(("schema", "severity", "code", "message", "hint"), CASES)
def test_a_problem_is_told(schema: Any, severity: str, code: str, message: str, hint: str) -> None:
    found = [one for one in check(schema) if one[1] == code]
    assert found == [(severity, code, message, hint)]


def test_an_output_without_meta_is_told() -> None:
    message = "output_schema (line 5) says nothing of where an answer comes from and what it took."
    hint = "Add meta: {source, duration_ms, tokens}."
    assert check({"properties": {}}, "output_schema") == [("advice", "output-no-meta", message, hint)]
    assert check({"properties": {"meta": {}}}, "output_schema") == []


GOOD: list[Any] = [
    {},
    {"type": "object", "properties": {"next": {"$ref": "#", "description": "x"}}},
    {"properties": {"a": {**TOLD, "type": "integer", "minimum": 0, "examples": [1, 2]}}},
    {"$defs": {"a": {"$anchor": "here", "type": "integer"}}, "properties": {"a": {"$ref": "#here"}}},
    {"properties": {"a": True, "b": {"const": 1, "description": "x"}}},
    {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"},
    # What looks like a reference inside a value is none.
    {"properties": {"a": {"description": "x", "default": {"$ref": "http://e.example"}}}},
    {"properties": {"$ref": {"description": "x", "default": 1}}},
]


@pytest.mark.parametrize("schema", GOOD)
def test_a_good_schema_is_not_told_of(schema: Any) -> None:
    assert check(schema) == []


SEARCH = {
    "type": "object",
    "required": ["q"],
    "additionalProperties": False,
    "properties": {
        "q": {"type": "string", "maxLength": 3},
        "n": {"type": "integer", "minimum": 1},
        "m": {"enum": ["a", "b"]},
        "l": {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
        "a/b": {"type": "string", "pattern": "^a+$"},
    },
}

VALUES: list[tuple[Any, list[tuple[str, str]]]] = [
    ({"q": "abc"}, []),
    ([], [("", "is not of the type object")]),
    ({}, [("/q", "is missing")]),
    ({"q": "abcd"}, [("/q", "is longer than 3")]),
    (
        {"q": "a", "z": 1, "y": 2},
        [
            ("/z", "is a field that the schema does not have"),
            ("/y", "is a field that the schema does not have"),
        ],
    ),
    ({"q": "a", "n": 0}, [("/n", "is below the least of 1")]),
    ({"q": "a", "m": "c"}, [("/m", "is not one of the 2 allowed values: a, b")]),
    ({"q": "a", "l": ["x", 1, "x"]}, [("/l", "holds an entry twice"), ("/l/1", "is not of the type string")]),
    ({"q": "a", "a/b": "b"}, [("/a~1b", "does not match the pattern of the schema")]),
]


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_check_value_names_what_does_not_fit(value: Any, expected: list[tuple[str, str]]) -> None:
    assert check_value(SEARCH, value) == expected


def test_extra_fields_are_named_though_they_are_allowed() -> None:
    schema: Any = {"properties": {"items": {"items": {"properties": {"id": {}}}}}}
    value = {"items": [{"id": 1, "note": 2}], "cost": 3}
    assert sorted(extra_fields(schema, value)) == ["/cost", "/items/0/note"]
    assert check_value(schema, value) == []


def test_a_schema_that_doubles_at_every_level_is_given_up() -> None:
    choice = {"properties": {"n": {"$ref": "#"}}, "required": ["x"]}
    value: dict[str, Any] = {}
    for _ in range(50):
        value = {"n": value}
    started = time.process_time()
    assert check_value({"anyOf": [choice, choice]}, value) == [
        ("", "takes more work to check than is allowed")
    ]
    assert time.process_time() - started < 10


def test_a_deep_value_is_refused() -> None:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    assert check_value({}, value) == [("", "lies deeper than 64 levels")]


def test_nothing_is_fetched() -> None:
    problem = [("", "cannot be checked, since its schema cannot be followed")]
    assert check_value({"$ref": "http://127.0.0.1:9/x"}, {}) == problem


keywords = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "required",
        "enum",
        "const",
        "default",
        "examples",
        "pattern",
        "$ref",
        "allOf",
        "anyOf",
        "not",
        "minimum",
        "maximum",
        "$schema",
        "additionalProperties",
        "patternProperties",
        "uniqueItems",
        "exclusiveMinimum",
    ]
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from(
        [
            "object",
            "string",
            "#",
            "#/properties",
            "(a+)+",
            "a*",
            DRAFT_4,
            "http://json-schema.org/draft-07/schema#",
        ]
    ),
)
anything = st.recursive(
    leaves, lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(keywords, below, max_size=4))
)


@given(anything, anything)
def test_nothing_raises(schema: Any, value: Any) -> None:
    found = check_schema(schema, path="manifest.yaml", field="input_schema")
    assert all(one.code and one.path == "manifest.yaml" for one in found)
    if isinstance(schema, dict) and not any(one[0] == "error" for one in check(schema)):
        assert all(problem and pointer[:1] in {"", "/"} for pointer, problem in check_value(schema, value))
    assert all(isinstance(name, str) for name in extra_fields(schema, value))
