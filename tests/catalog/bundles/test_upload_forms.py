"""Which containers an upload may be, by its bytes and by the name it was given."""

from __future__ import annotations

import pytest

from tests.catalog.bundles.containers import SKILL, all_findings, pairs, plain_tgz, plain_zip, read, tar_of

MANIFEST = b"name: demo.skill\ndescription: Adds numbers.\nversion: 1.0.0\nrisk_level: low\n"
ZIP = plain_zip({"SKILL.md": SKILL})
TGZ = plain_tgz({"SKILL.md": SKILL})


@pytest.mark.parametrize("name", ["demo.zip", "DEMO.ZIP", "demo.skill", "demo", "", "upload.bin"])
def test_a_zip_is_read_under_any_name_that_does_not_contradict_it(name: str) -> None:
    assert pairs(read(ZIP, name)) == []


@pytest.mark.parametrize("name", ["demo.tar.gz", "demo.tgz", "Demo.TAR.GZ", ""])
def test_a_tar_in_gzip_is_read(name: str) -> None:
    assert pairs(read(TGZ, name)) == []


def test_a_plain_tar_is_read() -> None:
    assert pairs(read(tar_of(), "demo.tar")) == []


@pytest.mark.parametrize("name", ["SKILL.md", "skill.md", "Skill.MD", "My skill (1).md", "notes.markdown"])
def test_a_single_text_in_markdown_is_a_skill(name: str) -> None:
    upload = read(SKILL, name)
    assert pairs(upload) == []
    (tree,) = upload.trees
    assert tree.folder == ""
    assert [(file.path, file.content) for file in tree.files] == [("SKILL.md", SKILL)]


@pytest.mark.parametrize("name", ["manifest.yaml", "Manifest.YAML", "manifest.yml", "search.yaml"])
def test_a_single_text_in_yaml_is_a_manifest(name: str) -> None:
    (tree,) = read(MANIFEST, name).trees
    assert [(file.path, file.content) for file in tree.files] == [("manifest.yaml", MANIFEST)]
    assert tree.findings == ()


REFUSED = {
    "empty": (b"", "demo.zip", "archive-empty", "The upload is empty."),
    "empty text": (b"", "SKILL.md", "archive-empty", "The upload is empty."),
    "web page": (
        b"<!doctype html><title>Login</title>",
        "demo.zip",
        "archive-not-recognised",
        '"demo.zip" is a web page or XML, which cannot be read.',
    ),
    "7-Zip": (
        b"7z\xbc\xaf\x27\x1c\0\4",
        "demo.zip",
        "archive-not-recognised",
        '"demo.zip" is a 7-Zip archive, which cannot be read.',
    ),
    "RAR": (
        b"Rar!\x1a\x07\x01\0",
        "demo.rar",
        "archive-not-recognised",
        '"demo.rar" is a RAR archive, which cannot be read.',
    ),
    "text under another name": (
        SKILL,
        "skill.txt",
        "archive-not-recognised",
        '"skill.txt" is neither zip nor tar, which cannot be read.',
    ),
    "zip as tar.gz": (
        ZIP,
        "demo.tar.gz",
        "archive-type-mismatch",
        '"demo.tar.gz" is named as tar.gz and is zip.',
    ),
    "tar.gz as zip": (TGZ, "demo.zip", "archive-type-mismatch", '"demo.zip" is named as zip and is tar.gz.'),
    "zip as SKILL.md": (
        ZIP,
        "SKILL.md",
        "archive-type-mismatch",
        '"SKILL.md" is named as SKILL.md and is zip.',
    ),
    "tar as tar.gz": (
        tar_of(),
        "demo.tgz",
        "archive-type-mismatch",
        '"demo.tgz" is named as tar.gz and is tar.',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_upload_is_refused_by_name(case: str) -> None:
    data, name, code, message = REFUSED[case]
    upload = read(data, name)
    assert upload.trees == ()
    assert pairs(upload) == [(code, message)]
    assert upload.findings[0].hint


def test_the_size_of_the_upload_is_judged_first() -> None:
    assert pairs(read(b"PK\3\4" * 30, max_bundle_bytes=100)) == [
        ("archive-too-large", "The upload has 120 bytes; the limit is 100.")
    ]


def test_a_single_text_has_the_limit_of_a_file() -> None:
    assert pairs(read(SKILL, "SKILL.md", max_file_bytes=50)) == [
        ("archive-too-large", f'"SKILL.md" has {len(SKILL)} bytes; the limit for a file is 50.')
    ]


def test_hidden_characters_of_a_name_are_shown_as_escapes() -> None:
    (finding,) = all_findings(read(b"text", "evil\u202egnp.exe\n"))
    assert finding.message == '"evil\\u{202e}gnp.exe\\u{a}" is neither zip nor tar, which cannot be read.'
