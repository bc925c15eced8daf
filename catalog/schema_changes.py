"""What changed between two schemas of a skill, and the part of the version that each change calls for (spec 2.5).

An input may not refuse what it took; an output may not answer what it did not. Everything else
follows:

| change | input | output |
|---|---|---|
| a schema is added | minor | minor |
| a schema is removed | major | major |
| a field is added, optional | minor | minor |
| a field is added, required | major | minor |
| a field is added where unknown ones had a schema | as that schema and its own compare | the same |
| a field is removed | major | major |
| an optional field becomes required | major | minor |
| a required field becomes optional | minor | major |
| fewer types or values of enum, tighter bounds, a new pattern, format or const | major | minor |
| more types or values of enum, looser bounds, a pattern, format or const taken away | minor | major |
| a type, pattern, format or const replaced by another | major | major |
| multipleOf replaced by a divisor of it, or by a multiple | minor, major | major, minor |
| unknown fields refused from now on | major | minor |
| unknown fields let through from now on | minor | major |
| a default changed | minor | minor |
| title, description, examples, comments | patch | patch |
| any other keyword changed (allOf, $ref, if …) | major | major |

Two changes of one field count as the greater.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from catalog import semver

Side = Literal["input", "output"]

MAX_DEPTH = 40

_Schema = Mapping[str, Any]
_TIGHTER_WHEN_HIGHER = (
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
    "minContains",
)
_TIGHTER_WHEN_LOWER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_TIGHTER_WHEN_THERE = ("pattern", "format", "const", "multipleOf")
_SAYS_NOTHING = frozenset(
    {"title", "description", "examples", "$comment", "$schema", "$id", "deprecated", "readOnly", "writeOnly"}
)
_COMPARED = frozenset(
    {"type", "enum", "properties", "required", "items", "additionalProperties", "uniqueItems", "default"}
    | {*_TIGHTER_WHEN_HIGHER, *_TIGHTER_WHEN_LOWER, *_TIGHTER_WHEN_THERE}
)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference, in words, and the least part of a version that has to be raised for it."""

    part: semver.Part
    where: str
    what: str


def compare_schemas(where: str, before: Any, after: Any, side: Side) -> Iterator[Change]:
    """What differs between two schemas of one side, None where there is none; never raises on valid ones."""
    if before is None and after is not None:
        yield Change("minor", where, "is new")
    elif before is not None and after is None:
        yield Change("major", where, "is gone")
    else:
        yield from _compare(where, before, after, side, 0)


def _compare(where: str, before: Any, after: Any, side: Side, depth: int) -> Iterator[Change]:
    """The differences of two schemas of one place."""
    if _same(before, after):
        return
    if not isinstance(before, dict) or not isinstance(after, dict) or depth > MAX_DEPTH:
        yield from _whole(where, before, after, side)
        return
    yield from _types(where, before, after, side)
    yield from _values(where, before, after, side)
    yield from _bounds(where, before, after, side)
    yield from _fields(where, before, after, side, depth)
    yield from _unknown_fields(where, before, after, side, depth)
    yield from _compare(f"{where}[]", before.get("items", True), after.get("items", True), side, depth + 1)
    if not _same(before.get("default"), after.get("default")):
        yield Change("minor", where, "has another default")
    for keyword in sorted((before.keys() | after.keys()) - _COMPARED - _SAYS_NOTHING):
        if not _same(before.get(keyword), after.get(keyword)):
            yield Change("major", where, f"has another {keyword}, which cannot be told from a break")


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON: 1 is 1.0, but neither is true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _not_in(values: list[Any], others: list[Any]) -> list[Any]:
    """Those of the values that are not among the others, in time that grows with both and not with their product."""
    known = set(map(_key, others))
    return [value for value in values if _key(value) not in known]


def _key(value: Any) -> Any:
    """Something hashable that two values have in common where they are equal as JSON, by `_same`."""
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, dict):
        return dict, frozenset((name, _key(item)) for name, item in value.items())
    return (list, *map(_key, value)) if isinstance(value, list) else value


def _whole(where: str, before: Any, after: Any, side: Side) -> Iterator[Change]:
    """Where one of the two is no mapping: `true` and `{}` take everything, `false` nothing."""
    if (before is True and after == {}) or (before == {} and after is True):
        return
    if before in (True, {}) or after is False:
        yield _tighter(side, where, "takes less than everything" if after is not False else "takes nothing")
    elif after in (True, {}) or before is False:
        yield _looser(side, where, "takes more than before")
    else:
        yield Change("major", where, "cannot be compared")


def _tighter(side: Side, where: str, what: str) -> Change:
    return Change("major" if side == "input" else "minor", where, what)


def _looser(side: Side, where: str, what: str) -> Change:
    return Change("minor" if side == "input" else "major", where, what)


