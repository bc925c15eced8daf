"""Semver honesty: pairs of schemas with the bump each needs, and the promise behind them as a property.

The ids argue: what a caller who sent, or read, a document by the first schema meets by the second.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from catalog.bundles.schemas import check_value
from catalog.honesty import Declared, changes, least_bump
from catalog.schema_changes import _key, _same

STRING: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}


def field(**schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


def fields(*names: str, required: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    properties = dict.fromkeys(names, STRING)
    return {"type": "object", "properties": properties, "required": list(required), **more}


# Why, before, after, least bump as an input, least bump as an output.
PAIRS: list[tuple[str, Any, Any, str, str]] = [
    ("nothing changed", fields("a"), fields("a"), "patch", "patch"),
    ("a title takes nothing away", field(**STRING), field(**STRING, title="A"), "patch", "patch"),
    ("a description takes nothing away", field(), field(description="Day."), "patch", "patch"),
    ("examples are no rules", field(examples=[1]), field(examples=["x"]), "patch", "patch"),
    ("a comment is no rule", field(), {**field(), "$comment": "x"}, "patch", "patch"),
    ("deprecated fields still work", field(), field(deprecated=True), "patch", "patch"),
    ("readOnly is a remark", field(), field(readOnly=True), "patch", "patch"),
    ("true and {} take the same", {"properties": {"a": True}}, {"properties": {"a": {}}}, "patch", "patch"),
    ("fields in another order", fields("a", "b"), fields("b", "a"), "patch", "patch"),
    ("required in another order", fields("a", "b", required=("a", "b")), fields("a", "b", required=("b", "a")), "patch", "patch"),
    ("types in another order", field(type=["string", "null"]), field(type=["null", "string"]), "patch", "patch"),
    ("one type in a list is that type", field(type="string"), field(type=["string"]), "patch", "patch"),
    ("no required is an empty one", {"type": "object"}, {"type": "object", "required": []}, "patch", "patch"),
    ("unknown fields were let through anyway", {}, {"additionalProperties": True}, "patch", "patch"),
    ("unknown fields may be anything anyway", {}, {"additionalProperties": {}}, "patch", "patch"),
    ("items were anything anyway", field(type="array"), field(type="array", items={}), "patch", "patch"),
    ("doubles were let through anyway", field(), field(uniqueItems=False), "patch", "patch"),
    ("at least no characters is no bound", field(**STRING), field(**STRING, minLength=0), "patch", "patch"),
    ("at least no items is no bound", field(minItems=0), field(), "patch", "patch"),
    ("at least no fields is no bound", {}, {"minProperties": 0}, "patch", "patch"),
    ("1 and 1.0 are one number", field(const=1), field(const=1.0), "patch", "patch"),
    ("values in another order", field(enum=["a", "b"]), field(enum=["b", "a"]), "patch", "patch"),
    ("an optional field may be left out", fields("a"), fields("a", "b"), "minor", "minor"),
    ("a required field was not sent before", fields("a"), fields("a", "b", required=("b",)), "major", "minor"),
    ("a field that is gone was sent or read", fields("a", "b"), fields("a"), "major", "major"),
    ("a renamed field is one gone", fields("a"), fields("b"), "major", "major"),
    ("a field once optional was left out", fields("a"), fields("a", required=("a",)), "major", "minor"),
    ("a reader relied on a required field", fields("a", required=("a",)), fields("a"), "minor", "major"),
    ("required without a schema still must be sent", {}, {"required": ["x"]}, "major", "minor"),
    ("null was sent", field(type=["string", "null"]), field(**STRING), "major", "minor"),
    ("null was never read", field(**STRING), field(type=["string", "null"]), "minor", "major"),
    ("every integer is a number", field(**INTEGER), field(type="number"), "minor", "major"),
    ("1.5 was sent", field(type="number"), field(**INTEGER), "major", "minor"),
    ("a number or text beside text", field(**STRING), field(type=["string", "number"]), "minor", "major"),
    ("text instead of a number", field(**INTEGER), field(**STRING), "major", "major"),
    ("a list instead of one", field(**STRING), field(type="array", items=STRING), "major", "major"),
    ("anything was sent", field(), field(**STRING), "major", "minor"),
    ("only text was read", field(**STRING), field(), "minor", "major"),
    ("a value was sent", field(enum=["a", "b"]), field(enum=["a"]), "major", "minor"),
    ("a value was never read", field(enum=["a"]), field(enum=["a", "b"]), "minor", "major"),
    ("one value for another", field(enum=["a"]), field(enum=["b"]), "major", "major"),
    ("one value of many as a constant", field(enum=["a", "b"]), field(const="a"), "major", "major"),
    ("a constant was never read", field(const="a"), field(), "minor", "major"),
    ("another constant", field(const="a"), field(const="b"), "major", "major"),
    ("1 is not true", field(const=1), field(const=True), "major", "major"),
    ("0 among values is not false", field(enum=[0]), field(enum=[False]), "major", "major"),
    ("a constant null is a rule", field(), field(const=None), "major", "minor"),
    ("4 was sent", field(maximum=5), field(maximum=3), "major", "minor"),
    ("6 was never read", field(maximum=5), field(maximum=6), "minor", "major"),
    ("0 was sent", field(minimum=0), field(minimum=1), "major", "minor"),
    ("no lower bound any more", field(minimum=0), field(), "minor", "major"),
    ("the bound itself was sent", field(maximum=5), field(maximum=5, exclusiveMaximum=5), "major", "minor"),
    ("long text was sent", field(**STRING), field(**STRING, maxLength=9), "major", "minor"),
    ("empty text was sent", field(**STRING), field(**STRING, minLength=1), "major", "minor"),
    ("longer text was never read", field(maxLength=9), field(maxLength=99), "minor", "major"),
    ("a list of four was sent", field(maxItems=5), field(maxItems=3), "major", "minor"),
    ("doubles were sent", field(type="array"), field(type="array", uniqueItems=True), "major", "minor"),
    ("many fields were sent", {}, {"maxProperties": 3}, "major", "minor"),
    ("3 was sent", field(**INTEGER), field(**INTEGER, multipleOf=2), "major", "minor"),
    ("every multiple of 4 is one of 2", field(multipleOf=4), field(multipleOf=2), "minor", "major"),
    ("2 was sent", field(multipleOf=2), field(multipleOf=4), "major", "minor"),
    ("neither 2 nor 3 divides the other", field(multipleOf=2), field(multipleOf=3), "major", "major"),
    ("text of another form was sent", field(**STRING), field(**STRING, pattern="^a"), "major", "minor"),
    ("text of any form", field(pattern="^a"), field(), "minor", "major"),
    ("which of two patterns is wider is not known", field(pattern="^a"), field(pattern="^[ab]"), "major", "major"),
    ("a date is no time", field(format="date"), field(format="time"), "major", "major"),
    ("any text was sent", field(**STRING), field(**STRING, format="date"), "major", "minor"),
    ("unknown fields were sent", fields("a"), fields("a", additionalProperties=False), "major", "minor"),
    ("unknown fields were never read", fields("a", additionalProperties=False), fields("a"), "minor", "major"),
    ("unknown fields of any kind were sent", {}, {"additionalProperties": STRING}, "major", "minor"),
    ("unknown fields of more kinds", {"additionalProperties": INTEGER}, {"additionalProperties": {"type": "number"}}, "minor", "major"),
    ("a closed form gains an optional field", fields("a", additionalProperties=False), fields("a", "b", additionalProperties=False), "minor", "minor"),
    ("the named field was an integer unnamed", fields(additionalProperties=INTEGER), fields("b", additionalProperties=INTEGER), "major", "major"),
    ("the named field was text unnamed", fields(additionalProperties=STRING), fields("b", additionalProperties=STRING), "minor", "minor"),
    ("items of another kind were sent", field(items={}), field(items=STRING), "major", "minor"),
    ("items with more values", field(items={"enum": ["a"]}), field(items={"enum": ["a", "b"]}), "minor", "major"),
    ("a list that must be empty", field(type="array"), field(type="array", items=False), "major", "minor"),
    ("a field within a field is gone", field(properties={"b": STRING}), field(properties={}), "major", "major"),
    ("a field within a field is new", field(properties={}), field(properties={"b": STRING}), "minor", "minor"),
    ("a field that nothing fits", field(), {"type": "object", "properties": {"a": False}}, "major", "minor"),
    ("callers who left it out get another value", field(default=1), field(default=2), "minor", "minor"),
    ("callers who left it out get a value", field(), field(default=None), "patch", "patch"),
    ("an alternative is not followed", field(anyOf=[STRING]), field(anyOf=[STRING, INTEGER]), "major", "major"),
    ("a condition is not followed", {}, {"if": {}, "then": {"required": ["a"]}}, "major", "major"),
    ("a reference is not followed", {"$defs": {"x": STRING}}, {"$defs": {"x": INTEGER}}, "major", "major"),
    ("dependent fields are not followed", {}, {"dependentRequired": {"a": ["b"]}}, "major", "major"),
    ("looser here and tighter there", fields("a", required=("a",)), {**fields("a"), "maxProperties": 1}, "major", "major"),
    ("a first schema binds nobody yet", None, fields("a", required=("a",)), "minor", "minor"),
    ("a promise taken back", fields("a"), None, "major", "major"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("why", "before", "after", "as_input", "as_output"), PAIRS, ids=[row[0] for row in PAIRS]
)
def test_a_pair_needs_its_bump(why: str, before: Any, after: Any, as_input: str, as_output: str) -> None:
    assert least_bump(changes(Declared(before), Declared(after))) == as_input
    assert least_bump(changes(Declared(None, before), Declared(None, after))) == as_output


KEYWORDS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(
        ["string", "integer", "number", "array", ["string", "null"], ["integer", "array"]]
    ),
    "enum": st.lists(st.sampled_from([0, 1, True, "a", "bb", None]), min_size=1, max_size=3),
    "const": st.sampled_from([0, 1, True, False, "a"]),
    "minimum": st.integers(0, 3),
    "exclusiveMaximum": st.integers(1, 4),
    "multipleOf": st.sampled_from([1, 2, 4, 3]),
    "minLength": st.integers(0, 2),
    "maxLength": st.integers(0, 2),
    "minItems": st.integers(0, 2),
    "uniqueItems": st.booleans(),
    "pattern": st.sampled_from(["^a", "b$"]),
}
LEAVES = st.fixed_dictionaries({}, optional=KEYWORDS)
NESTED = LEAVES.flatmap(
    lambda leaf: st.one_of(st.just(leaf), LEAVES.map(lambda items: {**leaf, "items": items}))
)
OBJECTS = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from("ab"), NESTED, max_size=2)},
    optional={
        "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
        "additionalProperties": st.one_of(st.booleans(), LEAVES),
        "minProperties": st.integers(0, 2),
        "maxProperties": st.integers(0, 3),
    },
)
SCALARS = st.sampled_from([None, True, False, 0, 1, 2, 3, 4, 1.5, "", "a", "b", "bb", "ab"])
DOCUMENTS = st.dictionaries(
    st.sampled_from("abc"), st.one_of(SCALARS, st.lists(SCALARS, max_size=3)), max_size=3
)


@st.composite
def edited(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema, and the same with a keyword or two drawn anew: near neighbours, as versions are."""
    before = draw(OBJECTS)
    after = {**before, "properties": dict(before["properties"])}
    for _ in range(draw(st.integers(1, 2))):
        other = draw(OBJECTS)
        key = draw(st.sampled_from(sorted(other)))
        if key == "properties" and after["properties"] and draw(st.booleans()):
            name = draw(st.sampled_from(sorted(after["properties"])))
            keyword = draw(st.sampled_from(sorted(KEYWORDS)))
            kept = {k: v for k, v in after["properties"][name].items() if k != keyword}
            added = {keyword: draw(KEYWORDS[keyword])} if draw(st.booleans()) else {}
            after["properties"][name] = {**kept, **added}
        elif draw(st.booleans()):
            after[key] = other[key]
        elif key not in ("type", "properties"):
            after.pop(key, None)
    return before, after


