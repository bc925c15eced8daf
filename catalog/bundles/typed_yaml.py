"""YAML nodes read as JSON values, for the parts of a manifest that are data: schemas and test cases."""

from __future__ import annotations

import math
import re
from typing import Any

from catalog.bundles.yamltext import Mapping, Node, Scalar, Sequence

Place = tuple[str | int, ...]
"""The keys and indexes that lead to a value."""

# The core schema of YAML 1.2 as far as JSON has a like: `yes`, `0x1F`, `010` and `.inf` stay text.
_WORDS = {"null": None, "~": None, "": None, "true": True, "false": False}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,300})")
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,300}(?:\.[0-9]{0,300})?|\.[0-9]{1,300})(?:[eE][-+]?[0-9]{1,5})?")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]")


def json_value(node: Node) -> Any:
    """The node as None, bool, int, float, str, list or dict; quoted text always stays text."""
    match node:
        case Scalar():
            return _scalar(node)
        case Sequence():
            return [json_value(item) for item in node.items]
        case Mapping():
            return {key: json_value(value) for key, value in node.entries.items()}


def line_index(node: Node) -> dict[Place, int]:
    """The line of every value of the node by its place."""
    lines: dict[Place, int] = {}
    _index(node, (), node.line, lines)
    return lines


def _index(node: Node, place: Place, line: int, lines: dict[Place, int]) -> None:
    lines[place] = line
    match node:
        case Sequence():
            for index, item in enumerate(node.items):
                _index(item, (*place, index), item.line, lines)
        case Mapping():
            for key, value in node.entries.items():
                _index(value, (*place, key), node.key_lines[key], lines)


def _scalar(node: Scalar) -> Any:
    if not node.plain:
        return node.text
    if node.text in _WORDS:
        return _WORDS[node.text]
    if _INTEGER.fullmatch(node.text):
        return int(node.text)
    if _NUMBER.fullmatch(node.text) and not _LEADING_ZERO.match(node.text):
        number = float(node.text)
        return number if math.isfinite(number) else node.text
    return node.text


def pointer(place: Place) -> str:
    """A place as a JSON pointer (RFC 6901); "" for the whole value."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in place)