def _types(where: str, before: _Schema, after: _Schema, side: Side) -> Iterator[Change]:
    old, new = _type_set(before), _type_set(after)
    if old == new:
        return
    if old is None or (new is not None and new < old):
        yield _tighter(side, where, f"takes only {_or(new or set())}")
    elif new is None or old < new:
        yield _looser(side, where, f"takes more types than {_or(old)}")
    else:
        yield Change("major", where, f"is {_or(new)} instead of {_or(old)}")


def _type_set(schema: _Schema) -> set[str] | None:
    named = schema.get("type")
    if named is None:
        return None
    types = set(named if isinstance(named, list) else [named])
    return types | {"integer"} if "number" in types else types


def _or(types: set[str]) -> str:
    return " or ".join(sorted(types - {"integer"} if "number" in types else types))


def _values(where: str, before: _Schema, after: _Schema, side: Side) -> Iterator[Change]:
    """The values of enum, compared by their JSON kind: 1 is not true."""
    old, new = before.get("enum"), after.get("enum")
    if _same(old, new):
        return
    if old is None or new is None:
        yield (_tighter if old is None else _looser)(side, where, "takes other values than before")
        return
    gone, added = _not_in(old, new), _not_in(new, old)
    if gone:
        yield _tighter(side, where, f"does not take {_listed(gone)} any more")
    if added:
        yield _looser(side, where, f"takes {_listed(added)} too")


def _listed(values: list[Any]) -> str:
    return ", ".join(str(value)[:30] for value in values[:3]) + (" …" if len(values) > 3 else "")


def _bounds(where: str, before: _Schema, after: _Schema, side: Side) -> Iterator[Change]:
    for keyword in (*_TIGHTER_WHEN_HIGHER, *_TIGHTER_WHEN_LOWER):
        old, new = _bound(before, keyword), _bound(after, keyword)
        if old != new:
            rises = old is None or (new is not None and (new > old) is (keyword in _TIGHTER_WHEN_HIGHER))
            what = (
                f"has {keyword} {new} instead of {old}"
                if None not in (old, new)
                else f"has another {keyword}"
            )
            yield (_tighter if rises else _looser)(side, where, what)
    for keyword in _TIGHTER_WHEN_THERE:
        if _same(before.get(keyword), after.get(keyword)) and (keyword in before) is (keyword in after):
            continue
        if keyword not in before or keyword not in after:
            yield (_looser if keyword in before else _tighter)(side, where, f"has another {keyword}")
        elif keyword == "multipleOf" and _divides(after[keyword], before[keyword]):
            yield _looser(side, where, "has a finer multipleOf")
        elif keyword == "multipleOf" and _divides(before[keyword], after[keyword]):
            yield _tighter(side, where, "has a coarser multipleOf")
        else:
            yield Change("major", where, f"has another {keyword}")
    if bool(before.get("uniqueItems")) != bool(after.get("uniqueItems")):
        change = _tighter if after.get("uniqueItems") else _looser
        yield change(side, where, "has another uniqueItems")


def _bound(schema: _Schema, keyword: str) -> Any:
    """The bound, or None where there is none; at least none at all is no bound."""
    value = schema.get(keyword)
    return None if keyword in ("minLength", "minItems", "minProperties") and value == 0 else value


def _divides(one: Any, other: Any) -> bool:
    """Whether every multiple of the other is one of this; of fractions nothing is known for sure."""
    return isinstance(one, int) and isinstance(other, int) and one > 0 and other % one == 0


def _fields(where: str, before: _Schema, after: _Schema, side: Side, depth: int) -> Iterator[Change]:
    old, new = before.get("properties", {}), after.get("properties", {})
    was, now = set(before.get("required", [])), set(after.get("required", []))
    for name in sorted(old.keys() - new.keys()):
        yield Change("major", f"{where}.{name}", "is gone")
    others = before.get("additionalProperties")
    for name in sorted(new.keys() - old.keys()):
        if isinstance(others, dict) and others:
            # The field had a schema before it had a name.
            yield from _compare(f"{where}.{name}", others, new[name], side, depth + 1)
        if name in now and name not in was:
            yield _tighter(side, f"{where}.{name}", "is new and required")
        else:
            yield Change("minor", f"{where}.{name}", "is new")
    for name in sorted((was ^ now) - (new.keys() - old.keys()) - (old.keys() - new.keys())):
        if name in now:
            yield _tighter(side, f"{where}.{name}", "is required now")
        else:
            yield _looser(side, f"{where}.{name}", "is no longer required")
    for name in sorted(old.keys() & new.keys()):
        yield from _compare(f"{where}.{name}", old[name], new[name], side, depth + 1)


def _unknown_fields(where: str, before: _Schema, after: _Schema, side: Side, depth: int) -> Iterator[Change]:
    old, new = before.get("additionalProperties", True), after.get("additionalProperties", True)
    if old == new:
        return
    if new is False:
        yield _tighter(side, where, "refuses fields that it does not name")
    elif old is False:
        yield _looser(side, where, "lets fields through that it does not name")
    else:
        yield from _compare(f"{where}.*", old, new, side, depth + 1)
