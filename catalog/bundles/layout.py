"""Where the skills lie in the files of a container, and what does not belong in a skill.

A skill folder holds SKILL.md or manifest.yaml. It is the root, or lies at most two levels below
the root or below a sole top folder; several are a batch, and none lies inside another (spec 1.6).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from catalog.bundles.characters import shown
from catalog.bundles.contents import Contents
from catalog.bundles.files import File, Limits, Tree, Upload
from catalog.bundles.findings import Finding, advice, error, in_order, warning
from catalog.bundles.kinds import kind_problems
from catalog.bundles.paths import collisions, problems

SKILL = "SKILL.md"
MANIFEST = "manifest.yaml"
ENTRIES = frozenset({SKILL, "skill.md", MANIFEST})
_NEARLY = frozenset({"skill.md", "manifest.yaml", "manifest.yml"})  # in any case
LEVELS = 2

_JUNK_FOLDERS = frozenset(
    {
        "__macosx",
        ".appledouble",
        ".spotlight-v100",
        ".trashes",
        ".fseventsd",
        ".temporaryitems",
        "$recycle.bin",
    }
)
_JUNK_NAMES = frozenset(
    {".ds_store", ".lsoverride", "icon\r", "thumbs.db", "ehthumbs.db", "desktop.ini", ".directory"}
)
_VCS = frozenset({".git", ".hg", ".svn", ".bzr", "_darcs", ".jj", ".pijul", "git~1"})
_CVS = re.compile(r"(?:^|/)CVS/(?:Entries|Root|Repository)$")
_VENDORED = frozenset(
    {"node_modules", "site-packages", "bower_components", "__pypackages__", ".venv", "jspm_packages"}
)
_VENDORED_FILES = re.compile(
    r"(?:^|/)(?:pyvenv\.cfg|vendor/(?:autoload\.php|modules\.txt)|[^/]+\.(?:dist|egg)-info/[^/]+)$"
)


def is_junk(path: str) -> bool:
    """Whether an operating system left the file behind (Finder, Explorer)."""
    *parents, name = path.lower().split("/")
    return name.startswith("._") or name in _JUNK_NAMES or not _JUNK_FOLDERS.isdisjoint(parents)


def skill_folders(paths: Iterable[str]) -> list[str]:
    """The folders of the skills among these paths, sorted; "" is the root.

    A folder whose SKILL.md is spelt in another case is one where no other claims its files, so
    that the skill is refused by name and not passed over.
    """
    paths = list(paths)
    levels = LEVELS + (len({path.partition("/")[0] for path in paths}) == 1)
    near = [path for path in paths if path.count("/") <= levels]
    found = {_folder_of(path) for path in near if _name(path) in ENTRIES}
    misspelt = {_folder_of(path) for path in near if _name(path).lower() == "skill.md"} - found
    around = {outer for folder in found for outer in _parents(folder)}
    found |= misspelt - around
    return sorted(folder for folder in found if found.isdisjoint(_parents(folder)))


def arrange(contents: Contents, limits: Limits) -> Upload:
    """One tree for each skill folder; what was found on the way goes to the skill it concerns."""
    kept = [file.path for file in contents.files if not is_junk(file.path)]
    roots = skill_folders(kept)
    if not roots:
        return Upload((), in_order([*contents.findings, _missing(kept, contents.folders)]))
    if clashes := collisions((), roots):
        return Upload((), in_order([*contents.findings, *clashes]))
    homes = dict.fromkeys(roots)
    files: dict[str | None, list[File]] = {root: [] for root in (None, *roots)}
    folders: dict[str | None, list[str]] = {root: [] for root in (None, *roots)}
    findings: dict[str | None, list[Finding]] = {root: [] for root in (None, *roots)}
    for file in contents.files:
        home = _home(file.path, homes)
        files[home].append(File(_relative(file.path, home), file.content) if home else file)
    for folder in contents.folders:
        home = _home(folder, homes)
        folders[home].append(_relative(folder, home))
    for finding in contents.findings:
        home = _home(finding.path, homes)
        findings[home].append(replace(finding, path=_relative(finding.path, home)))
    around = [*findings[None], *_outside([file.path for file in files[None]])]
    if len(roots) == 1:
        findings[roots[0]] += around
        around = []
    trees = (tree_of(_name(root), files[root], limits, folders[root], findings[root]) for root in roots)
    return Upload(tuple(trees), in_order(around))


def tree_of(
    folder: str,
    files: Sequence[File],
    limits: Limits,
    folders: Sequence[str] = (),
    findings: Sequence[Finding] = (),
) -> Tree:
    """The tree of one bundle with what is wrong with its names, its layout and the kinds of its files.

    Paths are canonical and relative to the bundle; `folders` names those that may be empty, and
    `findings` are those of the container. Junk files are left out.
    """
    kept = sorted((file for file in files if not is_junk(file.path)), key=lambda file: file.path.encode())
    paths = [file.path for file in kept]
    found = [*findings, *_junk([file.path for file in files if is_junk(file.path)]), *_sizes(kept, limits)]
    for path in paths:
        found += problems(path, limits)
    found += collisions(paths, folders)
    found += _skill_file(paths)
    found += _misplaced(paths)
    for file in kept:
        found += kind_problems(file)
    return Tree(folder, tuple(kept), in_order(found))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _parents(path: str) -> list[str]:
    parts = path.split("/") if path else []
    return ["/".join(parts[:n]) for n in range(len(parts))]


def _home(path: str, roots: Mapping[str, object]) -> str | None:
    """The skill folder that the path lies in or is."""
    return next((folder for folder in (*_parents(path)[: LEVELS + 2], path) if folder in roots), None)


def _relative(path: str, root: str | None) -> str:
    return path[len(root) + 1 :] if root else path


def _missing(paths: Sequence[str], folders: Sequence[str]) -> Finding:
    """Why no skill was found, by the nearest thing to one."""
    code = "skill-md-missing"
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        if _name(path).lower() in _NEARLY and _name(path) not in ENTRIES:
            return _wrong_case(path)
        if _name(path) in ENTRIES:
            text = f'"{shown(path)}" lies too deep to be found.'
            hint = f"Pack the skill folder itself, or at most {LEVELS} folders around it."
            return error(code, text, hint, path=shown(path))
    if any(_name(folder).lower() == "skill.md" for folder in (*folders, *map(_folder_of, paths))):
        return error(code, "SKILL.md is a folder.", "Make SKILL.md a file with frontmatter and instructions.")
    text = "There is no SKILL.md and no manifest.yaml at the root or in a folder near it."
    return error(code, text, "Add SKILL.md to the folder of the skill.")


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def _wrong_case(path: str) -> Finding:
    right = MANIFEST if _name(path).lower().startswith("manifest") else SKILL
    text = f'"{shown(path)}" is not found by agents on Linux; it must be named {right}.'
    return error("skill-md-missing", text, f"Rename it to {right}.", path=shown(path))


def _skill_file(paths: Sequence[str]) -> list[Finding]:
    names = {path for path in paths if path.lower() == "skill.md"}
    if SKILL in names:
        return []
    if "skill.md" in names:
        text = "The skill file is named skill.md; some agents look for SKILL.md alone."
        return [warning("skill-md-lowercase", text, "Rename it to SKILL.md.", path="skill.md")]
    if names:
        return [_wrong_case(path) for path in sorted(names)]
    return [] if MANIFEST in paths else [_missing(paths, ())]


def _sizes(files: Sequence[File], limits: Limits) -> list[Finding]:
    found = []
    if len(files) > limits.max_files:
        text = f"The bundle holds {len(files):,} files; the limit is {limits.max_files:,}."
        found.append(error("archive-too-many-files", text, "Leave out what the skill does not need."))
    total = sum(file.size for file in files)
    if total > limits.max_bundle_bytes:
        text = f"The bundle has {total:,} bytes; the limit is {limits.max_bundle_bytes:,}."
        found.append(error("archive-too-large", text, "Leave out what the skill does not need."))
    return found


def _junk(paths: Sequence[str]) -> list[Finding]:
    if not paths:
        return []
    verb, them = ("are", "them") if len(paths) > 1 else ("is", "it")
    text = f"{_listed(paths)} {verb} left out: the operating system wrote {them}."
    return [warning("junk-files-ignored", text, "Nothing need be done.", path=shown(paths[0]))]


def _outside(paths: Sequence[str]) -> list[Finding]:
    junk = [path for path in paths if is_junk(path)]
    stray = [path for path in paths if not is_junk(path)]
    if not stray:
        return _junk(junk)
    verb, are = ("lie", "are") if len(stray) > 1 else ("lies", "is")
    text = f"{_listed(stray)} {verb} outside the skill folders and {are} not stored."
    hint = "Move into the skill folder what the skill needs."
    return [*_junk(junk), advice("files-outside-skills", text, hint)]


def _listed(paths: Sequence[str]) -> str:
    if len(paths) == 1:
        return f'"{shown(paths[0])}"'
    return f'{len(paths):,} files ("{shown(paths[0])}" first)'


def _misplaced(paths: Sequence[str]) -> list[Finding]:
    """Repositories, installed dependencies and other skills inside the bundle, each once."""
    vcs: dict[str, None] = {}
    vendored: dict[str, None] = {}
    found = []
    for path in paths:
        parts = path.split("/")
        lowered = path.lower().split("/")
        place = next((n for n, part in enumerate(lowered) if part in _VCS), -1)
        if place >= 0:
            vcs["/".join(parts[: place + 1])] = None
        elif _CVS.search(path):
            vcs[_folder_of(path)] = None
        place = next((n for n, part in enumerate(lowered[:-1]) if part in _VENDORED), -1)
        if place >= 0:
            vendored["/".join(parts[: place + 1])] = None
        elif _VENDORED_FILES.search(path):
            vendored[_folder_of(path)] = None
        if len(parts) > 1 and lowered[-1] == "skill.md":
            text = f'"{shown(path)}" is inside another skill; it is stored as a plain file.'
            hint = "Publish it as a skill of its own, or rename it."
            found.append(warning("nested-skill-md", text, hint, path=shown(path)))
    for folder in vcs:
        text = f'"{shown(folder)}" belongs to version control; its hooks would run elsewhere.'
        found.append(
            error("vcs-metadata", text, "Pack the files without the repository.", path=shown(folder))
        )
    for folder in vendored:
        text = f'"{shown(folder)}" holds installed dependencies, which nobody reviews.'
        hint = "Name the dependencies in a requirements file instead."
        found.append(warning("vendored-dependencies", text, hint, path=shown(folder)))
    return found
