"""Judges the JSON Schemas of a manifest (2020-12) with bounded work, and never fetches anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jsonschema import (
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
)

from catalog.bundles import regexes
from catalog.bundles.characters import shown
from catalog.bundles.fields import nearest, quoted
from catalog.bundles.findings import Finding, Severity
from catalog.bundles.schema_design import check_design, contradiction
from catalog.bundles.schema_values import check_value, extra_fields, problems
from catalog.bundles.schema_walk import resolve, subschemas
from catalog.bundles.secrets import redact
from catalog.bundles.typed_yaml import Place

__all__ = ["check_schema", "check_value", "extra_fields"]

MAX_DEPTH = 64
"""Lists and mappings of a schema in each other."""
MAX_VALUES = 5_000
MAX_CHARS = 256 * 1024
MAX_IN_PLACE = 2_000
"""Schemas that may be evaluated on one and the same value, references followed."""
MAX_TOLD = 20

_OLD_DRAFTS = {
    "draft-04": Draft4Validator,
    "draft-06": Draft6Validator,
    "draft-07": Draft7Validator,
    "draft/2019-09": Draft201909Validator,
}
_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_RESERVED = (
    "__proto__",
    "constructor",
    "prototype",
    "__defineGetter__",
    "__defineSetter__",
    "hasOwnProperty",
)


@dataclass
class _Check:
    """One schema, where it stands, and what was found so far."""

    schema: dict[str, Any]
    path: str
    named: str
    lines: Mapping[Place, int]
    line: int | None
    findings: list[Finding] = field(default_factory=list)

    def report(self, severity: Severity, code: str, place: Place, problem: str, hint: str) -> None:
        """Note a problem at a place of the schema: `<field>.<place> (line n) <problem>.`"""
        if sum(finding.code == code for finding in self.findings) >= MAX_TOLD:
            return
        line = next((self.lines[p] for p in _outwards(place) if p in self.lines), self.line)
        names = [shown(redact(str(part)), 40) for part in place[-6:]]
        where = ".".join([self.named, *names]) + (f" (line {line})" if line else "")
        self.findings.append(Finding(code, severity, f"{where} {problem}.", hint, self.path, line))


def check_schema(
    schema: Any, *, path: str, field: str, lines: Mapping[Place, int] | None = None, line: int | None = None
) -> tuple[Finding, ...]:
    """Everything that is wrong with a schema, and advice on its design; never raises.

    `field` is the field of the manifest (`input_schema` or `output_schema`), `lines` the line of each
    value by its place, `line` that of the field. References stay inside the schema; nothing is
    fetched, no pattern is run before it is known to be harmless.
    """
    if not isinstance(schema, dict):
        check = _Check({}, path, field, lines or {}, line)
        hint = "Write type: object and its properties."
        check.report(
            "error", "schema-invalid", (), "is no mapping, and only an object can be a schema here", hint
        )
        return tuple(check.findings)
    check = _Check(schema, path, field, lines or {}, line)
    if _is_bounded(check):
        _check_form(check)
        _check_parts(check)
        if not check.findings or all(finding.severity != "error" for finding in check.findings):
            _check_samples(check)
            _check_meaning(check)
    return tuple(check.findings)


def _outwards(place: Place) -> Iterator[Place]:
    return (place[:length] for length in range(len(place), -1, -1))


def _is_bounded(check: _Check) -> bool:
    """Whether the schema is small and flat enough to be looked at."""
    level: list[tuple[Place, Any]] = [((), check.schema)]
    values = chars = depth = 0
    while level:
        values += len(level)
        chars += sum(len(part) for _, part in level if isinstance(part, str))
        chars += sum(len(key) for _, part in level if isinstance(part, dict) for key in part)
        if values > MAX_VALUES or chars > MAX_CHARS:
            problem = f"holds more than {MAX_VALUES:,} values or {MAX_CHARS:,} characters"
            check.report(
                "error", "schema-too-large", (), problem, "Describe less, or share parts under $defs."
            )
            return False
        if depth > MAX_DEPTH:
            problem = f"lies deeper than {MAX_DEPTH} levels"
            check.report("error", "schema-too-deep", level[0][0], problem, "Flatten it, or refer to $defs.")
            return False
        level = [below for place, part in level for below in _children(place, part)]
        depth += 1
    return True


def _children(place: Place, part: Any) -> Iterator[tuple[Place, Any]]:
    if isinstance(part, dict):
        yield from (((*place, key), value) for key, value in part.items())
    elif isinstance(part, list):
        yield from (((*place, index), value) for index, value in enumerate(part))


def _check_form(check: _Check) -> None:
    """The schema against the meta-schema of its draft, which is on this machine."""
    validator = _draft(check)
    for fault in validator(validator.META_SCHEMA).iter_errors(check.schema):
        problem, hint = _fault(str(fault.validator), fault.validator_value, fault.instance)
        check.report("error", "schema-invalid", tuple(fault.absolute_path), problem, hint)
    root_type = check.schema.get("type", "object")
    if check.named == "input_schema" and root_type not in ("object", ["object"]):
        problem = "is not object, and only an object has named parameters"
        check.report("error", "schema-invalid", ("type",), problem, "Write type: object and its properties.")


def _fault(rule: str, wanted: Any, value: Any) -> tuple[str, str]:
    """A fault of the form of a schema in words, and its mend."""
    hint = "Write it as JSON Schema 2020-12 says."
    if rule == "type":
        wanted = wanted if isinstance(wanted, list) else [wanted]
        return f"must be of the type {' or '.join(wanted)}", hint
    if rule in ("enum", "anyOf") and isinstance(value, str):
        meant = nearest(value, _TYPES)
        return (
            f"is {quoted(value)}, no type of JSON Schema",
            f"Write {meant or 'one of ' + ', '.join(_TYPES)}.",
        )
    return f"breaks the rule {rule} of JSON Schema", hint


def _draft(check: _Check) -> Any:
    named = check.schema.get("$schema", "")
    if not isinstance(named, str) or not named or "draft/2020-12" in named:
        return Draft202012Validator
    for draft, validator in _OLD_DRAFTS.items():
        if draft in named:
            problem = f"names the draft {draft}, and schemas are read as 2020-12"
            hint = "Write $schema: https://json-schema.org/draft/2020-12/schema, or leave it out."
            check.report("warning", "schema-draft-old", ("$schema",), problem, hint)
            return validator
    problem = "names a dialect that is not known here and is not fetched"
    hint = "Write $schema: https://json-schema.org/draft/2020-12/schema, or leave it out."
    check.report("warning", "schema-draft-old", ("$schema",), problem, hint)
    return Draft202012Validator


def _check_parts(check: _Check) -> None:
    """References, patterns and names of every schema within the schema."""
    for place, part in subschemas(check.schema):
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(reference := part.get(keyword), str):
                _check_reference(check, (*place, keyword), reference)
        patterns = [((*place, "pattern"), part.get("pattern"))]
        if isinstance(below := part.get("patternProperties"), dict):
            patterns += [((*place, "patternProperties", pattern), pattern) for pattern in below]
        for where, pattern in patterns:
            if isinstance(pattern, str):
                _check_pattern(check, where, pattern)
        if isinstance(properties := part.get("properties"), dict):
            for name in properties.keys() & set(_RESERVED):
                problem = "has a name that JavaScript reserves, which breaks its callers"
                check.report(
                    "warning", "schema-reserved-name", (*place, "properties", name), problem, "Rename it."
                )
    _check_in_place(check)


def _check_reference(check: _Check, place: Place, reference: str) -> None:
    if not reference.startswith("#"):
        problem = "refers to something outside the schema, and nothing is fetched"
        hint = "Copy what it names under $defs and refer to #/$defs/name."
        check.report("error", "schema-remote-ref", place, problem, hint)
    elif resolve(check.schema, reference) is None:
        problem = "refers to a part that the schema does not have"
        check.report("error", "schema-invalid", place, problem, "Refer to #/$defs/name, and define it there.")


def _check_pattern(check: _Check, place: Place, pattern: str) -> None:
    if fault := regexes.compile_problem(pattern):
        hint = "Mend it; it is read as ECMA 262 and Python read it alike."
        problem = f"is no regular expression: {shown(fault, 80)}"
        check.report("error", "schema-regex-invalid", place, problem, hint)
    elif regexes.is_unsafe(pattern):
        problem = "can take for ever on a text that almost matches"
        hint = (
            "Take out repetitions inside repetitions: ^a+$ instead of ^(a+)+$; bound the rest with maxLength."
        )
        check.report("error", "schema-regex-unsafe", place, problem, hint)


def _check_in_place(check: _Check) -> None:
    """Whether schemas that apply to one value lead back to themselves, or multiply without bound."""
    work: dict[int, int] = {}
    open_now: set[int] = set()

    def weigh(part: dict[str, Any], depth: int) -> int:
        if id(part) in open_now or depth > 200:
            return MAX_IN_PLACE + 1
        if id(part) not in work:
            open_now.add(id(part))
            total = 1
            for below in _in_place(check.schema, part):
                total += weigh(below, depth + 1)
                if total > MAX_IN_PLACE:
                    break
            open_now.discard(id(part))
            work[id(part)] = total
        return work[id(part)]

    for place, part in subschemas(check.schema):
        if weigh(part, 0) > MAX_IN_PLACE:
            problem = "applies to a value again and again without an end"
            hint = "Let a reference go through properties or items before it comes back."
            check.report("error", "schema-invalid", place, problem, hint)
            return


def _in_place(root: dict[str, Any], part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas that apply to the same value as this one."""
    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if isinstance(reference := part.get(keyword), str):
            target = resolve(root, reference)
            if isinstance(target, dict):
                yield target
    for keyword in ("allOf", "anyOf", "oneOf"):
        if isinstance(several := part.get(keyword), list):
            yield from (one for one in several if isinstance(one, dict))
    for keyword in ("not", "if", "then", "else"):
        if isinstance(one := part.get(keyword), dict):
            yield one
    if isinstance(named := part.get("dependentSchemas"), dict):
        yield from (one for one in named.values() if isinstance(one, dict))


def _check_samples(check: _Check) -> None:
    """Defaults and examples against their own schemas."""
    for place, part in subschemas(check.schema):
        samples: list[tuple[str, Place, Any]] = []
        if "default" in part:
            samples.append(("default", ("default",), part["default"]))
        if isinstance(examples := part.get("examples"), list):
            samples += [("example", ("examples", n), value) for n, value in enumerate(examples[:50])]
        for what, below, value in samples:
            if found := problems(part, value, check.schema):
                problem = f"is {_an(what)} that its own schema refuses: it {found[0][1]}"
                hint = f"Mend the {what} or the schema."
                check.report("error", "schema-default-mismatch", (*place, *below), problem, hint)


def _an(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"


def _check_meaning(check: _Check) -> None:
    for place, part in subschemas(check.schema):
        if reason := contradiction(part):
            problem = f"lets no value pass: {reason}"
            check.report("warning", "schema-unsatisfiable", place, problem, "Loosen one of the two.")
    for code, place, problem, hint in check_design(check.schema, output=check.named == "output_schema"):
        check.report("advice", code, place, problem, hint)
