"""The digest of a tree and the artifact made of it."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import zipfile

from catalog.bundles.artifacts import flat_zip
from catalog.bundles.digest import bundle_digest
from catalog.bundles.files import File
from tests.catalog.bundles.containers import pairs, read

FILES = (
    File("SKILL.md", b"---\nname: demo-skill\n---\n"),
    File("scripts/run.sh", b"#!/bin/sh\n"),
    File("docs/über.md", b""),
    File("docs.md", b"\0\xff"),
)
DIGEST = "a85a5e83c0a4d9fefd00b7defca41f29587c1c49edc2791bba42c4a4c955b553"
ARTIFACT = "29408528cb49bedbc11612d49f3f848b2bed6be3bab2e13343102b4580857022"


def test_the_digest_is_the_one_of_the_specification() -> None:
    expected = hashlib.sha256()
    for path, content in sorted((file.path.encode(), file.content) for file in FILES):
        expected.update(len(path).to_bytes(8, "big") + path + len(content).to_bytes(8, "big") + content)
        expected.update(b"\0awaken-skill-executable\0" if content.startswith(b"#!") else b"")
    assert bundle_digest(FILES) == expected.hexdigest() == DIGEST


def test_the_digest_does_not_depend_on_the_order() -> None:
    assert bundle_digest(reversed(FILES)) == DIGEST


def test_names_are_sorted_by_their_bytes() -> None:
    # "a/b" is before "a0", and U+FF41 before U+1F600: bytes of UTF-8, not code units of UTF-16.
    paths = ["a.b", "a/b", "a0", "Z", "\uff41", "\U0001f600"]
    with zipfile.ZipFile(io.BytesIO(flat_zip(File(path, b"") for path in paths))) as archive:
        assert archive.namelist() == ["Z", "a.b", "a/b", "a0", "\uff41", "\U0001f600"]


def test_moving_bytes_between_name_and_content_changes_the_digest() -> None:
    assert bundle_digest([File("ab", b"c")]) != bundle_digest([File("a", b"bc")])
    assert bundle_digest([]) == hashlib.sha256().hexdigest()


def test_the_artifact_is_flat_sorted_and_dateless() -> None:
    with zipfile.ZipFile(io.BytesIO(flat_zip(reversed(FILES)))) as archive:
        listed = [(i.filename, i.date_time, oct(i.external_attr >> 16)) for i in archive.infolist()]
        assert archive.testzip() is None
    time = (1980, 1, 1, 0, 0, 0)
    assert listed == [
        ("SKILL.md", time, "0o100644"),
        ("docs.md", time, "0o100644"),
        ("docs/über.md", time, "0o100644"),
        ("scripts/run.sh", time, "0o100755"),
    ]


def test_the_artifact_is_the_same_bytes_always() -> None:
    assert hashlib.sha256(flat_zip(FILES)).hexdigest() == ARTIFACT


def test_the_artifact_is_the_same_bytes_in_another_process() -> None:
    program = (
        "import hashlib; from catalog.bundles.artifacts import flat_zip; from tests.catalog.bundles.test_digest import FILES;"
        "print(hashlib.sha256(flat_zip(FILES)).hexdigest())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ARTIFACT


def test_the_artifact_reads_back_as_the_same_tree() -> None:
    upload = read(flat_zip(FILES))
    assert pairs(upload) == []
    assert bundle_digest(upload.trees[0].files) == DIGEST
