"""What the Markdown of a bundle refers to: links and images, inside the bundle and out of it."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from urllib.parse import unquote

from catalog.bundles.files import Tree
from catalog.bundles.findings import Finding, warning
from catalog.bundles.texts import Text

MAX_PER_FILE = 20
_MAX_COMPARED = 200
"""Names that a missing one is compared with, to propose the nearest."""

# Every part is bounded, so that the search stays linear.
_LINK = re.compile(r"\[[^\[\]\n]{0,500}\]\([ ]{0,3}(<[^<>\n]{0,1000}>|[^\s()]{1,1000})")
# With the line feed before it rather than `^`, so that the search runs from line to line.
_DEFINITION = re.compile(r"\n[ ]{0,3}\[[^\[\]\n]{1,200}\]:[ ]{0,3}(<[^<>\n]{0,1000}>|\S{1,1000})")
_CODE_PATH = re.compile(
    r"`(?:[a-z0-9.]{1,20} )?(?:\./)?([\w.-]{1,80}(?:/[\w.-]{1,80}){1,8}\.\w{1,10})(?: [^`\n]{0,200})?`"
)
_FOLDERS = ("scripts", "references", "assets")
_IMG = re.compile(
    r"<img\s[^<>]{0,1000}?\bsrc\s*=\s*[\"']?\s*((?:https?:)?//[^\s\"'<>]{1,500})", re.IGNORECASE
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}:")
_WINDOWS_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_PLACEHOLDER = re.compile(r"[{}<>$*]|\.\.\.|…|path/to/|^(url|link|path|file|href|src)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reference:
    """A target that a Markdown file names, with its line; `image` where the target is drawn."""

    target: str
    line: int
    image: bool = False


def references_of(text: Text) -> Iterator[Reference]:
    """The targets of links, images and link definitions outside code."""
    # Where the text has none, its prose has none, and need not be told from code.
    if text.holds("]("):
        prose, end = text.prose, 0
        for match in _LINK.finditer(prose):
            image = match.start() > end and prose[match.start() - 1] == "!"
            end = match.end()
            yield Reference(match[1].strip("<>").strip(), text.line(match.start()), image)
    if text.holds("]:"):
        # One place on, for the line feed in front.
        for match in _DEFINITION.finditer(f"\n{text.prose}"):
            yield Reference(match[1].strip("<>").strip(), text.line(match.start()))
    if text.holds("<") and "<img" in text.folded:
        for match in _IMG.finditer(text.prose):
            yield Reference(match[1], text.line(match.start()), image=True)


def check_references(
    text: Text, references: Iterable[Reference], tree: Tree, *, names_files: bool
) -> tuple[Finding, ...]:
    """Findings about what one Markdown file refers to, given its `references_of`.

    `names_files` asks for files that are missing too, and takes a path in a code span for a reference
    where it begins with `scripts/`, `references/`, `assets/` or another folder of the bundle. That
    holds for SKILL.md, from which an agent takes the names it reads.
    """
    findings: dict[tuple[str, str], Finding] = {}
    places = _places(tree) if names_files else None
    judged: set[str] = set()
    for reference in chain(references, _code_paths(text, tree) if names_files else ()):
        if reference.target in judged and not reference.image:
            continue
        judged.add(reference.target)
        if (finding := _judge(reference, text.path, places)) is not None:
            findings.setdefault((finding.code, reference.target), finding)
        if len(findings) == MAX_PER_FILE:
            break
    return tuple(findings.values())


def _code_paths(text: Text, tree: Tree) -> Iterator[Reference]:
    folders = {*_FOLDERS, *(file.path.partition("/")[0] for file in tree.files if "/" in file.path)}
    for match in _CODE_PATH.finditer(text.text):
        target = match[1].removeprefix("./")
        if target.partition("/")[0] in folders:
            yield Reference(target, text.line(match.start()))


def _places(tree: Tree) -> dict[str, bool]:
    """The paths of a bundle's files (True) and of the folders around them (False)."""
    places = {".": False}
    for file in tree.files:
        places[file.path] = True
        folder = file.path.rpartition("/")[0]
        while folder and folder not in places:
            places[folder] = False
            folder = folder.rpartition("/")[0]
    return places


def _judge(reference: Reference, path: str, places: dict[str, bool] | None) -> Finding | None:
    target = reference.target
    if reference.image and re.match(r"(?i)(https?:)?//", target):
        message = f"Line {reference.line} of {path} shows an image of another host, which learns who reads the skill."
        hint = "Put the image into assets/ and link it from there."
        return warning("remote-image", message, hint, path=path, line=reference.line)
    if target.lower().startswith("file:") or _WINDOWS_DRIVE.match(target):
        return _escapes(reference, path)
    if not target or target.startswith(("#", "?", "//")) or _SCHEME.match(target):
        return None
    return _inside(reference, path, places)


def _inside(reference: Reference, path: str, places: dict[str, bool] | None) -> Finding | None:
    """A finding for a relative target that leaves the bundle or is not in it."""
    target = unquote(re.split(r"[?#]", reference.target, maxsplit=1)[0]).replace("\\", "/")
    if not target or _PLACEHOLDER.search(target):
        return None
    if target.startswith("/"):
        return _escapes(reference, path)
    resolved = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if resolved == ".." or resolved.startswith("../"):
        return _escapes(reference, path)
    looks_like_path = "/" in target or "." in target
    if places is None or not looks_like_path or resolved in places:
        return None
    files = [place for place, is_file in places.items() if is_file][:_MAX_COMPARED]
    near = difflib.get_close_matches(resolved, files, 1, 0.75)
    hint = f"Did you mean {near[0]}?" if near else "Add the file or remove the reference."
    message = f"Line {reference.line} of {path} names {_shown(resolved)}, which is not in the bundle."
    return warning("broken-reference", message, hint, path=path, line=reference.line)


def _escapes(reference: Reference, path: str) -> Finding:
    message = (
        f"Line {reference.line} of {path} refers to {_shown(reference.target)}, which is outside the bundle."
    )
    hint = "Put the file into the bundle and link it with a relative path."
    return warning("reference-escapes", message, hint, path=path, line=reference.line)


def _shown(target: str) -> str:
    text = target if target.isprintable() else ascii(target)[1:-1]
    return text if len(text) <= 120 else text[:120] + "…"
