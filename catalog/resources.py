"""A file of a served skill, by the path or the bare name that an agent asks for (contract, Feed)."""

from __future__ import annotations

from urllib.parse import unquote

from catalog.snapshots import Served, ServedFile

# Where a bare name is looked for.
FOLDERS = ("references", "assets")


class LeavesBundle(Exception):
    """The path points out of the skill's folder."""


class NoSuchFile(Exception):
    """The skill has no file of this path or name."""


class Ambiguous(Exception):
    """More than one folder has a file of this bare name."""


def find_resource(one: Served, path: str) -> ServedFile:
    """The file at the exact path, else the one of that bare name under references/ or assets/.

    Raises LeavesBundle, NoSuchFile, Ambiguous.
    """
    if leaves_bundle(path):
        raise LeavesBundle(f"The path {path[:200]} leaves the bundle.")
    by_path = {file.path: file for file in one.files}
    path = path.removeprefix("./")
    if path in by_path:
        return by_path[path]
    found = [by_path[place] for folder in FOLDERS if (place := f"{folder}/{path}") in by_path]
    if len(found) > 1:
        raise Ambiguous(f"{path} is in references/ and in assets/; name the folder.")
    if not found:
        raise NoSuchFile(f"{one.folder} {one.version} has no file {path[:200]}.")
    return found[0]


def leaves_bundle(path: str) -> bool:
    """Whether the path would leave a folder that it is joined to, also once it is decoded again."""
    for _ in range(3):
        parts = path.replace("\\", "/").split("/")
        if ".." in parts or parts[0] == "" or ":" in parts[0]:
            return True
        path = unquote(path)
    return False
