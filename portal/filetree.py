"""The files of a version as a tree of folders, folders first. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from catalog.models import BundleFile


@dataclass(slots=True)
class Node:
    """A folder (with `children`) or a file (with `file`); `tone` is that of its worst finding."""

    name: str
    file: BundleFile | None = None
    tone: str = ""
    children: list[Node] = field(default_factory=list)


def tree_of(files: Iterable[BundleFile], tones: Mapping[str, str]) -> list[Node]:
    """The nodes of the top folder."""
    top = Node("")
    folders: dict[str, Node] = {"": top}
    for file in files:
        folder, _, name = file.path.rpartition("/")
        _folder(folder, folders).children.append(Node(name, file, tones.get(file.path, "")))
    for node in folders.values():
        node.children.sort(key=lambda child: (child.file is not None, child.name.casefold()))
    return top.children


def _folder(path: str, folders: dict[str, Node]) -> Node:
    known = folders.get(path)
    if known is None:
        parent, _, name = path.rpartition("/")
        known = folders[path] = Node(name)
        _folder(parent, folders).children.append(known)
    return known
