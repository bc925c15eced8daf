"""SKILL.md written in the one canonical way (spec 3.2), so that equal fields make equal bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

Value = str | bool | Sequence[str] | Mapping[str, str]
"""What a field of the frontmatter may hold."""

KEYS = (
    "name",
    "description",
    "license",
    "compatibility",
    "allowed-tools",
    "metadata",
    "when-to-use",
    "disable-model-invocation",
    "paths",
    "context",
    "arguments",
    "argument-hint",
    "user-invocable",
    "model",
)
"""The known keys in the order in which they are written; others follow, sorted."""

# A letter, then anything that no YAML reader takes for a mapping, a comment or an end; no white
# space but single spaces. Text that starts otherwise may be a number, a date or an indicator.
_PLAIN = re.compile(
    r"[^\W\d_](?:[^\s:#\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|(?<! ) (?! |$)|:(?! |$)|(?<! )#)*"
)
_WORDS = frozenset("y n yes no on off true false null nan inf".split())  # noqa: SIM905 - one list of words
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def skill_md(fields: Mapping[str, Value], instructions: str) -> str:
    """SKILL.md with these fields, by their names in YAML, and these instructions as its body.

    A field that holds nothing (an empty mapping) is left out, an empty list or text is not. Any
    loader of YAML 1.1 or 1.2 reads the same values back as text, booleans and lists of text.
    """
    order = {key: number for number, key in enumerate(KEYS)}
    lines = []
    for key in sorted(fields, key=lambda key: (order.get(key, len(order)), key)):
        lines += _field(key, fields[key])
    end = "" if instructions.endswith("\n") or not instructions else "\n"
    return "".join(f"{line}\n" for line in ("---", *lines, "---", "")) + instructions + end


def scalar(text: str) -> str:
    """The text as YAML: plain where every reader takes it as that text, else in double quotes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    # JSON's escapes are YAML's; what JSON leaves bare and YAML forbids is escaped in addition.
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _field(key: str, value: Value) -> list[str]:
    if isinstance(value, bool):
        return [f"{scalar(key)}: {'true' if value else 'false'}"]
    if isinstance(value, str):
        return [f"{scalar(key)}: {scalar(value)}"]
    if isinstance(value, Mapping):
        pairs = [f"  {scalar(name)}: {scalar(text)}" for name, text in value.items()]
        return [f"{scalar(key)}:", *pairs] if pairs else []
    items = [f"  - {scalar(text)}" for text in value]
    return [f"{scalar(key)}:", *items] if items else [f"{scalar(key)}: []"]
