"""Skills read from local folders, by the rules that archives are read by."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from catalog.bundles.characters import shown
from catalog.bundles.contents import Contents, file_too_large, mode_problems
from catalog.bundles.files import File, Limits, Tree
from catalog.bundles.findings import Finding, error, has_errors
from catalog.bundles.layout import ENTRIES, LEVELS, arrange, is_junk, tree_of
from catalog.bundles.listing import listed
from catalog.bundles.paths import canonical

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of skills that a local folder holds, sorted; or none, and the reasons in `findings`."""

    paths: tuple[Path, ...]
    findings: tuple[Finding, ...] = ()

    def trees(self, limits: Limits) -> Iterator[Tree]:
        """The tree of each folder, read when its turn comes, so that the bytes of one at a time are held."""
        return (read_folder(path, limits) for path in self.paths)


def find_folders(path: Path, limits: Limits) -> Folders:
    """What there is to read in a local folder that is a skill or a parent of skills (spec 1.6).

    Only the folders of skills are read. Links are refused, never followed; `path` itself may be
    one. What cannot be read is a finding, not an exception.
    """
    try:
        roots = sorted(_skill_folders(path, LEVELS))
    except OSError as fault:
        return Folders((), (_unreadable(str(fault.filename or path), fault),))
    if not roots:
        nothing = arrange(Contents(tuple(File(name, b"") for name in _names(path))), limits)
        return Folders((), nothing.findings)
    return Folders(tuple(roots))


def read_folder(path: Path, limits: Limits) -> Tree:
    """The tree of one skill folder; its `folder` is the name of `path`."""
    reader = _Reader(limits)
    reader.read(path, "")
    name = path.name or path.resolve().name
    tree = tree_of(name, reader.files, limits, reader.folders, reader.findings)
    return Tree(name, tree.files, listed(tree.findings))


def _names(path: Path) -> list[str]:
    return [name for name in sorted(os.listdir(path)) if canonical(name)[0] == name]


def _skill_folders(path: Path, levels: int) -> Iterator[Path]:
    """The outermost folders with a skill's file, in any spelling, at most `levels` below `path`."""
    with os.scandir(path) as entries:
        children = sorted(entries, key=lambda entry: entry.name)
    inner: list[Path] = []
    if levels and not any(child.name in ENTRIES for child in children):
        for child in children:
            if child.is_dir(follow_symlinks=False) and not is_junk(f"{child.name}/x"):
                inner += _skill_folders(path / child.name, levels - 1)
    if not inner and any(child.name in ENTRIES or child.name.lower() == "skill.md" for child in children):
        yield path
    yield from inner


class _Reader:
    def __init__(self, limits: Limits) -> None:
        self.files: list[File] = []
        self.folders: list[str] = []
        self.findings: list[Finding] = []
        self._limits, self._total = limits, 0

    def read(self, folder: Path, inside: str) -> None:
        """Read what is in the folder, whose path in the bundle is `inside`."""
        try:
            with os.scandir(folder) as entries:
                children = sorted(entries, key=lambda entry: entry.name)
        except OSError as fault:
            self.findings.append(_unreadable(inside, fault))
            return
        for child in children:
            if len(self.files) > self._limits.max_files or self._total > self._limits.max_bundle_bytes:
                return  # one file too many is enough for the layout to refuse the tree
            self._child(folder / child.name, f"{inside}{child.name}")

    def _child(self, place: Path, raw: str) -> None:
        path, found = canonical(raw)
        if is_junk(raw):
            self.files.append(File(raw, b""))
            return
        try:
            status = place.lstat()
            if stat.S_ISDIR(status.st_mode):
                self._folder(place, raw, path, found)
                return
            found += mode_problems(raw, status.st_mode, folder=False)
            self.findings += found
            if not has_errors(found):
                self._file(place, path)
        except OSError as fault:
            self.findings.append(_unreadable(raw, fault))

    def _folder(self, place: Path, raw: str, path: str, found: list[Finding]) -> None:
        self.findings += found
        # A canonical path bounds how deep this goes: it is refused beyond its greatest length.
        if path:
            self.folders.append(path)
            self.read(place, f"{raw}/")

    def _file(self, place: Path, path: str) -> None:
        handle = os.open(place, _FLAGS)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                self.findings += mode_problems(path, status.st_mode, folder=False)
                return
            content = file.read(self._limits.max_file_bytes + 1)
        if len(content) > self._limits.max_file_bytes:
            self.findings.append(file_too_large(path, max(status.st_size, len(content)), self._limits))
            return
        self._total += len(content)
        self.files.append(File(path, content))


def _unreadable(path: str, fault: OSError) -> Finding:
    text = f'"{shown(path)}" cannot be read: {fault.strerror or "unknown fault"}.'
    return error("file-unreadable", text, "Let the account that imports read it.", path=shown(path))
