"""The fields of a SKILL.md's frontmatter, typed (spec 1.2 to 1.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from catalog.bundles.bundle import Frontmatter
from catalog.bundles.descriptions import check_description
from catalog.bundles.findings import Finding, advice, error, warning
from catalog.bundles.frontmatter_keys import KNOWN_KEYS, mend_of_key
from catalog.bundles.names import check_skill_name, read_version
from catalog.bundles.toolnames import check_tools, split_tools
from catalog.bundles.yamlfaults import shown
from catalog.bundles.yamltext import (
    ImplicitType,
    Mapping,
    Scalar,
    Sequence,
    as_text,
    implicit_type,
    is_null,
)

MAX_COMPATIBILITY_CHARS = 500
MAX_KEYS_NAMED = 50
"""Keys of one kind that get a finding of their own; the rest would say nothing new."""

_BOOLEAN_KEYS = ("disable-model-invocation", "user-invocable")
_ARTICLED: dict[ImplicitType, str] = {
    "bool": "a boolean",
    "int": "a number",
    "float": "a number",
    "date": "a date",
    "null": "nothing",
}


@dataclass(frozen=True, slots=True)
class Fields:
    """What a frontmatter says; `name`, `description` and `version_text` are "" where it is silent."""

    name: str
    description: str
    version: str | None
    version_text: str
    frontmatter: Frontmatter
    findings: tuple[Finding, ...]


def read_fields(root: Mapping, *, path: str, max_version_chars: int = 64) -> Fields:
    """Type the fields of a frontmatter and tell all that is wrong with them."""
    reader = _Reader(root, path)
    reader.unknown_keys()
    reader.implicit_types()
    name, description = reader.name(), reader.description()
    version, version_text = reader.version(max_version_chars)
    frontmatter = Frontmatter(
        license=reader.text("license"),
        compatibility=reader.compatibility(),
        metadata=reader.metadata(),
        allowed_tools=reader.allowed_tools(),
        when_to_use=reader.text("when-to-use"),
        disable_model_invocation=reader.boolean("disable-model-invocation", default=False),
        paths=reader.words("paths", lambda text: text.replace(",", "\n").split("\n")),
        context=reader.context(),
        arguments=reader.words("arguments", lambda text: text.replace(",", " ").split()),
        argument_hint=reader.argument_hint(),
        user_invocable=reader.boolean("user-invocable", default=True),
        model=reader.text("model"),
        extra=reader.extra,
    )
    return Fields(name, description, version, version_text, frontmatter, tuple(reader.findings))


class _Reader:
    """Reads one mapping; what it cannot type goes to `extra` as it was written."""

    def __init__(self, root: Mapping, path: str) -> None:
        self.root = root
        self.path = path
        self.findings: list[Finding] = []
        self.extra: dict[str, Any] = {}

    def unknown_keys(self) -> None:
        """Keep the keys that the format does not have, and name the one each may have meant."""
        unknown = {key: node for key, node in self.root.entries.items() if key not in KNOWN_KEYS}
        self.extra.update((key, as_text(node)) for key, node in unknown.items())
        for key in list(unknown)[:MAX_KEYS_NAMED]:
            message = f'"{shown(key, 80)}" is not a key of the format; it is kept.'
            self._found(warning, "frontmatter-unknown-key", key, message, mend_of_key(key))

    def implicit_types(self) -> None:
        """Warn where a loader that types values would not read what the author wrote (spec 1.4)."""
        for key, node in list(self.root.entries.items())[:MAX_KEYS_NAMED]:
            kind = implicit_type(node) if isinstance(node, Scalar) else None
            if not isinstance(node, Scalar) or kind is None or kind == "null":
                continue
            if key == "version":
                self._version_not_quoted(node, kind)
            elif not (key in _BOOLEAN_KEYS and node.text.lower() in ("true", "false")):
                message = (
                    f'Some agents read the {shown(key, 80)} "{shown(node.text, 80)}" as {_ARTICLED[kind]}.'
                )
                self._found(
                    warning,
                    "yaml-implicit-type",
                    key,
                    message,
                    f'Quote it: {shown(key, 80)}: "{shown(node.text, 80)}"',
                )

    def name(self) -> str:
        """The name, or "" where it is missing or not text."""
        node = self.root.entries.get("name")
        if node is None or is_null(node) or (isinstance(node, Scalar) and not node.text.strip()):
            hint = "Add `name:` with the name of the skill's folder."
            self._found(error, "name-missing", "name", f"{self.path} names no skill.", hint)
            return ""
        if not isinstance(node, Scalar):
            message = "The name is a list or a mapping, not text."
            self._found(error, "name-invalid", "name", message, "Write one name, without brackets.")
            return ""
        self.findings += check_skill_name(node.text, path=self.path, line=node.line)
        return node.text

    def description(self) -> str:
        """The description without white space around it, or "" where it is missing or not text."""
        node = self.root.entries.get("description")
        if node is not None and not isinstance(node, Scalar):
            message = "The description is a list or a mapping, not text."
            self._found(
                error, "description-not-string", "description", message, "Write it as one text in quotes."
            )
            return ""
        text = "" if node is None or is_null(node) else node.text.strip()
        self.findings += check_description(text, path=self.path, line=self._line("description"))
        return text

    def version(self, max_chars: int) -> tuple[str | None, str]:
        """SemVer and the author's text of `metadata.version`, else of a top-level `version`."""
        metadata = self.root.entries.get("metadata")
        inner = metadata.entries.get("version") if isinstance(metadata, Mapping) else None
        outer = self.root.entries.get("version")
        node = outer if is_null(inner) else inner
        if not isinstance(node, Scalar) or is_null(node) or not node.text:
            return None, ""
        if isinstance(outer, Scalar) and not is_null(outer) and outer.text != node.text:
            message = (
                f'metadata.version is "{shown(node.text, 80)}" and version is "{shown(outer.text, 80)}".'
            )
            hint = "Keep metadata.version alone; it is the one that counts."
            self._found(warning, "version-ambiguous", "version", message, hint)
        version, findings = read_version(node.text, path=self.path, line=node.line, max_chars=max_chars)
        self.findings += findings
        return version, node.text

    def text(self, key: str) -> str | None:
        """The text of a key, None where it is absent, empty or not text."""
        node = self.root.entries.get(key)
        if node is None or is_null(node):
            return None
        if isinstance(node, Scalar):
            return node.text.strip()
        self._not_as_expected(key, "text")
        return None

    def compatibility(self) -> str | None:
        """The compatibility note, told where it is no text or too long."""
        node = self.root.entries.get("compatibility")
        if node is not None and not isinstance(node, Scalar):
            self.extra["compatibility"] = as_text(node)
            message = "The compatibility is a list or a mapping, not text; it is kept as it is."
            self._found(warning, "compatibility-not-string", "compatibility", message, "Write one sentence.")
            return None
        text = self.text("compatibility")
        if text is not None and len(text) > MAX_COMPATIBILITY_CHARS:
            message = f"The compatibility has {len(text)} characters, more than {MAX_COMPATIBILITY_CHARS}."
            self._found(
                warning, "compatibility-too-long", "compatibility", message, "Move the rest into the body."
            )
        return text

    def metadata(self) -> dict[str, Any]:
        """The metadata as written; {} where it is no mapping, which then is kept in `extra`."""
        node = self.root.entries.get("metadata")
        if node is None or is_null(node):
            return {}
        hint = "Write one key and one text a line below `metadata:`."
        if not isinstance(node, Mapping):
            self.extra["metadata"] = as_text(node)
            message = "The metadata is not a mapping of keys to text; it is kept as it is."
            self._found(warning, "metadata-not-flat", "metadata", message, hint)
            return {}
        nested = [key for key, value in node.entries.items() if not isinstance(value, Scalar)]
        if nested:
            names = ", ".join(shown(key, 80) for key in nested[:5]) + (" and others" if nested[5:] else "")
            message = (
                f"The metadata of {names} is not text; agents that read flat metadata refuse or lose it."
            )
            line = node.key_lines[nested[0]]
            self.findings.append(warning("metadata-not-flat", message, hint, path=self.path, line=line))
        self._types_of_metadata(node)
        return {key: as_text(value) for key, value in node.entries.items()}

    def _types_of_metadata(self, metadata: Mapping) -> None:
        for key, node in list(metadata.entries.items())[:MAX_KEYS_NAMED]:
            kind = implicit_type(node) if isinstance(node, Scalar) else None
            if not isinstance(node, Scalar) or kind is None or kind == "null":
                continue
            if key == "version":
                self._version_not_quoted(node, kind)
                continue
            message = f"Some agents read metadata.{shown(key, 80)} as {_ARTICLED[kind]}; here it stays text."
            finding = advice("metadata-implicit-type", message, "Quote it.", path=self.path, line=node.line)
            self.findings.append(finding)

    def allowed_tools(self) -> tuple[str, ...] | None:
        """The tools in any of the three spellings; None where the key is absent, () where it is empty."""
        node = self.root.entries.get("allowed-tools")
        if node is None:
            return None
        line = self._line("allowed-tools")
        if isinstance(node, Sequence):
            message = "allowed-tools is a list; the format says text, and some agents drop the skill."
            hint = "Write the tools in one line, with spaces between them."
            self._found(warning, "allowed-tools-list", "allowed-tools", message, hint)
        items = node.items if isinstance(node, Sequence) else (node,)
        if not all(isinstance(item, Scalar) for item in items):
            # Left out, it would let the skill use every tool, so it is no warning.
            self._not_as_expected("allowed-tools", "names of tools", report=error)
            return ()
        texts = [item.text for item in items if isinstance(item, Scalar) and not is_null(item)]
        tools = tuple(dict.fromkeys(tool for text in texts for tool in split_tools(text)))
        self.findings += check_tools(tools, path=self.path, line=line)
        return tools

    def boolean(self, key: str, *, default: bool) -> bool:
        """`true` or `false`, in any case; other text is refused, for either guess may be the wrong one."""
        node = self.root.entries.get(key)
        if node is None or is_null(node):
            return default
        text = node.text.strip().lower() if isinstance(node, Scalar) else ""
        if text in ("true", "yes", "on", "false", "no", "off"):
            return text in ("true", "yes", "on")
        self._not_as_expected(key, "true or false", report=error)
        return default

    def context(self) -> Literal["inline", "fork"]:
        """`inline` unless `fork` is written."""
        text = self.text("context")
        if text not in (None, "inline", "fork"):
            self._not_as_expected("context", "inline or fork")
        return "fork" if text == "fork" else "inline"

    def words(self, key: str, split: Callable[[str], list[str]]) -> tuple[str, ...]:
        """The items of a list, or of a text that `split` cuts."""
        node = self.root.entries.get(key)
        if node is None or is_null(node):
            return ()
        items = node.items if isinstance(node, Sequence) else (node,)
        if not all(isinstance(item, Scalar) for item in items):
            self._not_as_expected(key, "a list of texts")
            return ()
        texts = [item.text for item in items if isinstance(item, Scalar)]
        parts = texts if isinstance(node, Sequence) else split(texts[0])
        return tuple(part.strip() for part in parts if part.strip())

    def argument_hint(self) -> str | None:
        """The hint; `[file]` without quotes is a YAML list, and is put back into brackets."""
        node = self.root.entries.get("argument-hint")
        if isinstance(node, Sequence) and all(isinstance(item, Scalar) for item in node.items):
            hint = "[" + ", ".join(item.text for item in node.items if isinstance(item, Scalar)) + "]"
            message = f"The argument-hint {shown(hint, 80)} is a YAML list, not text, where it has no quotes."
            mend = f'Quote it: argument-hint: "{shown(hint, 80)}"'
            self._found(warning, "frontmatter-value-invalid", "argument-hint", message, mend)
            return hint
        return self.text("argument-hint")

    def _version_not_quoted(self, node: Scalar, kind: ImplicitType) -> None:
        message = (
            f"Some agents read the version {shown(node.text, 80)} as {_ARTICLED[kind]} and lose digits of it."
        )
        hint = f'Quote it: version: "{shown(node.text, 80)}"'
        self.findings.append(warning("version-not-quoted", message, hint, path=self.path, line=node.line))

    def _not_as_expected(self, key: str, expected: str, *, report: Callable[..., Finding] = warning) -> None:
        self.extra[key] = as_text(self.root.entries[key])
        message = f"The value of {key} is not {expected}."
        self._found(report, "frontmatter-value-invalid", key, message, f"Write {expected}.")

    def _line(self, key: str) -> int:
        return self.root.key_lines.get(key, 1)

    def _found(self, report: Callable[..., Finding], code: str, key: str, message: str, hint: str) -> None:
        self.findings.append(report(code, message, hint, path=self.path, line=self._line(key)))
