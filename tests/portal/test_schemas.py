from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.schemas import DEEPEST, LONGEST, MOST_FIELDS, describe_schema

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["properties", "type", "items", "enum", "required", "a"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


def test_tells_what_a_caller_must_and_may_give() -> None:
    fields = describe_schema(
        {
            "type": "object",
            "required": ["id"],
            "properties": {
                "id": {"type": "string", "description": "Number", "pattern": "^[0-9]+$"},
                "lines": {
                    "type": "array",
                    "items": {"type": "object", "properties": {"sku": {"type": ["string", "null"]}}},
                },
                "currency": {"enum": ["EUR", "USD"], "default": "EUR"},
            },
        }
    )
    assert [(f.path, f.type, f.required, f.depth) for f in fields] == [
        ("id", "string", True, 0),
        ("lines", "array of object", False, 0),
        ("lines[].sku", "string | null", False, 1),
        ("currency", "any", False, 0),
    ]
    assert fields[0].rules == ('pattern "^[0-9]+$"',)
    assert (fields[3].choices, fields[3].default) == (('"EUR"', '"USD"'), '"EUR"')


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ({"minimum": 1, "maximum": 20}, ("1 to 20",)),
        ({"minLength": 2, "maxLength": 120}, ("2 to 120 characters",)),
        ({"minItems": 1, "uniqueItems": True}, ("at least 1 items", "no item twice")),
        ({"maximum": 0.5, "exclusiveMinimum": 0}, ("at most 0.5", "above 0")),
        ({"multipleOf": 5, "format": "date"}, ("a multiple of 5", 'format "date"')),
    ],
)
def test_bounds_are_told_in_words(bounds: dict[str, object], told: tuple[str, ...]) -> None:
    [field] = describe_schema({"properties": {"n": bounds}})
    assert field.rules == told


@pytest.mark.parametrize("schema", [None, True, [], "x", {}, {"properties": []}, {"properties": {"a": True}}])
def test_anything_else_is_no_fault(schema: object) -> None:
    assert len(describe_schema(schema)) <= 1


def test_is_bounded() -> None:
    deep: dict[str, object] = {}
    for _ in range(20):
        deep = {"properties": {"a": deep}}
    assert len(describe_schema(deep)) == DEEPEST
    assert len(describe_schema({"properties": {str(n): {} for n in range(1000)}})) == MOST_FIELDS


@given(JSON)
def test_any_schema_is_described_within_bounds(schema: object) -> None:
    fields = describe_schema(schema)
    properties = schema.get("properties") if isinstance(schema, dict) else None
    named = list(properties) if isinstance(properties, dict) else []
    # The top level is told in its order, and what is below follows what it belongs to.
    assert [field.path for field in fields if field.depth == 0] == named
    for above, field in zip([None, *fields], fields, strict=False):
        assert 0 <= field.depth < DEEPEST
        assert field.depth <= (above.depth + 1 if above else 0)
        assert all(len(text) <= LONGEST + 1 for text in (field.default, *field.choices))
        assert all(isinstance(text, str) for text in (field.type, field.description, *field.rules))
