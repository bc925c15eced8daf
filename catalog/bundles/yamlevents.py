"""Makes nodes of the events of a YAML parser and judges every event on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from catalog.bundles.findings import Finding, error
from catalog.bundles.yamlfaults import (
    Fault,
    cut_by_comment,
    has_bad_characters,
    parser_fault,
    shown,
    without_bad_characters,
)
from catalog.bundles.yamlnodes import Mapping, Node, Scalar, Sequence

MAX_FINDINGS = 50


@dataclass(frozen=True, slots=True)
class Source:
    """Where a text comes from, its bounds, and the PyYAML loader that parses it."""

    path: str
    first_line: int
    max_nodes: int
    max_depth: int
    too_large: str
    too_deep: str
    loader: Any


@dataclass(slots=True)
class _Frame:
    """A list or mapping that is still open; `key` is the key whose value comes next."""

    line: int
    mapping: bool
    items: list[Node] = field(default_factory=list)
    entries: dict[str, Node] = field(default_factory=dict)
    key_lines: dict[str, int] = field(default_factory=dict)
    key: Scalar | None = None

    def close(self) -> Node:
        if self.mapping:
            return Mapping(self.entries, self.key_lines, self.line)
        return Sequence(tuple(self.items), self.line)


class _BoundError(Exception):
    """A bound was passed; the finding says which."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class Builder:
    """Makes nodes of events, with a stack of its own: no depth of the text can exhaust Python's."""

    def __init__(self, source: Source, lines: list[str], *, nodes: int = 0) -> None:
        self.source = source
        self.lines = lines
        self.nodes = nodes
        self.findings: list[Finding] = []
        self.root: Node | None = None
        self._stack: list[_Frame] = []
        self._documents = 0

    def run(self) -> Fault | None:
        """Read all events; answers the fault that stopped the parser, or None at the end."""
        try:
            for event in self._events():
                self._take(event)
        except _BoundError as stop:
            return Fault(stop.finding, 0, None)
        except (yaml.YAMLError, ValueError, RecursionError) as exc:
            if "nesting depth" in str(exc):
                return Fault(self._too_deep(self.source.first_line), 0, None)
            return parser_fault(exc, self.lines, path=self.source.path, first_line=self.source.first_line)
        return None

    def _events(self) -> Iterator[yaml.Event]:
        return yaml.parse("\n".join(self.lines), Loader=self.source.loader)

    def _take(self, event: yaml.Event) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise _BoundError(self._second_document(event))
            case yaml.AliasEvent():
                self._count(event)
                self._alias(event)
            case yaml.ScalarEvent():
                self._node(event)
                self._scalar(event)
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                self._node(event)
                self._open(event)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                self._add(self._stack.pop().close())

    def _line(self, event: yaml.Event) -> int:
        return self.source.first_line + (event.start_mark.line if event.start_mark else 0)

    def _report(self, code: str, event: yaml.Event, what: str, hint: str) -> None:
        message = f"{what} in line {self._line(event)} is not allowed here."
        self._found(error(code, message, hint, path=self.source.path, line=self._line(event)))

    def _found(self, finding: Finding) -> None:
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)

    def _second_document(self, event: yaml.Event) -> Finding:
        line = self._line(event)
        message = f"A second YAML document begins in line {line}; only one is read."
        hint = "Keep one document and remove the line that separates the two."
        return error("yaml-invalid", message, hint, path=self.source.path, line=line)

    def _alias(self, event: yaml.AliasEvent) -> None:
        what = f"The alias *{shown(str(event.anchor), 40)}"
        self._report("yaml-alias", event, what, "Write the value out instead; quote text that begins with *.")
        self._add(Scalar(f"*{event.anchor}", self._line(event)))

    def _count(self, event: yaml.Event) -> None:
        self.nodes += 1
        source, line = self.source, self._line(event)
        if self.nodes > source.max_nodes:
            message = f"The YAML of {source.path} holds more than {source.max_nodes:,} values."
            raise _BoundError(
                error(
                    source.too_large,
                    message,
                    "Move data into a file of its own.",
                    path=source.path,
                    line=line,
                )
            )

    def _node(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        """What is judged of every value: the number of values, its anchor and its tag."""
        self._count(event)
        if event.anchor is not None:
            hint = "Write the value out where it is needed; quote it where it is text that begins with &."
            self._report("yaml-alias", event, f"The anchor &{shown(str(event.anchor), 40)}", hint)
        if event.tag is not None:
            hint = "Remove the tag; quote the value where it is text that begins with !."
            self._report("yaml-tag", event, f"The tag {shown(str(event.tag), 60)}", hint)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        line, plain = self._line(event), not event.style
        if not plain and has_bad_characters(event.value):
            message = f"The value in line {line} holds an escaped control character."
            hint = "Remove the escape sequence; text may hold line feeds and tabs alone."
            self._found(error("yaml-invalid", message, hint, path=self.source.path, line=line))
        value = Scalar(without_bad_characters(event.value), line, plain)
        if plain and not self._awaits_key():
            rest = self._after(event)
            if finding := cut_by_comment(value.text, rest, path=self.source.path, line=line):
                self._found(finding)
        self._add(value)

    def _after(self, event: yaml.Event) -> str:
        """What follows the value in its last line."""
        mark = event.end_mark
        return self.lines[mark.line][mark.column :] if mark and mark.line < len(self.lines) else ""

    def _open(self, event: yaml.SequenceStartEvent | yaml.MappingStartEvent) -> None:
        line = self._line(event)
        if len(self._stack) >= self.source.max_depth:
            raise _BoundError(self._too_deep(line))
        self._stack.append(_Frame(line, isinstance(event, yaml.MappingStartEvent)))

    def _too_deep(self, line: int) -> Finding:
        path, deepest = self.source.path, self.source.max_depth
        message = f"The YAML of {path} is more than {deepest} levels deep in line {line}."
        return error(self.source.too_deep, message, "Make the structure flatter.", path=path, line=line)

    def _awaits_key(self) -> bool:
        return bool(self._stack) and self._stack[-1].mapping and self._stack[-1].key is None

    def _add(self, node: Node) -> None:
        if not self._stack:
            self.root = node
        elif not self._stack[-1].mapping:
            self._stack[-1].items.append(node)
        elif self._stack[-1].key is None:
            self._stack[-1].key = self._key(node)
        else:
            frame, key = self._stack[-1], self._stack[-1].key
            # Of a doubled key the first stays: it is what a reviewer reads.
            frame.entries.setdefault(key.text, node)
            frame.key_lines.setdefault(key.text, key.line)
            frame.key = None

    def _key(self, node: Node) -> Scalar:
        path, earlier = self.source.path, self._stack[-1].key_lines
        if not isinstance(node, Scalar):
            message = f"The key in line {node.line} is a list or a mapping, not text."
            self._found(error("yaml-invalid", message, "Use text as the key.", path=path, line=node.line))
            return Scalar("?", node.line)
        if node.text == "<<" and node.plain:
            message = f"The merge key << in line {node.line} is not allowed here."
            self._found(error("yaml-alias", message, "Write the merged keys out.", path=path, line=node.line))
        elif node.text in earlier:
            key = shown(node.text, 60)
            message = f'The key "{key}" stands twice, in line {earlier[node.text]} and in line {node.line}.'
            hint = "Keep one of the two: loaders differ in which one they take."
            self._found(error("yaml-duplicate-key", message, hint, path=path, line=node.line))
        return node
