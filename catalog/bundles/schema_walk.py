"""Finds one's way in a JSON Schema: the schemas within it, and what a reference names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from catalog.bundles.typed_yaml import Place

_ONE = (
    *("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"),
    *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
)
_LISTS = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_NAMED = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")


def subschemas(schema: dict[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Every schema within a schema, itself first, with its place; values that look like one are none."""
    waiting: list[tuple[Place, Any]] = [((), schema)]
    while waiting:
        place, part = waiting.pop()
        if not isinstance(part, dict):
            continue
        yield place, part
        waiting += reversed(list(_below(place, part)))


def _below(place: Place, part: dict[str, Any]) -> Iterator[tuple[Place, Any]]:
    for keyword, value in part.items():
        if keyword in _ONE and isinstance(value, dict):
            yield (*place, keyword), value
        elif keyword in _LISTS and isinstance(value, list):
            yield from (((*place, keyword, index), one) for index, one in enumerate(value))
        elif keyword in _NAMED and isinstance(value, dict):
            yield from (((*place, keyword, name), one) for name, one in value.items())


def resolve(schema: dict[str, Any], reference: str) -> Any:
    """What a reference within the schema names (`#`, `#/a/pointer`, `#anchor`), or None."""
    fragment = unquote(reference.removeprefix("#"))
    if not fragment:
        return schema
    if not fragment.startswith("/"):
        anchors = ("$anchor", "$dynamicAnchor")
        return next((p for _, p in subschemas(schema) if any(p.get(a) == fragment for a in anchors)), None)
    part: Any = schema
    for name in fragment[1:].split("/"):
        name = name.replace("~1", "/").replace("~0", "~")
        if isinstance(part, dict) and name in part:
            part = part[name]
        elif isinstance(part, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(part):
            part = part[int(name[:9])]
        else:
            return None
    return part if isinstance(part, dict | bool) else None
