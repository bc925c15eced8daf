"""Skills sent as JSON: metadata, instructions and resources in one body (spec 1.6).

Values arrive as JSON made them; every one that is of another type than its field is reported.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from catalog.bundles.characters import SURROGATE, shown
from catalog.bundles.contents import file_too_large
from catalog.bundles.files import File, Limits, Tree
from catalog.bundles.findings import Finding, error, warning
from catalog.bundles.frontmatter_text import KEYS, Value, skill_md
from catalog.bundles.layout import MANIFEST, SKILL, tree_of
from catalog.bundles.listing import listed
from catalog.bundles.paths import canonical
from catalog.bundles.toolnames import split_tools

_TEXT_FIELDS = ("name", "license", "when_to_use", "context", "argument_hint", "model")
_FLAG_FIELDS = ("disable_model_invocation", "user_invocable")
_LIST_FIELDS = ("paths", "arguments")
_MAX_KEY = 256  # YAML readers look no further than 1,024 bytes for the colon after a key


def tree_from_json(
    metadata: Mapping[str, object],
    instructions: object,
    resources: Mapping[str, object],
    *,
    limits: Limits | None = None,
) -> Tree:
    """The tree of a skill sent as JSON, by the rules that archives are read by.

    `resources` maps a path to text, or to `{"base64": text}` for bytes. SKILL.md is written from
    `metadata` and `instructions`, unless it is one of the resources; then there may be no
    instructions. Never raises: what is wrong is in the findings of the tree.
    """
    limits = limits or Limits()
    found: list[Finding] = []
    files = _resources(resources, limits, found)
    if not isinstance(instructions, str):
        found.append(_wrong_type("instructions", "text"))
        instructions = ""
    if any(file.path == SKILL for file in files):
        found += _beside_skill_file(metadata, instructions)
    elif metadata or instructions or not any(file.path == MANIFEST for file in files):
        text = skill_md(_fields(metadata, found), instructions)
        content = _encoded(text, SKILL, found)
        if len(content) > limits.max_file_bytes:
            found.append(file_too_large(SKILL, len(content), limits))
        else:
            files.append(File(SKILL, content))
    tree = tree_of("", files, limits, (), found)
    return Tree("", tree.files, listed(tree.findings))


def _beside_skill_file(metadata: Mapping[str, object], instructions: str) -> list[Finding]:
    if instructions:
        text = "The body holds instructions and a SKILL.md among its resources."
        return [error("json-skill-md-ambiguous", text, "Send one of the two.", path=SKILL)]
    if metadata:
        text = "The metadata is not used, since SKILL.md is among the resources."
        return [warning("json-metadata-ignored", text, "Leave the metadata out.", path=SKILL)]
    return []


def _resources(resources: Mapping[str, object], limits: Limits, found: list[Finding]) -> list[File]:
    if len(resources) > limits.max_files:
        text = f"The body holds {len(resources):,} resources; the limit is {limits.max_files:,} files."
        found.append(error("archive-too-many-files", text, "Leave out what the skill does not need."))
        return []
    files = []
    for raw, value in resources.items():
        path, unsafe = canonical(raw)
        found += unsafe
        if raw.endswith(("/", "\\")) or (not path and not unsafe):
            text = f'The resource "{shown(raw)}" is named as a folder.'
            found.append(error("path-not-canonical", text, "Name a file.", path=shown(raw)))
            continue
        content = _content(value, shown(raw), found)
        if content is not None and len(content) > limits.max_file_bytes:
            found.append(file_too_large(path, len(content), limits))
        elif content is not None and path:
            files.append(File(path, content))
    return files


def _content(value: object, path: str, found: list[Finding]) -> bytes | None:
    if isinstance(value, str):
        return _encoded(value, path, found)
    encoded = value.get("base64") if isinstance(value, Mapping) and len(value) == 1 else None
    if not isinstance(encoded, str):
        text = f'The resource "{path}" is neither text nor {{"base64": text}}.'
        found.append(error("json-value-invalid", text, "Send text, or bytes in base64.", path=path))
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        text = f'The resource "{path}" is not valid base64.'
        found.append(
            error("json-base64-invalid", text, "Encode it as RFC 4648, section 4 has it.", path=path)
        )
        return None


def _encoded(text: str, path: str, found: list[Finding]) -> bytes:
    if match := SURROGATE.search(text):
        message = f'"{path}" holds half a character (\\u{ord(match[0]):04x}), which UTF-8 cannot hold.'
        found.append(error("json-value-invalid", message, "Send the whole character.", path=path))
    return text.encode("utf-8", "replace")


def _wrong_type(field: str, wanted: str, code: str = "json-value-invalid") -> Finding:
    return error(code, f"{field} is not {wanted}.", f"Send {field} as {wanted}.", path=SKILL)


def _fields(metadata: Mapping[str, object], found: list[Finding]) -> dict[str, Value]:
    """The fields of the frontmatter by their names in YAML; null is as good as absent."""
    fields: dict[str, Value] = {}
    for name, value in metadata.items():
        key = _yaml_key(name)
        wanted = _wanted(name, value)
        if value is None:
            continue
        if len(name) > _MAX_KEY or key in fields:
            text = f'The key "{shown(name)}" is {"given twice" if key in fields else "too long"}.'
            found.append(error("json-value-invalid", text, "Rename the key.", path=SKILL))
        elif wanted:
            code = "description-not-string" if name == "description" else "json-value-invalid"
            found.append(_wrong_type(f"metadata.{shown(name)}", wanted, code))
        elif name == "allowed_tools" and _is_list(value):
            fields[key] = _tools(value, found)
        elif isinstance(value, (str, bool)) or _is_list(value) or _is_flat(value):
            fields[key] = value
    return fields


def _yaml_key(name: str) -> str:
    dashed = name.replace("_", "-")
    return dashed if dashed in KEYS else name


def _wanted(name: str, value: object) -> str:
    """What the field should have been, or "" where it is that."""
    name = name.replace("-", "_")
    if name in (*_TEXT_FIELDS, "description", "compatibility"):
        return "" if isinstance(value, str) else "text"
    if name in _FLAG_FIELDS:
        return "" if isinstance(value, bool) else "true or false"
    if name == "metadata":
        return "" if _is_flat(value) else "an object of texts"
    if name in (*_LIST_FIELDS, "allowed_tools"):
        return "" if isinstance(value, str) or _is_list(value) else "a list of texts"
    if isinstance(value, (str, bool)) or _is_list(value) or _is_flat(value):
        return ""
    return "text, a list of texts or an object of texts"


def _is_list(value: object) -> TypeGuard[Sequence[str]]:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def _is_flat(value: object) -> TypeGuard[Mapping[str, str]]:
    return isinstance(value, Mapping) and all(
        isinstance(key, str) and len(key) <= _MAX_KEY and isinstance(text, str) for key, text in value.items()
    )


def _tools(tools: Sequence[str], found: list[Finding]) -> str:
    for tool in tools:
        if split_tools(tool) != [tool]:
            text = f'"{shown(tool)}" in metadata.allowed_tools is not one tool.'
            found.append(
                error("json-value-invalid", text, "Send each tool as an entry of its own.", path=SKILL)
            )
    return " ".join(tools)
