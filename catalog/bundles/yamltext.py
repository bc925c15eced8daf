"""Hostile YAML, read as text: the events are judged first, and no value is ever converted.

Only a part of YAML is taken, the part on which loaders agree: one document without without_directive,
anchors, aliases, tags, merge keys and doubled keys. Every scalar stays the text that its author
wrote, so `1.10` is not 1.1 and `no` is not False.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from catalog.bundles.findings import Finding, error
from catalog.bundles.yamlevents import MAX_FINDINGS, Builder, Source
from catalog.bundles.yamlfaults import bad_characters, without_bad_characters, without_directive
from catalog.bundles.yamlnodes import (
    ImplicitType,
    Mapping,
    Node,
    Scalar,
    Sequence,
    as_text,
    implicit_type,
    is_null,
)

__all__ = [
    "Document",
    "ImplicitType",
    "Mapping",
    "Node",
    "Scalar",
    "Sequence",
    "as_text",
    "implicit_type",
    "is_null",
    "read_yaml",
]

MAX_CHARS = 256 * 1024
MAX_NODES = 20_000
MAX_DEPTH = 32
MAX_MENDS = 8

# libyaml is ten times faster; the pure parser answers the same events where it is not built.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Document:
    """What was read. `root` is None for an empty text and where the text could not be read.

    Where `findings` holds errors `root` may still be there, so that the fields can be judged and
    all problems be told at once; a value of it is not to be stored then.
    """

    root: Node | None
    findings: tuple[Finding, ...] = ()


def read_yaml(
    text: str,
    *,
    path: str,
    first_line: int = 1,
    max_chars: int = MAX_CHARS,
    max_nodes: int = MAX_NODES,
    max_depth: int = MAX_DEPTH,
    too_large: str = "yaml-too-large",
    too_deep: str = "yaml-too-deep",
    loader: Any = None,
) -> Document:
    """Read one YAML document as text; never raises.

    `first_line` is the line of `path` on which `text` begins. `too_large` is the code where the
    text holds more than `max_chars` characters or `max_nodes` values, `too_deep` where lists and
    mappings lie deeper than `max_depth` in each other. `loader` chooses a PyYAML loader.
    """
    source = Source(path, first_line, max_nodes, max_depth, too_large, too_deep, loader or LOADER)
    if len(text) > max_chars:
        return Document(None, (_too_long(len(text), max_chars, too_large, path),))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    findings = bad_characters(text, path=path, first_line=first_line)
    lines = without_bad_characters(text).split("\n")
    findings += without_directive(lines, path=path, first_line=first_line)
    builder = Builder(source, lines)
    for _ in range(MAX_MENDS):
        fault = builder.run()
        findings += builder.findings
        if fault is None:
            return Document(builder.root, _bounded(findings))
        findings.append(fault.finding)
        # What the author meant is clear: read on with the mend, to tell what else is wrong.
        if fault.mended is None or lines[fault.index] == fault.mended:
            break
        lines = [*lines[: fault.index], fault.mended, *lines[fault.index + 1 :]]
        builder = Builder(source, lines, nodes=builder.nodes)
    return Document(None, _bounded(findings))


def _bounded(findings: list[Finding]) -> tuple[Finding, ...]:
    return tuple(dict.fromkeys(findings))[:MAX_FINDINGS]


def _too_long(length: int, allowed: int, code: str, path: str) -> Finding:
    message = f"{path} holds {length:,} characters of YAML, more than the {allowed:,} allowed."
    return error(code, message, "Move long text into a file of its own.", path=path)
