"""The permissions of a manifest: a map of names to true or false, or a list of names."""

from __future__ import annotations

from catalog.bundles.bundle import PERMISSIONS
from catalog.bundles.fields import Fields, kind, nearest, quoted
from catalog.bundles.yamltext import Mapping, Node, Scalar, Sequence

_EVERYTHING = ("*", "all", "any", "everything")
_HINT = "Write permissions: [network], or [] for none."


def read_permissions(fields: Fields) -> tuple[str, ...] | None:
    """The granted names, sorted; None where the field is absent or cannot be read."""
    node = fields.root.entries.get("permissions")
    match node:
        case None:
            return None
        case Sequence():
            names = [name for item in node.items if (name := _listed(fields, item))]
        case Mapping():
            names = [
                name for key, value in node.entries.items() if (name := _mapped(fields, node, key, value))
            ]
        case Scalar():
            value = quoted(node.text) if node.text else "empty"
            _malformed(fields, f"is {value}, not a map or a list", node.line)
            return None
    return tuple(sorted(set(names)))


def _listed(fields: Fields, item: Node) -> str | None:
    if not isinstance(item, Scalar):
        _malformed(fields, f"holds {kind(item)} where a name belongs", item.line)
        return None
    return _known(fields, item.text, item.line)


def _mapped(fields: Fields, node: Mapping, key: str, value: Node) -> str | None:
    """The name where it is granted; what is set to false is not asked for."""
    line = node.key_lines[key]
    name = _known(fields, key, line)
    if not isinstance(value, Scalar) or value.text not in ("true", "false"):
        _malformed(fields, f"gives {quoted(key)} another value than true or false", line)
        return None
    return name if value.text == "true" else None


def _known(fields: Fields, name: str, line: int) -> str | None:
    if name in PERMISSIONS:
        return name
    if name.strip().lower() in _EVERYTHING or "*" in name:
        problem = f"asks for {quoted(name)}, which is everything"
        hint = f"Name what the skill needs: {', '.join(PERMISSIONS)}."
        fields.report("error", "permission-wildcard", "permissions", problem, hint, line)
        return None
    meant = nearest(name, PERMISSIONS) or nearest(name.replace(":", ".").replace("_", "."), PERMISSIONS)
    hint = f"Write {meant}." if meant else f"Use one of {', '.join(PERMISSIONS)}."
    problem = f"asks for {quoted(name)}, which is no permission"
    fields.report("error", "permission-unknown", "permissions", problem, hint, line)
    return None


def _malformed(fields: Fields, problem: str, line: int) -> None:
    fields.report("error", "permission-malformed", "permissions", problem, _HINT, line)
