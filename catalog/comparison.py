"""What changes between two versions of a skill: files, permissions, risk, tools, schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from catalog import honesty, semver
from catalog.bundles.bundle import is_riskier
from catalog.models import Version
from catalog.schema_changes import Change, Side

DECLARED = ("risk_level", "stability", "permissions", "tags")


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that is not the same in both: `change` is added, removed or changed; sizes in bytes."""

    path: str
    change: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The way from `before` (None: there is nothing yet) to `after`."""

    before: Version | None
    after: Version
    permissions_gained: tuple[str, ...]
    permissions_lost: tuple[str, ...]
    tools_gained: tuple[str, ...]
    tools_lost: tuple[str, ...]
    files: tuple[FileChange, ...]

    @property
    def same_bytes(self) -> bool:
        """Whether not one byte differs."""
        return self.before is not None and self.before.bundle_sha256 == self.after.bundle_sha256

    @property
    def riskier(self) -> bool:
        """Whether the effective risk is higher than it was."""
        return self.before is not None and is_riskier(self.after.effective_risk, self.before.effective_risk)


def compare(before: Version | None, after: Version) -> Comparison:
    """Compare two versions; two queries at most."""
    held = set(before.permissions) if before else set()
    tools, tools_before = _tools(after), _tools(before)
    return Comparison(
        before=before,
        after=after,
        permissions_gained=tuple(sorted(set(after.permissions) - held)),
        permissions_lost=tuple(sorted(held - set(after.permissions))),
        tools_gained=tuple(sorted(tools - tools_before)),
        tools_lost=tuple(sorted(tools_before - tools)),
        files=_changes(_files(before), _files(after)),
    )


@dataclass(frozen=True, slots=True)
class DeclaredChange:
    """A field of the declaration that is not the same in both."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A difference of a schema: on the side of callers (input) or of their readers (output)."""

    side: Side
    where: str
    what: str
    part: semver.Part


@dataclass(frozen=True, slots=True)
class Bump:
    """How far a version number has to move for what changed, and how far it does.

    `named` is the greatest part in which the numbers differ, or None where `after` is not the higher
    one; `next` is the least honest number after `before`.
    """

    changes: tuple[Change, ...]
    least: semver.Part
    named: semver.Part | None
    next: str

    @property
    def of_schemas(self) -> tuple[SchemaChange, ...]:
        """The changes of the input and the output."""
        told = ((_side(one.where), one) for one in self.changes)
        return tuple(SchemaChange(side, one.where, one.what, one.part) for side, one in told if side)

    @property
    def why(self) -> tuple[Change, ...]:
        """The changes that call for `least`."""
        return tuple(one for one in self.changes if one.part == self.least)

    @property
    def falls_short(self) -> bool:
        """Whether the number moves less than what changed calls for."""
        parts = honesty.PARTS
        return self.named is not None and parts.index(self.named) < parts.index(self.least)

    @property
    def breaks(self) -> bool:
        """Whether callers break under a number that says they do not; publishing refuses that."""
        return self.falls_short and self.least == "major"


def compare_declared(before: Version, after: Version) -> tuple[DeclaredChange, ...]:
    """What is declared otherwise beside the bytes."""
    old, new = before.declaration, after.declaration
    return tuple(DeclaredChange(key, old[key], new[key]) for key in DECLARED if old[key] != new[key])


def bump_of(before: Version, after: Version) -> Bump:
    """The least bump from one version to another, and whether the number of `after` is honest."""
    found = honesty.changes(promised_by(before), promised_by(after))
    least = honesty.least_bump(found)
    return Bump(found, least, _named(before.version, after.version), semver.bump(before.version, least))


def promised_by(version: Version) -> honesty.Declared:
    """What callers rely on in a version of the record."""
    tools = version.fields.get("allowed_tools")
    return honesty.Declared(
        input_schema=version.fields.get("input_schema"),
        output_schema=version.fields.get("output_schema"),
        permissions=tuple(version.permissions),
        allowed_tools=None if tools is None else tuple(tools),
    )


def _side(where: str) -> Side | None:
    if where.startswith("input_schema"):
        return "input"
    return "output" if where.startswith("output_schema") else None


def _named(before: str, after: str) -> semver.Part | None:
    if semver.precedence_key(after) <= semver.precedence_key(before):
        return None
    old, new = semver.parse(before), semver.parse(after)
    if old.major != new.major:
        return "major"
    return "minor" if old.minor != new.minor else "patch"


def _tools(version: Version | None) -> set[str]:
    fields: dict[str, Any] = version.fields if version else {}
    return set(fields.get("allowed_tools") or ())


def _files(version: Version | None) -> dict[str, tuple[str, int]]:
    """Digest and size of each file by its path."""
    if version is None:
        return {}
    rows = version.files.values_list("path", "blob_id", "blob__size")
    return {path: (digest, size) for path, digest, size in rows}


def _changes(before: dict[str, tuple[str, int]], after: dict[str, tuple[str, int]]) -> tuple[FileChange, ...]:
    changes = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        change = "added" if old is None else "removed" if new is None else "changed"
        changes.append(FileChange(path, change, old[1] if old else None, new[1] if new else None))
    return tuple(changes)
