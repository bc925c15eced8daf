"""What the name and the first bytes of a file say about it."""

from __future__ import annotations

import pytest

from catalog.bundles.files import File
from catalog.bundles.kinds import kind_problems
from tests.catalog.bundles.containers import plain_zip, tar_of

PE = b"MZ" + bytes(62) + b"PE\0\0"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
PYC = b"\xa7\r\r\n" + bytes(12)
CLASS = b"\xca\xfe\xba\xbe\0\0\0\x41"
FAT = b"\xca\xfe\xba\xbe\0\0\0\x02"
UTF16_SVG = '<svg onload="x"/>'.encode("utf-16")

FLAGGED = {
    ("tool", b"\x7fELF\2"): ["native-executable"],
    ("tool.exe", PE): ["native-executable"],
    ("tool", FAT): ["native-executable"],
    ("tool", b"\xcf\xfa\xed\xfe"): ["native-executable"],
    ("lib.so", b"\x7fELF\2"): ["native-executable"],
    ("lib.so.1.2", b"\x7fELF\2"): ["native-executable"],
    ("setup.msi", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"): ["native-executable"],
    ("logo.png", PE): ["content-type-mismatch", "native-executable"],
    ("notes.md", b"\x7fELF\2"): ["content-type-mismatch", "native-executable"],
    ("logo.png", b"version https://git-lfs"): ["content-type-mismatch"],
    ("logo.jpg", PNG): ["content-type-mismatch"],
    ("a.txt", PNG): ["content-type-mismatch"],
    ("a.pyc", PYC): ["bytecode-file"],
    ("a.bin", PYC): ["bytecode-file"],
    ("A.class", CLASS): ["bytecode-file"],
    ("a.wasm", b"\0asm\1"): ["bytecode-file"],
    ("a.zip", plain_zip({"a": b"x"})): ["nested-archive"],
    ("a.whl", plain_zip({"a": b"x"})): ["nested-archive"],
    ("a.tar", tar_of()): ["nested-archive"],
    ("a.tgz", b"\x1f\x8b\x08"): ["nested-archive"],
    ("a.html", b"<p>"): ["active-content"],
    ("A.HTM", b""): ["active-content"],
    ("page", b"\n<!DOCTYPE html>"): ["active-content"],
    ("a.svg", b"<svg onload='x'/>"): ["active-content"],
    ("a.svg", b"<svg><script>1</script></svg>"): ["active-content"],
    ("a.svg", b"<svg><a href='JavaScript:x'/></svg>"): ["active-content"],
    ("a.svg", b"<svg><foreignObject/></svg>"): ["active-content"],
    ("a.svg", b"<!DOCTYPE svg [<!ENTITY x 'y'>]><svg/>"): ["active-content"],
    ("a.svg", UTF16_SVG): ["active-content"],
    ("a.xml", b"<svg><script/></svg>"): ["active-content"],
}


@pytest.mark.parametrize(("path", "content"), FLAGGED)
def test_what_a_reviewer_must_see_is_warned_of(path: str, content: bytes) -> None:
    found = kind_problems(File(path, content))
    assert sorted(finding.code for finding in found) == FLAGGED[path, content]
    assert {(finding.severity, finding.path) for finding in found} == {("warning", path)}


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.png", PNG), ("empty.png", b""), ("a.svg", b"<svg><path d='M0 0'/></svg>"), ("a.md", b"MZ is a magic number"),
        ("a.docx", plain_zip({"a": b"x"})), ("run.py", b"#!/usr/bin/env python\n"), ("a.txt", b"BC is a language"),
        ("a.md", "永久".encode()), ("LICENSE", b"MIT"), ("a.xml", b"<a>onload=1</a>"), ("a.b/c", b"text"),
    ],
)  # fmt: skip
def test_ordinary_files_pass(path: str, content: bytes) -> None:
    assert kind_problems(File(path, content)) == []


def test_the_messages_name_file_and_kind() -> None:
    found = kind_problems(File("assets/logo.png", PE))
    assert [finding.message for finding in found] == [
        '"assets/logo.png" is a Windows program; a reviewer cannot read it.',
        '"assets/logo.png" is a Windows program, not what its name says.',
    ]
    assert [finding.message for finding in kind_problems(File("a.zip", b"PK\3\4"))] == [
        '"a.zip" is a zip archive inside the bundle; what it holds is not checked.'
    ]
    assert [finding.message for finding in kind_problems(File("a.html", b""))] == [
        '"a.html" is a web page, which can run scripts.'
    ]
