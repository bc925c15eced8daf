"""Local folders, read by the rules of archives."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from catalog.bundles.files import Limits
from catalog.bundles.folders import find_folders, read_folder
from tests.catalog.bundles.containers import SKILL, all_findings, pairs, read_folders


def write(root: Path, **files: bytes) -> Path:
    for name, content in files.items():
        place = root / name.replace("__", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return root


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    root = tmp_path / "demo"
    (root / "docs").mkdir(parents=True)
    (root / "SKILL.md").write_bytes(SKILL)
    (root / "docs" / "a.md").write_bytes(b"text")
    return root


def test_a_folder_is_a_skill(demo: Path) -> None:
    (tree,) = read_folders(demo, Limits()).trees
    assert (tree.folder, tree.findings) == ("demo", ())
    assert [(file.path, file.content) for file in tree.files] == [("SKILL.md", SKILL), ("docs/a.md", b"text")]


def test_a_folder_is_a_parent_of_skills(demo: Path) -> None:
    other = demo.parent / "set" / "other"
    other.mkdir(parents=True)
    (other / "manifest.yaml").write_bytes(b"name: other\n")
    (demo.parent / "README.md").write_bytes(b"not of any skill")
    upload = read_folders(demo.parent, Limits())
    assert upload.findings == ()
    assert [tree.folder for tree in upload.trees] == ["demo", "other"]


def test_a_folder_is_read_when_its_turn_comes(demo: Path) -> None:
    other = write(demo.parent, other__SKILL=b"").joinpath("other")
    (other / "SKILL.md").write_bytes(SKILL)
    found = find_folders(demo.parent, Limits())
    assert found.paths == (demo, other)
    trees = found.trees(Limits())
    assert next(trees).folder == "demo"
    (other / "late.md").write_bytes(b"late")
    assert [file.path for file in next(trees).files] == ["SKILL", "SKILL.md", "late.md"]


def test_links_are_refused_and_not_followed(demo: Path) -> None:
    (demo / "link.md").symlink_to("/etc/passwd")
    (demo / "docs" / "up").symlink_to(demo.parent, target_is_directory=True)
    tree = read_folder(demo, Limits())
    assert [(finding.code, finding.message) for finding in tree.findings] == [
        ("entry-symlink", '"docs/up" is a symbolic link.'),
        ("entry-symlink", '"link.md" is a symbolic link.'),
    ]
    assert [file.path for file in tree.files] == ["SKILL.md", "docs/a.md"]


def test_a_linked_skill_of_a_parent_is_not_entered(demo: Path, tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    parent.mkdir()
    (parent / "linked").symlink_to(demo, target_is_directory=True)
    assert read_folders(parent, Limits()).trees == ()


def test_special_files_are_refused_and_not_opened(demo: Path) -> None:
    os.mkfifo(demo / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(demo / "s"))
        tree = read_folder(demo, Limits())
    assert [(finding.code, finding.message) for finding in tree.findings] == [
        ("entry-special-file", '"pipe" is a named pipe.'),
        ("entry-special-file", '"s" is a socket.'),
    ]


def test_modes_that_change_the_user_are_refused(demo: Path) -> None:
    (demo / "docs" / "a.md").chmod(0o4755)
    assert [finding.code for finding in read_folder(demo, Limits()).findings] == ["entry-setuid"]


def test_names_that_are_not_utf8_are_refused(demo: Path) -> None:
    try:
        (demo / os.fsdecode(b"caf\xe9.md")).write_bytes(b"x")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    assert [(f.code, f.message) for f in read_folder(demo, Limits()).findings] == [
        ("filename-not-utf8", 'The name "caf\\u{dce9}.md" is not UTF-8.')
    ]


def test_limits_hold(demo: Path) -> None:
    (demo / "big").write_bytes(bytes(500))
    tree = read_folder(demo, Limits(max_file_bytes=400))
    assert [finding.message for finding in tree.findings] == [
        '"big" has 500 bytes; the limit for a file is 400.'
    ]
    tree = read_folder(demo, Limits(max_bundle_bytes=300))
    assert [finding.code for finding in tree.findings] == ["archive-too-large"]
    tree = read_folder(demo, Limits(max_files=1))
    assert [finding.code for finding in tree.findings] == ["archive-too-many-files"]


def test_deep_folders_end(demo: Path) -> None:
    place = demo
    for _ in range(300):
        place = place / "dd"
        place.mkdir()
    assert read_folder(demo, Limits()).findings[0].code == "path-too-long"


def test_junk_and_repositories_are_told(demo: Path) -> None:
    (demo / ".DS_Store").write_bytes(b"")
    (demo / ".git").mkdir()
    (demo / ".git" / "config").write_bytes(b"")
    tree = read_folder(demo, Limits())
    assert [finding.code for finding in tree.findings] == ["vcs-metadata", "junk-files-ignored"]


def test_what_is_no_skill_is_told(tmp_path: Path) -> None:
    missing = "There is no SKILL.md and no manifest.yaml at the root or in a folder near it."
    assert pairs(read_folders(tmp_path, Limits())) == [("skill-md-missing", missing)]
    (tmp_path / "Skill.md").write_bytes(SKILL)
    (finding,) = all_findings(read_folders(tmp_path, Limits()))
    assert finding.message == '"Skill.md" is not found by agents on Linux; it must be named SKILL.md.'
    place = tmp_path / "absent"
    assert pairs(read_folders(place, Limits())) == [
        ("file-unreadable", f'"{place}" cannot be read: No such file or directory.')
    ]
