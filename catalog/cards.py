"""What a version says of itself: the metadata that the feed serves, taken from the bundle once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from catalog.bundles.bundle import Bundle, Frontmatter, Manifest
from catalog.bundles.files import File
from catalog.bundles.reading import HEADS

RESOURCE_FOLDERS = ("references/", "assets/")
SCRIPT_FOLDER = "scripts/"


def card_of(bundle: Bundle) -> dict[str, Any]:
    """The fields of the feed that come from the bundle's own words (contract, Feed)."""
    front = bundle.frontmatter or Frontmatter()
    manifest = bundle.manifest or Manifest()
    return {
        "license": front.license,
        "compatibility": front.compatibility,
        "metadata": dict(front.metadata),
        "allowed_tools": None if front.allowed_tools is None else list(front.allowed_tools),
        "when_to_use": front.when_to_use,
        "context": front.context,
        "paths": list(front.paths),
        "arguments": list(front.arguments),
        "argument_hint": front.argument_hint,
        "user_invocable": front.user_invocable,
        "model_invocable": not front.disable_model_invocation,
        "model": front.model,
        "extra": {**front.extra, **manifest.extra},
        "kind": "tool" if bundle.frontmatter is None else "skill",
        "has_manifest": bundle.manifest is not None,
        "run": manifest.run,
        "model_hint": manifest.model_hint,
        "context_fields": list(manifest.context_fields),
        "input_schema": manifest.input_schema,
        "output_schema": manifest.output_schema,
        "dependencies": dict(manifest.dependencies),
        "idempotency": {
            "declared": manifest.idempotent,
            "fields": list(manifest.idempotency_key),
        },
        "cache": {"ttl_ms": manifest.cache_ttl_ms},
        "timeout_ms": manifest.timeout_ms,
        "errors": [dict(error) for error in manifest.errors],
        "retry": dict(manifest.retry) if manifest.retry is not None else None,
        "alternatives": list(manifest.alternatives),
        "runtime": dict(manifest.runtime) if manifest.runtime is not None else None,
        "author": manifest.author or front.metadata.get("author"),
    }


# Kept with a version for our own rules, and served to nobody.
PRIVATE = frozenset({"has_manifest"})


def public_card(card: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a card that feed and API serve."""
    return {key: value for key, value in card.items() if key not in PRIVATE}


def is_resource(path: str, *, inline: bool = False) -> bool:
    """Whether a file is offered by `read_skill_resource` (spec 5.1).

    Those of `references/` and `assets/` are; of a skill that came as JSON every file beside its
    head and its scripts.
    """
    if path.startswith(RESOURCE_FOLDERS):
        return True
    return inline and path not in HEADS and not is_script(path)


def is_script(path: str) -> bool:
    """Whether a file is offered by `run_skill_script`."""
    return path.startswith(SCRIPT_FOLDER)


def files_to_ship(bundle: Bundle) -> tuple[File, ...]:
    """The files of the artifact that clients unpack: SKILL.md is always there, by that name.

    A `skill.md` gets its right name; a tool skill gets a SKILL.md of its description and schemas.
    """
    files = bundle.tree.files
    if bundle.tree.get("SKILL.md"):
        return files
    small = bundle.tree.get("skill.md")
    if small:
        rest = [file for file in files if file is not small]
        return tuple(sorted([*rest, File("SKILL.md", small.content)], key=_bytes_of_path))
    head = File("SKILL.md", tool_instructions(bundle).encode())
    return tuple(sorted([*files, head], key=_bytes_of_path))


def _bytes_of_path(file: File) -> bytes:
    return file.path.encode()


def tool_instructions(bundle: Bundle) -> str:
    """The SKILL.md of a tool skill: its description and schemas as instructions (`manifest.md`)."""
    manifest = bundle.manifest or Manifest()
    parts = [
        "---",
        f"name: {bundle.folder}",
        f"description: {json.dumps(bundle.description, ensure_ascii=False)}",
        "---",
        "",
        f"# {bundle.name}",
        "",
        bundle.description,
    ]
    for title, schema in (("Input", manifest.input_schema), ("Output", manifest.output_schema)):
        if schema is not None:
            text = json.dumps(schema, ensure_ascii=False, indent=2)
            parts += ["", f"## {title}", "", "```json", text, "```"]
    return "\n".join(parts) + "\n"
