"""The keys of a SKILL.md's frontmatter: the open specification's six and eight extensions (spec 1.2)."""

from __future__ import annotations

import difflib

OPEN_KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
EXTENSION_KEYS = (
    "when-to-use",
    "disable-model-invocation",
    "paths",
    "context",
    "arguments",
    "argument-hint",
    "user-invocable",
    "model",
)
KNOWN_KEYS = OPEN_KEYS + EXTENSION_KEYS


def mend_of_key(key: str) -> str:
    """The hint for a key that the format does not have: the known one it is near to, or where it may stand."""
    if key == "version":
        return 'Move it below metadata: `metadata:`, then `  version: "…"`.'
    folded = key.lower().replace("_", "-").replace(" ", "-")
    near = [folded] if folded in KNOWN_KEYS else difflib.get_close_matches(folded[:64], KNOWN_KEYS, 1, 0.8)
    if near:
        return f"Did you mean {near[0]}? Keys are matched letter by letter."
    return "Move it below `metadata:`, where agents leave it in peace."
