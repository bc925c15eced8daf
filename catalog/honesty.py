"""Semver honesty: what changed between two versions, and the least bump that says so (spec 2.5).

What a change of a schema calls for is told in `catalog.schema_changes`. A permission or a tool that
is gained is minor, and shown; one that is given up is patch. The rule holds below 1.0.0 too
(`semver.satisfies`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from catalog import semver
from catalog.bundles.findings import Finding, error, warning
from catalog.schema_changes import Change, compare_schemas

PARTS: tuple[semver.Part, ...] = ("patch", "minor", "major")
MAX_TOLD = 5


@dataclass(frozen=True, slots=True)
class Declared:
    """What callers rely on in a version; None means that the version does not say."""

    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    permissions: tuple[str, ...] | None = None
    allowed_tools: tuple[str, ...] | None = None


def changes(before: Declared, after: Declared) -> tuple[Change, ...]:
    """What differs between two versions, incompatible changes first; never raises on valid schemas."""
    found = [
        *compare_schemas("input_schema", before.input_schema, after.input_schema, "input"),
        *compare_schemas("output_schema", before.output_schema, after.output_schema, "output"),
        *_grants("permissions", before.permissions or (), after.permissions or (), "the permission"),
        *_tools(before.allowed_tools, after.allowed_tools),
    ]
    return tuple(sorted(found, key=lambda change: -PARTS.index(change.part)))


def least_bump(found: tuple[Change, ...]) -> semver.Part:
    """The least part that has to be raised for these changes; a patch where there are none."""
    return max((change.part for change in found), key=PARTS.index, default="patch")


def check_honesty(version: str, last: str, before: Declared, after: Declared) -> tuple[Finding, ...]:
    """Findings about `version`, published after `last`: an incompatible change without a new major
    version is an error, a permission or tool that is gained a warning.

    A version that is not above `last` mends an older line and is not judged. Raises ValueError
    where either is not a semantic version.
    """
    if semver.precedence_key(version) <= semver.precedence_key(last):
        return ()
    found = changes(before, after)
    findings = [
        warning("permission-gained", f"{version} {change.what}, which {last} did not.", _GAINED_HINT)
        for change in found
        if change.what.startswith("asks for")
    ]
    breaking = [change for change in found if change.part == "major"]
    if breaking and semver.parse(version).major == semver.parse(last).major:
        told = "; ".join(f"{change.where} {change.what}" for change in breaking[:MAX_TOLD])
        more = f"; and {len(breaking) - MAX_TOLD} more" if len(breaking) > MAX_TOLD else ""
        message = f"{version} breaks callers of {last}: {told}{more}."
        hint = f"Publish it as {semver.bump(last, 'major')}, or take the change back."
        findings.insert(0, error("semver-dishonest", message, hint))
    return tuple(findings)


_GAINED_HINT = "Say in the notes of the release what it is needed for."


def _grants(where: str, before: tuple[str, ...], after: tuple[str, ...], what: str) -> Iterator[Change]:
    for name in sorted(set(after) - set(before)):
        yield Change("minor", where, f"asks for {what} {name}")
    for name in sorted(set(before) - set(after)):
        yield Change("patch", where, f"no longer asks for {what} {name}")


def _tools(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> Iterator[Change]:
    """Without the field a skill may use what its agent may, so that only a list can be widened."""
    if before is not None and after is None:
        yield Change("minor", "allowed-tools", "asks for every tool of its agent")
    elif before is None and after is not None:
        yield Change("patch", "allowed-tools", "narrows the tools")
    else:
        yield from _grants("allowed-tools", before or (), after or (), "the tool")
