"""Readers of the fields of a manifest: text in, typed values out, every problem told.

A reader returns None (or nothing) for a field that is absent or wrong; where it is wrong, the
finding names the field, the line and the mend.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as MappingOf
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from catalog.bundles.characters import shown
from catalog.bundles.files import Tree
from catalog.bundles.findings import Finding, Severity
from catalog.bundles.paths_inside import escapes
from catalog.bundles.secrets import redact
from catalog.bundles.yamltext import Mapping, Node, Scalar, Sequence, as_text, is_null

MAX_ITEMS = 100
MAX_TEXT = 1024

_DECIMAL = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")


def quoted(text: str) -> str:
    """Text of the author in quotes, cut short, without secrets and hidden characters."""
    return f'"{shown(redact(text), 60)}"'


def nearest(word: str, known: MappingOf[str, Any] | tuple[str, ...]) -> str | None:
    """The known word that the author most likely meant, or None."""
    folded = word[:64].lower().replace("-", "_").replace(" ", "_")
    return next(iter(get_close_matches(folded, tuple(known), n=1, cutoff=0.7)), None)


@dataclass
class Fields:
    """A mapping of a manifest, and the findings about its fields so far.

    `prefix` is the way to the mapping, as messages name it ("retry."); "" at the top.
    """

    path: str
    root: Mapping
    tree: Tree
    findings: list[Finding] = field(default_factory=list)
    prefix: str = ""

    def below(self, name: str, node: Mapping) -> Fields:
        """The fields of a mapping within this one; its findings go the same way."""
        return Fields(self.path, node, self.tree, self.findings, f"{self.prefix}{name}.")

    def line(self, name: str) -> int | None:
        """The line of a field's key."""
        return self.root.key_lines.get(name)

    def report(
        self, severity: Severity, code: str, name: str, problem: str, hint: str, line: int | None = None
    ) -> None:
        """Note a problem of a field: `<field> (line n) <problem>.`"""
        line = line or self.line(name)
        where = f"{self.prefix}{name}" + (f" (line {line})" if line else "")
        self.findings.append(Finding(code, severity, f"{where} {problem}.", hint, self.path, line))

    def invalid(self, name: str, problem: str, hint: str, line: int | None = None) -> None:
        """Note that the value of a field is wrong."""
        self.report("error", "manifest-value-invalid", name, problem, hint, line)

    def node(self, name: str, example: str) -> Node | None:
        """The value of a field; one that is written without a value is told with an example."""
        node = self.root.entries.get(name)
        if node is not None and is_null(node):
            self.invalid(name, "has no value", f"Write {name}: {example}, or leave it out.")
            return None
        return node

    def text(self, name: str, example: str, limit: int = MAX_TEXT) -> str | None:
        """A text of one line and at most `limit` characters."""
        node = self.node(name, example)
        if node is None:
            return None
        if not isinstance(node, Scalar):
            self.invalid(name, f"is {kind(node)}, not a text", f"Write {name}: {example}.")
            return None
        text = node.text.strip()
        if not text or len(text) > limit or not text.replace("\n", " ").isprintable():
            problem = f"is not a text of 1 to {limit:,} printable characters"
            self.invalid(name, problem, f"Write {name}: {example}.")
            return None
        return text

    def choice(self, name: str, allowed: tuple[str, ...], code: str = "manifest-value-invalid") -> str | None:
        """One of some words, exactly."""
        node = self.root.entries.get(name)
        if node is None:
            return None
        text = node.text if isinstance(node, Scalar) else ""
        if text in allowed:
            return text
        value = quoted(text) if isinstance(node, Scalar) else kind(node)
        # Never a default for what cannot be guessed: a risk level must not fall back to low.
        proposal = nearest(text, allowed) or f"{', '.join(allowed[:-1])} or {allowed[-1]}"
        problem = f"is {value}, not one of {', '.join(allowed)}"
        self.report("error", code, name, problem, f"Write {name}: {proposal}.")
        return None

    def flag(self, name: str) -> bool | None:
        """`true` or `false`, exactly."""
        word = self.choice(name, ("true", "false"))
        return None if word is None else word == "true"

    def milliseconds(self, name: str, example: int, *, zero: bool, most: int) -> int | None:
        """A number of seconds up to `most`, in milliseconds."""
        node = self.node(name, str(example))
        if node is None:
            return None
        text = node.text if isinstance(node, Scalar) else ""
        if _DECIMAL.fullmatch(text) and (zero or float(text) > 0) and float(text) <= most:
            return max(round(float(text) * 1000), 0 if zero else 1)
        value = quoted(text) if isinstance(node, Scalar) else kind(node)
        problem = f"is {value}, not a number of seconds {'from 0' if zero else 'above 0 and'} up to {most:,}"
        self.invalid(name, problem, f"Write {name}: {example}.")
        return None

    def words(self, name: str, example: str, limit: int = 64) -> tuple[str, ...]:
        """A list of texts without doubles, each of one line and at most `limit` characters."""
        node = self.node(name, example)
        if node is None:
            return ()
        hint = f"Write {name}: {example}."
        if not isinstance(node, Sequence):
            self.invalid(name, f"is {kind(node)}, not a list", hint)
            return ()
        if len(node.items) > MAX_ITEMS:
            self.invalid(name, f"has {len(node.items):,} entries, more than {MAX_ITEMS}", hint)
            return ()
        words: dict[str, None] = {}
        for item in node.items:
            text = item.text.strip() if isinstance(item, Scalar) else ""
            if not text or len(text) > limit or not text.isprintable():
                problem = f"holds an entry that is not a text of 1 to {limit} printable characters"
                self.invalid(name, problem, hint, item.line)
            else:
                words[text] = None
        return tuple(words)

    def mapping(self, name: str, example: str) -> Fields | None:
        """A mapping, as fields of its own."""
        node = self.node(name, example)
        if node is None:
            return None
        if not isinstance(node, Mapping):
            self.invalid(name, f"is {kind(node)}, not a mapping", f"Write {name}: {example}.")
            return None
        return self.below(name, node)

    def file(self, name: str, path: str) -> bool:
        """Whether a path that the field names stays in the bundle; warn where no file is there."""
        if escapes(path):
            problem = f"names {quoted(path)}, which leaves the bundle"
            self.report(
                "error", "path-traversal", name, problem, "Name a file inside the bundle, from its root."
            )
            return False
        if self.tree.get(path.removeprefix("./")) is None:
            problem = f"names {quoted(path)}, which is not in the bundle"
            self.report("warning", "broken-reference", name, problem, "Add the file or mend its name.")
        return True

    def unknown(self, known: MappingOf[str, Any] | tuple[str, ...]) -> dict[str, Any]:
        """The fields that are not known, as text; each with a warning that proposes the nearest."""
        extra: dict[str, Any] = {}
        for key, node in self.root.entries.items():
            if key in known:
                continue
            extra[key] = as_text(node)
            meant = nearest(key, known)
            hint = f"Write {meant}." if meant else "It is kept, but nothing reads it."
            line = self.line(key)
            message = f"{quoted(self.prefix + key)} (line {line}) is not a field of a manifest."
            self.findings.append(Finding("manifest-unknown-key", "warning", message, hint, self.path, line))
        return extra


def kind(node: Node) -> str:
    """What a node is, for messages."""
    match node:
        case Scalar():
            return "a text" if node.text else "empty"
        case Sequence():
            return "a list"
        case Mapping():
            return "a mapping"
