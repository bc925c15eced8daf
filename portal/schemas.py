"""A JSON Schema as rows of a table: what a caller must and may give. Pure, and total on any schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DEEPEST = 4
MOST_FIELDS = 200
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Field:
    """One property; `path` is dotted, `rules` are its bounds in words."""

    path: str
    depth: int
    type: str
    required: bool
    description: str
    default: str
    choices: tuple[str, ...]
    rules: tuple[str, ...]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]


# The bounds that come in pairs, and what they count.
_PAIRS = (
    ("minimum", "maximum", "{}"),
    ("minLength", "maxLength", "{} characters"),
    ("minItems", "maxItems", "{} items"),
    ("minProperties", "maxProperties", "{} properties"),
)


def describe_schema(schema: object) -> list[Field]:
    """The properties of an object schema, depth first; at most 200, four levels deep."""
    fields: list[Field] = []
    _walk(schema, "", 0, fields)
    return fields


def _walk(schema: object, prefix: str, depth: int, fields: list[Field]) -> None:
    if not isinstance(schema, Mapping) or depth >= DEEPEST:
        return
    properties = schema.get("properties")
    required = schema.get("required")
    names = set(map(str, required)) if isinstance(required, list) else set()
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        if len(fields) >= MOST_FIELDS:
            return
        path = f"{prefix}{name}"
        part = part if isinstance(part, Mapping) else {}
        fields.append(_field(path, depth, part, str(name) in names))
        _walk(part, f"{path}.", depth + 1, fields)
        _walk(part.get("items"), f"{path}[].", depth + 1, fields)


def _field(path: str, depth: int, part: Mapping[str, Any], required: bool) -> Field:
    choices = part.get("enum")
    return Field(
        path=path,
        depth=depth,
        type=_type(part),
        required=required,
        description=_text(part.get("description") or part.get("title") or ""),
        default=_json(part["default"]) if "default" in part else "",
        choices=tuple(_json(value) for value in choices[:30]) if isinstance(choices, list) else (),
        rules=_rules(part),
    )


def _rules(part: Mapping[str, Any]) -> tuple[str, ...]:
    """The bounds of a property in words: 1 to 20, at least 2 characters."""
    told = [
        words.format(_range(part.get(least), part.get(most)))
        for least, most, words in _PAIRS
        if least in part or most in part
    ]
    told += [f"above {_json(part['exclusiveMinimum'])}"] if "exclusiveMinimum" in part else []
    told += [f"below {_json(part['exclusiveMaximum'])}"] if "exclusiveMaximum" in part else []
    if part.get("uniqueItems") is True:
        told.append("no item twice")
    if "multipleOf" in part:
        told.append(f"a multiple of {_json(part['multipleOf'])}")
    return (*told, *(f"{key} {_json(part[key])}" for key in ("pattern", "format") if key in part))


def _range(least: object, most: object) -> str:
    if least is None:
        return f"at most {_json(most)}"
    return f"at least {_json(least)}" if most is None else f"{_json(least)} to {_json(most)}"


def _type(part: Mapping[str, Any]) -> str:
    told = part.get("type")
    if isinstance(told, list):
        return " | ".join(map(_text, told))
    if told == "array" and isinstance(part.get("items"), Mapping):
        return f"array of {_type(part['items'])}"
    if told is None:
        return next((key for key in ("$ref", "oneOf", "anyOf", "allOf", "const") if key in part), "any")
    return _text(told)


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _text(value: object) -> str:
    text = str(value)
    return text if len(text) <= 2 * LONGEST else f"{text[: 2 * LONGEST]}…"
