"""What changes between two versions of a skill: files, permissions, risk, tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from catalog.models import Version
from catalog.models.skills import Risk


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
        ranks = Risk.values
        return self.before is not None and ranks.index(self.after.effective_risk) > ranks.index(
            self.before.effective_risk
        )


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
