"""Where skills are found in an archive, and what does not belong in one."""

from __future__ import annotations

import pytest

from tests.catalog.bundles.containers import SKILL, all_findings, pairs, plain_zip, read

TOOL = b"name: demo.skill\n"


def found(*paths: str, **contents: bytes) -> list[tuple[str, list[str]]]:
    """Folder and paths of each tree in a zip of these files."""
    upload = read(plain_zip(dict.fromkeys(paths, SKILL) | contents))
    return [(tree.folder, [file.path for file in tree.files]) for tree in upload.trees]


@pytest.mark.parametrize(
    ("paths", "trees"),
    [
        (["SKILL.md", "a.md"], [("", ["SKILL.md", "a.md"])]),
        (["manifest.yaml", "run.py"], [("", ["manifest.yaml", "run.py"])]),
        (["demo-main/SKILL.md", "demo-main/a.md"], [("demo-main", ["SKILL.md", "a.md"])]),
        (["top/demo/SKILL.md"], [("demo", ["SKILL.md"])]),
        (["top/skills/demo/SKILL.md", "top/README.md"], [("demo", ["SKILL.md"])]),
        (["skills/demo/SKILL.md", "README.md"], [("demo", ["SKILL.md"])]),
        (["a/SKILL.md", "b/manifest.yaml"], [("a", ["SKILL.md"]), ("b", ["manifest.yaml"])]),
        (["top/x/a/SKILL.md", "top/b/SKILL.md"], [("b", ["SKILL.md"]), ("a", ["SKILL.md"])]),
        (["SKILL.md", "sub/SKILL.md"], [("", ["SKILL.md", "sub/SKILL.md"])]),
        (["a/SKILL.md", "a/b/manifest.yaml"], [("a", ["SKILL.md", "b/manifest.yaml"])]),
        (["__MACOSX/._a", "a/SKILL.md", "a/.DS_Store", "a/Icon\r", "a/x/Thumbs.db"], [("a", ["SKILL.md"])]),
    ],
)
def test_skills_are_found_at_the_root_and_near_it(
    paths: list[str], trees: list[tuple[str, list[str]]]
) -> None:
    assert found(*paths) == trees


MISSING = {
    ("README.md",): "There is no SKILL.md and no manifest.yaml at the root or in a folder near it.",
    ("Skill.md",): '"Skill.md" is not found by agents on Linux; it must be named SKILL.md.',
    ("a/SKILL.MD",): '"SKILL.MD" is not found by agents on Linux; it must be named SKILL.md.',
    ("manifest.yml",): '"manifest.yml" is not found by agents on Linux; it must be named manifest.yaml.',
    ("SKILL.md/a.txt",): "SKILL.md is a folder.",
    ("a/b/c/SKILL.md", "README.md"): '"a/b/c/SKILL.md" lies too deep to be found.',
    ("t/a/b/c/SKILL.md",): '"t/a/b/c/SKILL.md" lies too deep to be found.',
    ("Skill.md", "manifest.yaml"): '"Skill.md" is not found by agents on Linux; it must be named SKILL.md.',
}


@pytest.mark.parametrize("paths", MISSING)
def test_a_missing_skill_file_is_told_by_the_nearest_thing_to_one(paths: tuple[str, ...]) -> None:
    upload = read(plain_zip(dict.fromkeys(paths, b"x")))
    assert pairs(upload) == [("skill-md-missing", MISSING[paths])]


def test_a_misspelt_skill_of_a_batch_is_refused_alone() -> None:
    upload = read(plain_zip({"a/SKILL.md": SKILL, "b/Skill.md": SKILL}))
    assert [(tree.folder, [f.code for f in tree.findings]) for tree in upload.trees] == [
        ("a", []),
        ("b", ["skill-md-missing"]),
    ]


def test_folders_of_skills_that_are_one_on_some_systems_are_refused() -> None:
    upload = read(plain_zip({"Demo/SKILL.md": SKILL, "demo/SKILL.md": SKILL}))
    assert upload.trees == ()
    assert pairs(upload) == [("path-collision", '"Demo" and "demo" are one folder on some systems.')]


WARNED = {
    "skill.md": (
        "skill-md-lowercase",
        "The skill file is named skill.md; some agents look for SKILL.md alone.",
    ),
    "sub/SKILL.md": (
        "nested-skill-md",
        '"sub/SKILL.md" is inside another skill; it is stored as a plain file.',
    ),
    ".DS_Store": ("junk-files-ignored", '".DS_Store" is left out: the operating system wrote it.'),
    ".git/config": ("vcs-metadata", '".git" belongs to version control; its hooks would run elsewhere.'),
    "sub/.SVN/entries": (
        "vcs-metadata",
        '"sub/.SVN" belongs to version control; its hooks would run elsewhere.',
    ),
    ".git": ("vcs-metadata", '".git" belongs to version control; its hooks would run elsewhere.'),
    "CVS/Root": ("vcs-metadata", '"CVS" belongs to version control; its hooks would run elsewhere.'),
    "node_modules/x/a.js": (
        "vendored-dependencies",
        '"node_modules" holds installed dependencies, which nobody reviews.',
    ),
    "lib/venv/pyvenv.cfg": (
        "vendored-dependencies",
        '"lib/venv" holds installed dependencies, which nobody reviews.',
    ),
}


@pytest.mark.parametrize("path", WARNED)
def test_what_does_not_belong_in_a_skill_is_told(path: str) -> None:
    files = {path: b"x"} if path == "skill.md" else {"SKILL.md": SKILL, path: b"x"}
    (tree,) = read(plain_zip(files)).trees
    assert [(finding.code, finding.message) for finding in tree.findings] == [WARNED[path]]


@pytest.mark.parametrize(
    "path", [".gitignore", ".gitattributes", "docs/cvs/notes.md", "vendor/notes.md", "git/a.md"]
)
def test_what_only_resembles_it_passes(path: str) -> None:
    assert pairs(read(plain_zip({"SKILL.md": SKILL, path: b"x"}))) == []


def test_junk_is_counted_and_left_out() -> None:
    upload = read(
        plain_zip({"d/SKILL.md": SKILL, "d/.DS_Store": b"", "d/._SKILL.md": b"", "__MACOSX/d/._x": b""})
    )
    assert pairs(upload) == [
        ("junk-files-ignored", '2 files (".DS_Store" first) are left out: the operating system wrote them.'),
        ("junk-files-ignored", '"__MACOSX/d/._x" is left out: the operating system wrote it.'),
    ]


def test_files_outside_the_skills_of_an_archive_are_told() -> None:
    upload = read(plain_zip({"a/SKILL.md": SKILL, "b/SKILL.md": SKILL, "README.md": b"x", "LICENSE": b"x"}))
    (finding,) = upload.findings
    assert finding.severity == "advice"
    assert (finding.code, finding.message) == (
        "files-outside-skills",
        '2 files ("README.md" first) lie outside the skill folders and are not stored.',
    )


def test_names_are_judged_relative_to_the_skill() -> None:
    deep = "/".join("d" * 8)
    upload = read(
        plain_zip({"top/x/demo/SKILL.md": SKILL, f"top/x/demo/{deep}/a": b"x", "top/x/demo/a:": b""})
    )
    assert [(f.code, f.path) for f in all_findings(upload)] == [("filename-illegal-char", "a:")]
