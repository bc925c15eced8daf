"""Reads a manifest.yaml: text first, then each field by its type, all problems at once."""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from dataclasses import dataclass
from typing import Any, cast

from catalog.bundles.bundle import RISKS, STABILITIES, Manifest, Risk, Stability
from catalog.bundles.declared import (
    read_dependencies,
    read_errors,
    read_idempotence,
    read_names,
    read_retry,
    read_run,
    read_runtime,
)
from catalog.bundles.descriptions import check_description
from catalog.bundles.fields import Fields, kind, quoted
from catalog.bundles.files import File, Limits, Tree
from catalog.bundles.findings import Finding, advice, error, in_order, warning
from catalog.bundles.names import build_metadata, check_manifest_name, is_semver
from catalog.bundles.permissions import read_permissions
from catalog.bundles.safety import is_understated, suggested_risk
from catalog.bundles.schemas import check_schema
from catalog.bundles.suites import read_suite
from catalog.bundles.typed_yaml import json_value, line_index
from catalog.bundles.yamltext import Mapping, Node, Scalar, read_yaml

MAX_CHARS = 512 * 1024
MAX_DEPTH = 100
"""Lists and mappings in each other; nothing but a schema comes near."""

KEYS = (
    *("name", "description", "version", "risk_level", "run", "tags", "permissions"),
    *("input_schema", "output_schema", "dependencies", "test_suite", "idempotent", "model_hint"),
    *("context_fields", "cache_ttl", "timeout", "errors", "retry", "alternatives", "stability"),
    *("runtime", "author"),
)
MODEL_HINTS = ("small", "medium", "large")
CONTEXT_FIELDS = (
    *("user_intent", "conversation_history", "parameters", "environment", "trace_id", "user_profile"),
)
_SIDE_EFFECTS = frozenset({"filesystem.write", "send"})
_YEAR = 365 * 24 * 3600
_DAY = 24 * 3600


@dataclass(frozen=True, slots=True)
class ManifestFields:
    """What a manifest says; `name`, `description` and `version_text` are "" where it is silent.

    `version` is SemVer without build metadata, or None where it cannot be read.
    """

    name: str
    description: str
    version: str | None
    version_text: str
    manifest: Manifest


def read_manifest(file: File, tree: Tree, *, limits: Limits) -> tuple[ManifestFields, tuple[Finding, ...]]:
    """Read the manifest of a bundle as `manifest.md` says; never raises on what the files hold.

    Where there are errors the fields are still those that could be read. Rules that need the
    catalog (dependencies that are missing, cycles, names and versions that exist) are not judged.
    """
    findings = _ambiguous(file, tree)
    root, found = _root(file)
    findings += found
    if root is None:
        return ManifestFields("", "", None, "", Manifest()), in_order(findings)
    fields = Fields(file.path, root, tree, findings)
    name = _name(fields)
    version, version_text = _version(fields, limits)
    read = ManifestFields(name, _description(fields), version, version_text, _manifest(fields, name))
    _check_whole(fields, read.manifest)
    return read, in_order(fields.findings)


def _ambiguous(file: File, tree: Tree) -> list[Finding]:
    if tree.get("manifest.yaml") is None or tree.get("manifest.yml") is None:
        return []
    message = "manifest.yaml and manifest.yml lie beside each other, and readers disagree which one counts."
    return [error("manifest-ambiguous", message, "Remove manifest.yml.", path=file.path)]


def _root(file: File) -> tuple[Mapping | None, list[Finding]]:
    """The mapping that the file holds, or None and why."""
    findings: list[Finding] = []
    content = file.content
    if content.startswith(b"\xef\xbb\xbf"):
        content = content[3:]
        message = f"{file.path} begins with a byte order mark."
        findings.append(warning("utf8-bom", message, "Save it as UTF-8 without one.", path=file.path, line=1))
    try:
        text = content.decode()
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        message = f"{file.path} is not UTF-8 in line {line}."
        return None, [error("yaml-invalid", message, "Save it as UTF-8.", path=file.path, line=line)]
    document = read_yaml(
        text,
        path=file.path,
        max_chars=MAX_CHARS,
        max_depth=MAX_DEPTH,
        too_large="manifest-too-large",
        too_deep="schema-too-deep",
    )
    findings += document.findings
    if isinstance(document.root, Mapping) and document.root.entries:
        return document.root, findings
    if not document.findings:
        findings.append(_no_fields(file.path, document.root))
    return None, findings


def _no_fields(path: str, root: Node | None) -> Finding:
    hint = "Begin with name, description, version and risk_level."
    if root is None or (isinstance(root, Scalar) and not root.text) or isinstance(root, Mapping):
        return error("manifest-empty", f"{path} is empty.", hint, path=path)
    return error(
        "manifest-not-mapping", f"{path} is {kind(root)}, not a mapping.", hint, path=path, line=root.line
    )


def _name(fields: Fields) -> str:
    node = fields.root.entries.get("name")
    if node is None or (isinstance(node, Scalar) and not node.text.strip()):
        problem = "is missing, and nothing can be called without one"
        fields.report("error", "name-missing", "name", problem, "Write name: web.search.")
        return ""
    if not isinstance(node, Scalar):
        fields.report(
            "error", "name-invalid", "name", f"is {kind(node)}, not a text", "Write name: web.search."
        )
        return ""
    faults = check_manifest_name(node.text, path=fields.path, line=fields.line("name"))
    fields.findings += faults
    if faults:
        return ""
    if "." not in node.text:
        problem = "has no namespace"
        fields.report(
            "advice", "name-no-namespace", "name", problem, f"Write a domain and a verb: web.{node.text}."
        )
    return node.text


