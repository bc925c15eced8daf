"""Semver honesty: each row of the table of changes, for inputs and outputs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bundles.schemas import check_value
from catalog.honesty import Declared, changes, check_honesty, least_bump
from catalog.schema_changes import Change

STRING: dict[str, Any] = {"type": "string"}


def of(**schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}}


# Before, after, least bump as an input, least bump as an output.
ROWS: list[tuple[Any, Any, str, str]] = [
    (None, {}, "minor", "minor"),
    ({}, None, "major", "major"),
    (of(), of(), "patch", "patch"),
    ({"properties": {}}, {"properties": {"a": {}}}, "minor", "minor"),
    ({"properties": {}}, {"properties": {"a": {}}, "required": ["a"]}, "major", "minor"),
    ({"properties": {"a": {}}}, {"properties": {}}, "major", "major"),
    ({"properties": {"a": {}}}, {"properties": {"a": {}}, "required": ["a"]}, "major", "minor"),
    ({"properties": {"a": {}}, "required": ["a"]}, {"properties": {"a": {}}}, "minor", "major"),
    (of(type=["string", "null"]), of(type="string"), "major", "minor"),
    (of(type="string"), of(type=["string", "null"]), "minor", "major"),
    (of(type="integer"), of(type="number"), "minor", "major"),
    (of(type="number"), of(type="integer"), "major", "minor"),
    (of(), of(type="string"), "major", "minor"),
    (of(type="string"), of(type="integer"), "major", "major"),
    (of(enum=["a", "b"]), of(enum=["a"]), "major", "minor"),
    (of(enum=["a"]), of(enum=["a", "b"]), "minor", "major"),
    (of(enum=["a"]), of(enum=["b"]), "major", "major"),
    (of(), of(enum=["a"]), "major", "minor"),
    (of(enum=["a"]), of(), "minor", "major"),
    (of(maximum=5), of(maximum=4), "major", "minor"),
    (of(maximum=5), of(maximum=6), "minor", "major"),
    (of(minLength=1), of(minLength=2), "major", "minor"),
    (of(minLength=1), of(), "minor", "major"),
    (of(), of(maxItems=3), "major", "minor"),
    (of(), of(pattern="^a$"), "major", "minor"),
    (of(pattern="^a$"), of(), "minor", "major"),
    (of(pattern="^a$"), of(pattern="^b$"), "major", "major"),
    (of(format="date"), of(format="time"), "major", "major"),
    (of(), of(uniqueItems=True), "major", "minor"),
    ({}, {"additionalProperties": False}, "major", "minor"),
    ({"additionalProperties": False}, {}, "minor", "major"),
    ({}, {"additionalProperties": STRING}, "major", "minor"),
    (of(default=1), of(default=2), "minor", "minor"),
    (of(description="a", title="b", examples=[1]), of(description="c"), "patch", "patch"),
    (of(items={"enum": ["a", "b"]}), of(items={"enum": ["a"]}), "major", "minor"),
    (of(properties={"b": STRING}), of(properties={}), "major", "major"),
    (of(allOf=[STRING]), of(allOf=[]), "major", "major"),
    (of(), {"type": "object", "properties": {"a": False}}, "major", "minor"),
    ({"properties": {"a": True}}, {"properties": {"a": {}}}, "patch", "patch"),
]


@pytest.mark.parametrize(("before", "after", "as_input", "as_output"), ROWS)
def test_a_change_of_a_schema_asks_for_its_bump(
    before: Any, after: Any, as_input: str, as_output: str
) -> None:
    assert least_bump(changes(Declared(before), Declared(after))) == as_input
    assert least_bump(changes(Declared(None, before), Declared(None, after))) == as_output


GRANTS = [
    (
        Declared(),
        Declared(permissions=("send",)),
        [Change("minor", "permissions", "asks for the permission send")],
    ),
    (
        Declared(permissions=("send",)),
        Declared(permissions=()),
        [Change("patch", "permissions", "no longer asks for the permission send")],
    ),
    (
        Declared(allowed_tools=("Read",)),
        Declared(allowed_tools=("Read", "Bash")),
        [Change("minor", "allowed-tools", "asks for the tool Bash")],
    ),
    (
        Declared(allowed_tools=("Read",)),
        Declared(),
        [Change("minor", "allowed-tools", "asks for every tool of its agent")],
    ),
    (Declared(), Declared(allowed_tools=("Read",)), [Change("patch", "allowed-tools", "narrows the tools")]),
]


@pytest.mark.parametrize(("before", "after", "expected"), GRANTS)
def test_permissions_and_tools_are_compared(
    before: Declared, after: Declared, expected: list[Change]
) -> None:
    assert list(changes(before, after)) == expected


def test_an_incompatible_change_needs_a_major_version() -> None:
    before, after = Declared(of(type="string")), Declared(of(type="integer"))
    (finding,) = check_honesty("1.3.0", "1.2.5", before, after)
    assert (finding.code, finding.severity) == ("semver-dishonest", "error")
    assert finding.message == "1.3.0 breaks callers of 1.2.5: input_schema.a is integer instead of string."
    assert finding.hint == "Publish it as 2.0.0, or take the change back."
    assert check_honesty("2.0.0", "1.2.5", before, after) == ()
    assert check_honesty("2.0.0-rc.1", "1.2.5", before, after) == ()
    assert check_honesty("1.2.4", "1.2.5", before, after) == ()


def test_a_gained_permission_is_shown_even_with_a_major_version() -> None:
    before, after = Declared(permissions=("network",)), Declared(permissions=("network", "send"))
    for version in ("1.0.1", "2.0.0"):
        (finding,) = check_honesty(version, "1.0.0", before, after)
        assert (finding.code, finding.severity) == ("permission-gained", "warning")
        assert finding.message == f"{version} asks for the permission send, which 1.0.0 did not."


def test_many_breaks_are_told_in_short() -> None:
    before = Declared({"properties": {f"p{n}": {} for n in range(9)}})
    (finding,) = check_honesty("1.0.1", "1.0.0", before, Declared({"properties": {}}))
    assert finding.message.endswith("input_schema.p4 is gone; and 4 more.")


schemas: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.booleans(), st.just({})),
    lambda below: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "number", ["string", "null"]]),
            "enum": st.lists(st.integers(0, 3), max_size=3),
            "minimum": st.integers(0, 3),
            "properties": st.dictionaries(st.sampled_from("ab"), below, max_size=2),
            "required": st.lists(st.sampled_from("ab"), max_size=2),
            "items": below,
            "additionalProperties": below,
            "pattern": st.sampled_from(["a", "b"]),
        },
    ),
)
roots = schemas.filter(lambda schema: isinstance(schema, dict))


@given(roots, roots)
def test_nothing_raises_and_nothing_changed_is_a_patch(before: Any, after: Any) -> None:
    found = changes(Declared(before, before), Declared(after, after))
    # The worst change stands first and is the one that counts.
    assert least_bump(found) == (found[0].part if found else "patch")
    assert all(change.what and change.where.split("_schema")[0] in {"input", "output"} for change in found)
    assert changes(Declared(before, before), Declared(before, before)) == ()


values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.integers(0, 4), st.sampled_from(["a", "b", "c"])),
    lambda below: st.one_of(
        st.lists(below, max_size=2), st.dictionaries(st.sampled_from("abc"), below, max_size=3)
    ),
)


@settings(max_examples=300)
@given(roots, roots, values)
def test_an_input_that_was_taken_is_taken_after_a_minor_change(before: Any, after: Any, value: Any) -> None:
    found = changes(Declared(before), Declared(after))
    # A field that only now has a name was taken unseen; giving it a type is no break (see the table).
    named = any(change.what == "is new" for change in found)
    if least_bump(found) != "major" and not named and not check_value(before, value):
        assert check_value(after, value) == []
