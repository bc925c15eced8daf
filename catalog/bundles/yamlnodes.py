"""The nodes of a YAML text: text, lists and mappings, with their lines and without any conversion."""

from __future__ import annotations

import re
from collections.abc import Mapping as MappingOf
from dataclasses import dataclass
from typing import Any, Literal

ImplicitType = Literal["bool", "int", "float", "date", "null"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """Text as its author wrote it; `plain` means that it stood without quotes."""

    text: str
    line: int
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list and the line on which it begins."""

    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping: nodes by key, the line of each key, and the line on which it begins."""

    entries: MappingOf[str, Node]
    key_lines: MappingOf[str, int]
    line: int


Node = Scalar | Sequence | Mapping


def as_text(node: Node) -> Any:
    """The node as str, list and dict; keys keep their order."""
    match node:
        case Scalar():
            return node.text
        case Sequence():
            return [as_text(item) for item in node.items]
        case Mapping():
            return {key: as_text(value) for key, value in node.entries.items()}


# The words of YAML 1.1 (yaml.org/type) and the numbers of YAML 1.1 and 1.2, which also knows 1e3.
_IMPLICIT: tuple[tuple[ImplicitType, re.Pattern[str]], ...] = (
    ("null", re.compile(r"~|null|Null|NULL|")),
    (
        "bool",
        re.compile(r"(?i:y|n)|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF"),
    ),
    ("int", re.compile(r"[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(:[0-5]?[0-9])*)")),
    ("float", re.compile(r"[-+]?([0-9][0-9_]*(:[0-5]?[0-9])*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][-+]?[0-9]+)?")),
    ("float", re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")),
    ("date", re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t][-+0-9:.Zz \t]{4,40})?")),
)


def implicit_type(scalar: Scalar) -> ImplicitType | None:
    """The type a careless loader makes of an unquoted scalar, None where it stays text."""
    if not scalar.plain:
        return None
    return next((kind for kind, pattern in _IMPLICIT if pattern.fullmatch(scalar.text)), None)


def is_null(node: Node | None) -> bool:
    """Whether nothing is there: no node, an empty value, or an unquoted `null` or `~`."""
    return node is None or (isinstance(node, Scalar) and implicit_type(node) == "null")
