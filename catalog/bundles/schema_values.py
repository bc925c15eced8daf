"""Holds a value against a JSON Schema with bounded work, and names what does not fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

from catalog.bundles import regexes
from catalog.bundles.typed_yaml import Place, pointer

MAX_STEPS = 50_000
"""Keywords that may be evaluated on one value."""
MAX_VALUE_DEPTH = 64
MAX_PROBLEMS = 50

# Characters of a text that a pattern is tried on, by the exponent of its running time.
_PATTERN_CHARS = {0: 100_000, 1: 3_000, 2: 1_500, 3: 250}

_steps: ContextVar[int] = ContextVar("steps", default=MAX_STEPS)


class _TooMuch(Exception):
    """The value would take more work than is allowed."""


def check_value(schema: Any, value: Any) -> list[tuple[str, str]]:
    """What of a JSON value a schema refuses: a JSON pointer (RFC 6901) and what is wrong there.

    A field that the schema does not allow is named by itself. Empty where the value is valid; at
    most `MAX_PROBLEMS` entries. The schema is one that `check_schema` found without errors. Never
    raises, never repeats the value, and gives up with a problem at "" where the work has no bound.
    """
    return [(pointer(place), message) for place, message in problems(schema, value)]


def problems(schema: Any, value: Any, root: Any = None) -> list[tuple[Place, str]]:
    """As `check_value`, with places in the value; `root` is what references of `schema` are read in."""
    if _depth(value) > MAX_VALUE_DEPTH:
        return [((), f"lies deeper than {MAX_VALUE_DEPTH} levels")]
    token = _steps.set(MAX_STEPS)
    try:
        validator = _Validator(schema if root is None else root, registry=_NOTHING_ELSE)
        if root is not None:
            validator = validator.evolve(schema=schema)
        found: list[tuple[Place, str]] = []
        for fault in validator.iter_errors(value):
            found += _told(fault)
            if len(found) >= MAX_PROBLEMS:
                break
        return found[:MAX_PROBLEMS]
    except _TooMuch:
        return [((), "takes more work to check than is allowed")]
    except (Unresolvable, RecursionError, re.error, TypeError, ValueError, AttributeError, KeyError):
        # Only a schema with errors, or one of an old draft, comes here.
        return [((), "cannot be checked, since its schema cannot be followed")]
    finally:
        _steps.reset(token)


def extra_fields(schema: Any, value: Any) -> list[str]:
    """JSON pointers of fields that the schema's `properties` do not name, allowed or not.

    Only what `properties` and `items` say is followed; a caller who sees a wrong output reads from
    it what the skill answers beyond its schema.
    """
    found: list[str] = []
    waiting: list[tuple[Any, Any, Place]] = [(schema, value, ())]
    while waiting and len(found) < MAX_PROBLEMS:
        rules, part, place = waiting.pop()
        if not isinstance(rules, dict):
            continue
        if isinstance(part, dict) and isinstance(known := rules.get("properties"), dict):
            found += [pointer((*place, key)) for key in part if key not in known]
            waiting += [(known[key], part[key], (*place, key)) for key in part if key in known]
        elif isinstance(part, list):
            waiting += [(rules.get("items"), item, (*place, n)) for n, item in enumerate(part[:1000])]
    return found[:MAX_PROBLEMS]


# Neither the meta-schemas of the default registry nor any way to fetch.
_NOTHING_ELSE: Registry[Any] = Registry()

_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


def _counted(keyword: _Keyword) -> _Keyword:
    def check(validator: Any, rule: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        _spend(1 + (len(rule) // 16 if isinstance(rule, list | dict) else 0))
        yield from keyword(validator, rule, instance, schema) or ()

    return check


def _spend(steps: int) -> None:
    left = _steps.get() - steps
    if left < 0:
        raise _TooMuch
    _steps.set(left)


def _pattern(validator: Any, pattern: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield ValidationError("does not match", validator="pattern", validator_value=pattern)


def _matches(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text; a text too long to be tried does not match."""
    limit = _PATTERN_CHARS.get(regexes.degree(pattern), 0)
    _spend(len(text) // 1_000)
    return len(text) <= limit and re.search(pattern, text) is not None


def _pattern_properties(
    validator: Any, patterns: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    _spend(len(patterns) * len(instance))
    for pattern, below in patterns.items():
        for key, value in instance.items():
            if _matches(pattern, key):
                yield from validator.descend(value, below, path=key, schema_path=pattern)


def _additional(validator: Any, rule: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    _spend(len(patterns) * len(instance))
    for key, value in instance.items():
        if key in known or any(_matches(pattern, key) for pattern in patterns):
            continue
        if rule is False:
            yield ValidationError("extra", validator="additionalProperties", path=(key,))
        else:
            yield from validator.descend(value, rule, path=key)


def _unique(validator: Any, rule: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if rule and isinstance(instance, list):
        _spend(len(instance) // 4)
        if len({_frozen(item) for item in instance}) < len(instance):
            yield ValidationError("doubled", validator="uniqueItems")


def _frozen(value: Any) -> Any:
    """A hashable like of a JSON value; 1 and 1.0 are equal in JSON Schema, 1 and true are not."""
    if isinstance(value, dict):
        return "{}", frozenset((key, _frozen(item)) for key, item in value.items())
    if isinstance(value, list):
        return "[]", tuple(map(_frozen, value))
    return isinstance(value, bool), value


def _items(validator: Any, rule: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """A list of schemas, as drafts before 2020-12 write them, is read as `prefixItems`."""
    if isinstance(rule, list):
        rule, keyword = rule[: len(instance)] if isinstance(instance, list) else [], "prefixItems"
    else:
        keyword = "items"
    yield from Draft202012Validator.VALIDATORS[keyword](validator, rule, instance, schema) or ()


def _exclusive(keyword: str) -> _Keyword:
    """A bound; `true`, as draft 4 writes it, says nothing here."""

    def check(validator: Any, rule: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        if not isinstance(rule, bool):
            yield from Draft202012Validator.VALIDATORS[keyword](validator, rule, instance, schema) or ()

    return check


_extend: Any = extend
_Validator: Any = _extend(
    Draft202012Validator,
    {
        **{name: _counted(keyword) for name, keyword in Draft202012Validator.VALIDATORS.items()},
        "pattern": _counted(_pattern),
        "patternProperties": _counted(_pattern_properties),
        "additionalProperties": _counted(_additional),
        "uniqueItems": _counted(_unique),
        "items": _counted(_items),
        "exclusiveMinimum": _counted(_exclusive("exclusiveMinimum")),
        "exclusiveMaximum": _counted(_exclusive("exclusiveMaximum")),
    },
)


def _told(fault: ValidationError) -> Iterator[tuple[Place, str]]:
    place = tuple(fault.absolute_path)
    rule = fault.validator
    value: Any = fault.validator_value
    if rule == "required":
        missing = [name for name in value if isinstance(fault.instance, dict) and name not in fault.instance]
        # The library yields one fault for each missing field; its text begins with the name.
        named = [name for name in missing if fault.message.startswith(repr(name))]
        yield (*place, *(named[:1])), "is missing"
    else:
        yield place, _message(str(rule), value)


def _message(rule: str, value: Any) -> str:
    match rule:
        case "type":
            return f"is not of the type {' or '.join(value) if isinstance(value, list) else value}"
        case "enum":
            return f"is not one of the {len(value)} allowed values: {_listed(value)}"
        case "const":
            return "is not the one allowed value"
        case "additionalProperties" | "unevaluatedProperties":
            return "is a field that the schema does not have"
        case "minimum" | "exclusiveMinimum":
            return f"is below the least of {value}"
        case "maximum" | "exclusiveMaximum":
            return f"is above the most of {value}"
        case "minLength" | "minItems" | "minProperties":
            return f"is shorter than {value}"
        case "maxLength" | "maxItems" | "maxProperties":
            return f"is longer than {value}"
        case "pattern":
            return "does not match the pattern of the schema"
        case "uniqueItems":
            return "holds an entry twice"
        case _:
            return f"does not satisfy {rule}"


def _listed(values: list[Any]) -> str:
    texts = [str(value)[:40] for value in values[:8]]
    return ", ".join(texts) + (" …" if len(values) > 8 else "")


def _depth(value: Any) -> int:
    """How deep lists and mappings lie in each other, counted no further than is allowed."""
    level, depth = [value], 0
    while level and depth <= MAX_VALUE_DEPTH:
        parts = [
            part.values() if isinstance(part, dict) else part
            for part in level
            if isinstance(part, dict | list)
        ]
        level = [item for part in parts for item in part]
        depth += 1
    return depth
