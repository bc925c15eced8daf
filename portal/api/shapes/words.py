"""Words to write a JSON Schema (2020-12, as OpenAPI 3.1 has it) with."""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]

TEXT: Shape = {"type": "string"}
INTEGER: Shape = {"type": "integer"}
NUMBER: Shape = {"type": "number"}
BOOLEAN: Shape = {"type": "boolean"}
MOMENT: Shape = {"type": "string", "format": "date-time"}
SHA256: Shape = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
TEXTS: Shape = {"type": "array", "items": TEXT}
# Whatever JSON can hold: an author's or an agent's own.
JSON: Shape = {}


def maybe(shape: Shape) -> Shape:
    """The shape, or null."""
    if "enum" in shape:
        return {**shape, "type": [shape["type"], "null"], "enum": [*shape["enum"], None]}
    return {**shape, "type": [shape["type"], "null"]}


def one_of(*texts: str) -> Shape:
    """One of these texts."""
    return {"type": "string", "enum": list(texts)}


def listed(shape: Shape) -> Shape:
    """A list of it."""
    return {"type": "array", "items": shape}


def record(**fields: Shape) -> Shape:
    """An object; all of its fields are always there."""
    return partly(tuple(fields), **fields)


def partly(needed: tuple[str, ...], /, **fields: Shape) -> Shape:
    """An object of which only the `needed` fields are always there."""
    return {"type": "object", "properties": fields, **({"required": list(needed)} if needed else {})}


def ref(name: str) -> Shape:
    """The shape of that name in `portal.api.shapes`."""
    return {"$ref": f"#/components/schemas/{name}"}
