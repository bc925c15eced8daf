"""What a container holds once it is read, and the rules that zip and tar share."""

from __future__ import annotations

import stat
from dataclasses import dataclass

from catalog.bundles.characters import shown
from catalog.bundles.files import MIB, File, Limits
from catalog.bundles.findings import Finding, error

BATCH = 2
"""An archive of several bundles may inflate to this many times `max_bundle_bytes`."""
BATCH_FILES = 5
"""An archive of several bundles may hold this many times `max_files` entries."""
RATIO_FREE_BYTES = 10 * MIB
"""Below this size no compression ratio is suspicious: text alone reaches a hundred."""

_SPECIAL = {
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}


@dataclass(frozen=True, slots=True)
class Contents:
    """The files and folders of a container, by canonical path relative to its root.

    Where `findings` holds an error, the files are those whose names could be read, without content.
    """

    files: tuple[File, ...] = ()
    folders: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def refused(finding: Finding) -> Contents:
    """A container that could not be read at all."""
    return Contents(findings=(finding,))


def mode_problems(name: str, mode: int, *, folder: bool) -> list[Finding]:
    """What a Unix mode says against an entry; 0 says nothing."""
    kind = stat.S_IFMT(mode)
    if kind == stat.S_IFLNK:
        return [symlink(name)]
    if kind in _SPECIAL:
        return [special(name, _SPECIAL[kind])]
    if mode & (stat.S_ISUID | stat.S_ISGID) and not folder:
        message = f'"{shown(name)}" has its set-user-id or set-group-id bit set.'
        return [
            error("entry-setuid", message, "Clear the bit (chmod ug-s) and pack again.", path=shown(name))
        ]
    return []


def symlink(name: str) -> Finding:
    """A symbolic link, wherever it points."""
    message = f'"{shown(name)}" is a symbolic link.'
    return error("entry-symlink", message, "Replace the link by the file it points to.", path=shown(name))


def special(name: str, what: str) -> Finding:
    """A device, a pipe, a socket or an entry of an unknown type."""
    message = f'"{shown(name)}" is {what}.'
    return error("entry-special-file", message, "Pack regular files and folders only.", path=shown(name))


def duplicate(name: str) -> Finding:
    """A second entry of the same name: readers disagree which one counts."""
    message = f'The archive holds "{shown(name)}" twice.'
    hint = "Pack the archive afresh instead of adding to an old one."
    return error("archive-duplicate-entry", message, hint, path=shown(name))


def corrupt(message: str, name: str = "") -> Finding:
    """An archive that is damaged or was never whole."""
    return error("archive-corrupt", message, "Pack and upload the archive again.", path=shown(name))


def too_many(limits: Limits, count: int | None = None) -> Finding:
    """More entries than any bundle or batch may have."""
    held = f"{count:,}" if count else f"over {limits.max_files * BATCH_FILES:,}"
    message = f"The archive holds {held} entries; the limit is {limits.max_files:,} files for each bundle."
    return error("archive-too-many-files", message, "Leave out what the skill does not need.")


def file_too_large(name: str, size: int, limits: Limits) -> Finding:
    """One file over `max_file_bytes`."""
    message = f'"{shown(name)}" has {size:,} bytes; the limit for a file is {limits.max_file_bytes:,}.'
    return error("archive-too-large", message, "Leave the file out or make it smaller.", path=shown(name))


def inflates_too_large(limits: Limits, size: int | None = None) -> Finding:
    """More bytes than any bundle or batch may have."""
    held = f"{size:,}" if size else f"over {limits.max_bundle_bytes * BATCH:,}"
    message = (
        f"The archive unpacks to {held} bytes; the limit is {limits.max_bundle_bytes:,} for each bundle."
    )
    return error("archive-too-large", message, "Leave out what the skill does not need.")


def ratio_too_high(limits: Limits) -> Finding:
    """A compression bomb, or a file of one repeated byte."""
    message = f"The archive unpacks to more than {limits.max_ratio} times its size."
    return error("archive-compression-ratio", message, "Leave out files of repeated data.")


def exceeds_ratio(inflated: int, packed: int, limits: Limits) -> bool:
    """Whether a total is out of proportion to what it is packed in; both in bytes."""
    return inflated > RATIO_FREE_BYTES and inflated > packed * limits.max_ratio
