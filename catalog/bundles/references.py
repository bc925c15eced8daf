"""What the Markdown of a bundle refers to: links and images, inside the bundle and out of it."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from catalog.bundles.files import Tree
from catalog.bundles.findings import Finding, warning
from catalog.bundles.texts import Text

MAX_PER_FILE = 20

# Every part is bounded, so that the search stays linear.
_LINK = re.compile(r"(!?)\[[^\[\]\n]{0,500}\]\([ ]{0,3}(<[^<>\n]{0,1000}>|[^\s()]{1,1000})")
_DEFINITION = re.compile(
    r"^[ ]{0,3}()\[[^\[\]\n]{1,200}\]:[ ]{0,3}(<[^<>\n]{0,1000}>|\S{1,1000})", re.MULTILINE
)
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
    for pattern in (_LINK, _DEFINITION):
        for match in pattern.finditer(text.prose):
            target = match[2].strip("<>").strip()
            yield Reference(target, text.line(match.start()), match[1] == "!")
    for match in _IMG.finditer(text.prose):
        yield Reference(match[1], text.line(match.start()), image=True)


def check_references(text: Text, tree: Tree, *, names_files: bool) -> tuple[Finding, ...]:
    """Findings about what one Markdown file refers to.

    `names_files` asks for files that are missing too, and takes a path in a code span for a reference
    where it begins with `scripts/`, `references/`, `assets/` or another folder of the bundle. That
    holds for SKILL.md, from which an agent takes the names it reads.
    """
    findings: dict[tuple[str, str], Finding] = {}
    for reference in references_of(text):
        finding = _judge(reference, text.path, tree, names_files)
        if finding is not None:
            findings.setdefault((finding.code, reference.target), finding)
    if names_files:
        folders = {*_FOLDERS, *(file.path.partition("/")[0] for file in tree.files if "/" in file.path)}
        for match in _CODE_PATH.finditer(text.text):
            reference = Reference(match[1], text.line(match.start()))
            finding = _inside(reference, text.path, tree, names_files)
            if finding is not None and match[1].partition("/")[0] in folders:
                findings.setdefault((finding.code, reference.target), finding)
    return tuple(findings.values())[:MAX_PER_FILE]


def _judge(reference: Reference, path: str, tree: Tree, names_files: bool) -> Finding | None:
    target = reference.target
    if reference.image and re.match(r"(?i)(https?:)?//", target):
        message = f"Line {reference.line} of {path} shows an image of another host, which learns who reads the skill."
        hint = "Put the image into assets/ and link it from there."
        return warning("remote-image", message, hint, path=path, line=reference.line)
    if target.lower().startswith("file:") or _WINDOWS_DRIVE.match(target):
        return _escapes(reference, path)
    if not target or target.startswith(("#", "?", "//")) or _SCHEME.match(target):
        return None
    return _inside(reference, path, tree, names_files)


def _inside(reference: Reference, path: str, tree: Tree, names_files: bool) -> Finding | None:
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
    if not names_files or not looks_like_path or _exists(resolved, tree):
        return None
    near = difflib.get_close_matches(resolved, [file.path for file in tree.files[:1000]], 1, 0.75)
    hint = f"Did you mean {near[0]}?" if near else "Add the file or remove the reference."
    message = f"Line {reference.line} of {path} names {_shown(resolved)}, which is not in the bundle."
    return warning("broken-reference", message, hint, path=path, line=reference.line)


def _exists(path: str, tree: Tree) -> bool:
    return path == "." or tree.get(path) is not None or any(f.path.startswith(path + "/") for f in tree.files)


def _escapes(reference: Reference, path: str) -> Finding:
    message = (
        f"Line {reference.line} of {path} refers to {_shown(reference.target)}, which is outside the bundle."
    )
    hint = "Put the file into the bundle and link it with a relative path."
    return warning("reference-escapes", message, hint, path=path, line=reference.line)


def _shown(target: str) -> str:
    text = target if target.isprintable() else ascii(target)[1:-1]
    return text if len(text) <= 120 else text[:120] + "…"