def names_an_unknown_field(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether a field gets a name that was let through unseen: no break, as the table says."""
    return before.get("additionalProperties", True) in (True, {}) and bool(
        after["properties"].keys() - before["properties"].keys()
    )


@settings(max_examples=500)
@given(edited(), st.lists(DOCUMENTS, min_size=1, max_size=8))
def test_a_document_that_was_valid_stays_valid_under_a_compatible_change(
    pair: tuple[dict[str, Any], dict[str, Any]], documents: list[dict[str, Any]]
) -> None:
    before, after = pair
    assume(not names_an_unknown_field(before, after))
    if least_bump(changes(Declared(before), Declared(after))) != "major":
        for document in documents:
            assert check_value(before, document) or not check_value(after, document)


@settings(max_examples=500)
@given(edited(), st.lists(DOCUMENTS, min_size=1, max_size=8))
def test_an_answer_under_a_compatible_change_is_one_that_was_promised(
    pair: tuple[dict[str, Any], dict[str, Any]], documents: list[dict[str, Any]]
) -> None:
    before, after = pair
    assume(before["properties"].keys() == after["properties"].keys())
    if least_bump(changes(Declared(None, before), Declared(None, after))) != "major":
        for document in documents:
            assert check_value(after, document) or not check_value(before, document)


of_json = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(0, 2),
        st.sampled_from([0.0, 1.0, 1.5]),
        st.sampled_from(["", "1"]),
    ),
    lambda below: st.one_of(
        st.lists(below, max_size=2), st.dictionaries(st.sampled_from("ab"), below, max_size=2)
    ),
)


@given(of_json, of_json)
def test_values_have_one_key_where_they_are_the_same(one: Any, other: Any) -> None:
    assert (_key(one) == _key(other)) is _same(one, other)


def test_thousands_of_values_are_compared() -> None:
    """Each with each took twenty seconds."""
    before, after = (field(enum=[f"{letter}{n}" for n in range(4_900)]) for letter in "ab")
    first, second = changes(Declared(before), Declared(after))
    assert (first.what, second.what) == (
        "does not take a0, a1, a2 … any more",
        "takes b0, b1, b2 … too",
    )
