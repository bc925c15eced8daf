"""The fields of a manifest that tell how a skill is run, depended on, retried and replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping as MappingOf
from typing import Any

from catalog.bundles.fields import MAX_ITEMS, Fields, kind, quoted
from catalog.bundles.names import MAX_VERSION_CHARS, folder_name, is_manifest_name, is_semver, is_skill_name
from catalog.bundles.yamltext import Mapping, Scalar, Sequence

BACKOFFS = ("exponential", "linear", "constant", "fixed", "none")
ISOLATIONS = ("process", "container")

_FUNCTION = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_NUMBERS = re.compile(r"[\s^~>=v]*(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?")
_ERRORS_EXAMPLE = "[{code: upstream_timeout, retryable: true, description: The service did not answer}]"


def read_run(fields: Fields) -> str | None:
    """The entry point, `path` or `path:function`."""
    run = fields.text("run", "run.py", 512)
    if run is None:
        return None
    path, colon, function = run.rpartition(":")
    # A drive letter before the colon is a path that leaves the bundle, not an entry point.
    if not colon or len(path) == 1:
        path = run
    elif not _FUNCTION.fullmatch(function):
        fields.invalid("run", f"is {quoted(run)}, whose function is no name", "Write run: run.py:main.")
        return None
    return run if fields.file("run", path) else None


def read_names(fields: Fields, name: str, own: str) -> tuple[str, ...]:
    """A list of names of other skills."""
    names = fields.words(name, "[web.search]")
    good: list[str] = []
    for other in names:
        if not _is_name(other):
            fields.invalid(
                name, f"holds {quoted(other)}, which is not a skill name", "Write it as web.search."
            )
        elif own and folder_name(other) == folder_name(own):
            fields.invalid(name, f"names {quoted(other)}, which is the skill itself", "Take it out.")
        else:
            good.append(other)
    return tuple(good)


def read_dependencies(fields: Fields, own: str) -> dict[str, str]:
    """The lowest version asked for, by folder name."""
    node = fields.node("dependencies", "{web.search: 1.3.0}")
    if node is None:
        return {}
    if not isinstance(node, Mapping):
        hint = "Write dependencies: {web.search: 1.3.0}, each name with its lowest version."
        fields.invalid("dependencies", f"is {kind(node)}, not a mapping", hint)
        return {}
    if len(node.entries) > MAX_ITEMS:
        problem = f"has {len(node.entries):,} entries, more than {MAX_ITEMS}"
        fields.invalid("dependencies", problem, "Depend on less.")
        return {}
    below = fields.below("dependencies", node)
    lowest: dict[str, str] = {}
    for name, value in node.entries.items():
        if not _check_dependency(below, name, own, lowest):
            continue
        text = value.text if isinstance(value, Scalar) else ""
        if len(text) > MAX_VERSION_CHARS or not is_semver(text):
            shown = quoted(text) if text else kind(value)
            problem = f"is {shown}, not the lowest version that will do"
            hint = f"Write {name}: {_proposed_minimum(text)}, which takes newer ones of the same major too."
            below.report("error", "dependency-version-invalid", name, problem, hint)
            continue
        lowest[folder_name(name)] = text.partition("+")[0]
    return lowest


def _check_dependency(below: Fields, name: str, own: str, lowest: MappingOf[str, str]) -> bool:
    if not _is_name(name):
        line = below.line(name)
        below.invalid(quoted(name), "is not a skill name", "Write it as web.search.", line)
        return False
    if own and folder_name(name) == folder_name(own):
        problem = "is the skill itself, which cannot depend on itself"
        below.report("error", "dependency-self", name, problem, "Take it out.")
        return False
    if folder_name(name) in lowest:
        problem = f"is named twice, since both are called {folder_name(name)} by an agent"
        below.report("error", "dependency-duplicate", name, problem, "Keep one of the two.")
        return False
    return True


def _is_name(name: str) -> bool:
    return is_manifest_name(name) or is_skill_name(name)


def _proposed_minimum(text: str) -> str:
    numbers = _NUMBERS.match(text[:64])
    return ".".join(str(int(number or 0)) for number in numbers.groups()) if numbers else "1.0.0"


def read_idempotence(fields: Fields) -> tuple[bool | None, tuple[str, ...]]:
    """Whether a retry is harmless, and the fields of the input by which a repeated call is known."""
    node = fields.root.entries.get("idempotent")
    if not isinstance(node, Mapping):
        return fields.flag("idempotent"), ()
    below = fields.below("idempotent", node)
    below.unknown(("key",))
    key = below.words("key", "[order_id]")
    keys = node.entries.get("key")
    if keys is None or (isinstance(keys, Sequence) and not keys.items):
        fields.invalid("idempotent", "names no key", "Write idempotent: {key: [order_id]}, or true.")
    return (True if key else None), key


def read_errors(fields: Fields) -> tuple[MappingOf[str, Any], ...]:
    """The errors that a caller may see: code, retryable and a description."""
    node = fields.node("errors", _ERRORS_EXAMPLE)
    if node is None:
        return ()
    if not isinstance(node, Sequence) or len(node.items) > MAX_ITEMS:
        problem = f"is {kind(node)}, not a list of up to {MAX_ITEMS} errors"
        fields.invalid("errors", problem, f"Write errors: {_ERRORS_EXAMPLE}.")
        return ()
    read: dict[str, MappingOf[str, Any]] = {}
    for index, item in enumerate(node.items):
        if not isinstance(item, Mapping):
            fields.invalid(
                "errors",
                f"holds {kind(item)} where a mapping belongs",
                f"Write {_ERRORS_EXAMPLE}.",
                item.line,
            )
        elif one := _read_error(fields.below(f"errors[{index}]", item), item.line):
            if one["code"] in read:
                fields.invalid(
                    "errors", f"names {quoted(one['code'])} twice", "Keep one of the two.", item.line
                )
            read[one["code"]] = one
    return tuple(read.values())


def _read_error(one: Fields, line: int) -> dict[str, Any] | None:
    code = one.text("code", "upstream_timeout", 64)
    retryable = one.flag("retryable")
    description = one.text("description", "The service did not answer", 500)
    extra = one.unknown(("code", "retryable", "description"))
    for name, example in (("code", "upstream_timeout"), ("retryable", "true")):
        if name not in one.root.entries:
            one.invalid(name, "is missing", f"Write {name}: {example}.", line)
    if code is None or retryable is None:
        return None
    return {"code": code, "retryable": retryable, "description": description or "", **extra}


def read_retry(fields: Fields) -> MappingOf[str, Any] | None:
    """How often, and with which pauses, a caller tries again."""
    retry = fields.mapping("retry", "{max_attempts: 3, backoff: exponential}")
    if retry is None:
        return None
    read: dict[str, Any] = retry.unknown(("max_attempts", "backoff"))
    node = retry.node("max_attempts", "3")
    if node is not None:
        text = node.text if isinstance(node, Scalar) else ""
        if re.fullmatch(r"[1-9][0-9]?|100", text):
            read["max_attempts"] = int(text)
        else:
            value = quoted(text) if isinstance(node, Scalar) else kind(node)
            retry.invalid(
                "max_attempts", f"is {value}, not a whole number from 1 to 100", "Write max_attempts: 3."
            )
    if backoff := retry.choice("backoff", BACKOFFS):
        read["backoff"] = backoff
    return read


def read_runtime(fields: Fields) -> MappingOf[str, Any] | None:
    """What the entry point needs to run."""
    runtime = fields.mapping("runtime", '{language: python, version: ">=3.11"}')
    if runtime is None:
        return None
    read: dict[str, Any] = runtime.unknown(("language", "version", "requirements", "isolation"))
    for name, example in (
        ("language", "python"),
        ("version", '">=3.11"'),
        ("requirements", "requirements.txt"),
    ):
        text = runtime.text(name, example, 200)
        if text is not None and (name != "requirements" or runtime.file(name, text)):
            read[name] = text
    if isolation := runtime.choice("isolation", ISOLATIONS):
        read["isolation"] = isolation
    return read