def _description(fields: Fields) -> str:
    node = fields.root.entries.get("description")
    if node is not None and not isinstance(node, Scalar):
        problem = f"is {kind(node)}, not a text"
        fields.report(
            "error", "description-not-string", "description", problem, "Write it as one text in quotes."
        )
        return ""
    text = node.text.strip() if node else ""
    fields.findings += check_description(text, path=fields.path, line=fields.line("description"))
    return text


def _version(fields: Fields, limits: Limits) -> tuple[str | None, str]:
    node = fields.root.entries.get("version")
    text = node.text if isinstance(node, Scalar) else ""
    hint = f"Write version: {_proposed_version(text)}."
    if node is None or not text:
        fields.report(
            "error", "version-invalid", "version", "is missing" if node is None else "is empty", hint
        )
        return None, text
    if len(text) > limits.max_version_chars:
        problem = f"has {len(text):,} characters, more than the {limits.max_version_chars} allowed"
        fields.report("error", "version-too-long", "version", problem, hint)
        return None, text[: limits.max_version_chars]
    if not is_semver(text):
        problem = f"is {quoted(text)}, not a semantic version"
        fields.report("error", "version-invalid", "version", problem, hint)
        return None, text
    version, _, build = text.partition("+")
    fields.findings += build_metadata(version, build, path=fields.path, line=fields.line("version"))
    return version, text


def _proposed_version(text: str) -> str:
    """The version that was most likely meant: `v1.2` is 1.2.0."""
    numbers = text.strip().lower().removeprefix("v").removeprefix("=").split(".")
    if len(numbers) > 3 or not all(number.isdecimal() and number.isascii() for number in numbers):
        return "1.0.0"
    return ".".join([str(int(number[:18])) for number in numbers] + ["0"] * (3 - len(numbers)))


def _manifest(fields: Fields, name: str) -> Manifest:
    stability = fields.choice("stability", STABILITIES)
    context = read_choices(fields, "context_fields", CONTEXT_FIELDS)
    idempotent, key = read_idempotence(fields)
    input_schema = _schema(fields, "input_schema")
    return Manifest(
        input_schema=input_schema,
        output_schema=_schema(fields, "output_schema"),
        run=read_run(fields),
        permissions=read_permissions(fields),
        risk_level=_risk(fields),
        tags=fields.words("tags", "[search, web]"),
        dependencies=read_dependencies(fields, name),
        idempotent=idempotent,
        idempotency_key=key,
        model_hint=fields.choice("model_hint", MODEL_HINTS),
        context_fields=context,
        cache_ttl_ms=fields.milliseconds("cache_ttl", 300, zero=True, most=_YEAR),
        timeout_ms=fields.milliseconds("timeout", 30, zero=False, most=_DAY),
        errors=read_errors(fields),
        retry=read_retry(fields),
        alternatives=read_names(fields, "alternatives", name),
        stability=cast(Stability | None, stability),
        runtime=read_runtime(fields),
        author=fields.text("author", "team-research", 200),
        suite=read_suite(fields, input_schema),
        extra=fields.unknown(KEYS),
    )


def read_choices(fields: Fields, name: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """A list of known words; an unknown one is told with the nearest."""
    words = fields.words(name, f"[{allowed[0]}]")
    for word in words:
        if word not in allowed:
            problem = f"holds {quoted(word)}, not one of {', '.join(allowed)}"
            fields.invalid(name, problem, "Write the names as they are listed.")
    return tuple(word for word in words if word in allowed)


def _risk(fields: Fields) -> Risk | None:
    if fields.root.entries.get("risk_level") is None:
        problem = "is missing, and there is no default"
        fields.report(
            "error", "risk-level-missing", "risk_level", problem, "Write risk_level: low, medium or high."
        )
        return None
    return cast(Risk | None, fields.choice("risk_level", RISKS, "risk-level-invalid"))


def _schema(fields: Fields, name: str) -> MappingOf[str, Any] | None:
    """The schema as JSON values; None where it is absent or is no mapping."""
    node = fields.root.entries.get(name)
    if node is None:
        return None
    schema = json_value(node)
    fields.findings += check_schema(
        schema, path=fields.path, field=name, lines=line_index(node), line=fields.line(name)
    )
    return schema if isinstance(schema, dict) else None


def _check_whole(fields: Fields, manifest: Manifest) -> None:
    """What several fields say together."""
    granted = manifest.permissions or ()
    effects = sorted(_SIDE_EFFECTS.intersection(granted))
    if effects and manifest.idempotent is None:
        problem = f"asks for {' and '.join(effects)}, and idempotent does not say whether a retry repeats it"
        hint = "Write idempotent: true or false, or idempotent: {key: [order_id]}."
        fields.report("warning", "side-effect-not-idempotent", "permissions", problem, hint)
    suggested = suggested_risk(granted, ())
    if manifest.risk_level and is_understated(manifest.risk_level, suggested):
        problem = f"is {manifest.risk_level}, but the permissions call for {suggested}"
        fields.report(
            "warning", "risk-level-understated", "risk_level", problem, f"Write risk_level: {suggested}."
        )
    called = manifest.input_schema is not None or manifest.output_schema is not None
    if called and not effects and "cache_ttl" not in fields.root.entries:
        message = "cache_ttl is not given, so that no answer is kept."
        hint = "Write cache_ttl: 300 for a search or 3600 for a computation; 0 says that nothing may be kept."
        fields.findings.append(advice("cache-ttl-unset", message, hint, path=fields.path))
