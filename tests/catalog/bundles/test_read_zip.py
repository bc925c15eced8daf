"""Zip archives: what is refused, with which words, and what real tools write and we take."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib

import pytest

from tests.catalog.bundles.containers import SKILL, Entry, all_findings, pairs, plain_zip, read, zip_of


def descriptor(content: bytes, packed: int, *, magic: bool = True, form: str = "<3L") -> bytes:
    return (b"PK\7\x08" if magic else b"") + struct.pack(form, zlib.crc32(content), packed, len(content))


def unicode_path(raw: bytes, name: bytes) -> bytes:
    value = b"\1" + zlib.crc32(raw).to_bytes(4, "little") + name
    return struct.pack("<2H", 0x7075, len(value)) + value


PLAIN = Entry(b"docs/a.md", b"some text")
SMALL = zip_of(PLAIN)
NO_DIRECTORY = "The archive has no directory at its end; it was cut short."
REFUSED = {
    "traversal": (zip_of(Entry(b"../a")), "path-traversal", 'The path "../a" leads out of the bundle.'),
    "symlink": (
        zip_of(Entry(b"link", b"/etc/passwd", mode=stat.S_IFLNK | 0o777)),
        "entry-symlink",
        '"link" is a symbolic link.',
    ),
    "device": (
        zip_of(Entry(b"dev", b"", mode=stat.S_IFCHR)),
        "entry-special-file",
        '"dev" is a character device.',
    ),
    "pipe": (zip_of(Entry(b"p", b"", mode=stat.S_IFIFO)), "entry-special-file", '"p" is a named pipe.'),
    "setuid": (
        zip_of(Entry(b"run", mode=stat.S_IFREG | 0o4755)),
        "entry-setuid",
        '"run" has its set-user-id or set-group-id bit set.',
    ),
    "folder with data": (
        zip_of(Entry(b"docs/", b"hidden", mode=stat.S_IFDIR | 0o755)),
        "archive-corrupt",
        'The folder "docs/" carries 6 bytes of data.',
    ),
    "folder by mode": (
        zip_of(Entry(b"docs", b"", mode=stat.S_IFDIR | 0o755)),
        "archive-header-mismatch",
        '"docs" is a file by its name and a folder by its mode.',
    ),
    "no name": (zip_of(Entry(b"")), "archive-corrupt", "An entry of the archive has no name."),
    "twice": (zip_of(PLAIN, PLAIN), "archive-duplicate-entry", 'The archive holds "docs/a.md" twice.'),
    "encrypted": (
        zip_of(Entry(b"a", flags=1)),
        "archive-encrypted",
        '"a" is encrypted and cannot be checked.',
    ),
    "AES": (zip_of(Entry(b"a", method=99)), "archive-encrypted", '"a" is encrypted and cannot be checked.'),
    "method": (
        zip_of(Entry(b"a", method=97)),
        "archive-unsupported-compression",
        '"a" is compressed by method 97, which is not supported.',
    ),
    "LZMA": (
        zip_of(Entry(b"a", method=14)),
        "archive-unsupported-compression",
        '"a" is compressed by LZMA, which is not supported.',
    ),
    "names differ": (
        zip_of(Entry(b"a.md", local={"name": b"b.md"})),
        "archive-header-mismatch",
        'The two headers of "a.md" differ in their names.',
    ),
    "methods differ": (
        zip_of(Entry(b"a", local={"method": 0})),
        "archive-header-mismatch",
        'The two headers of "a" differ in their compression methods.',
    ),
    "flags differ": (
        zip_of(Entry(b"a", local={"flags": 8})),
        "archive-header-mismatch",
        'The two headers of "a" differ in their flags.',
    ),
    "checksums differ": (
        zip_of(Entry(b"a", local={"crc": 1})),
        "archive-header-mismatch",
        'The two headers of "a" differ in their checksums.',
    ),
    "sizes differ": (
        zip_of(Entry(b"a", local={"size": 2})),
        "archive-header-mismatch",
        'The two headers of "a" differ in their sizes.',
    ),
    "descriptor lies": (
        zip_of(Entry(b"a", flags=8, descriptor=descriptor(b"y", 3))),
        "archive-header-mismatch",
        'The data descriptor of "a" differs from the directory.',
    ),
    "descriptor missing": (
        zip_of(Entry(b"a", flags=8)),
        "archive-header-mismatch",
        'The data descriptor of "a" differs from the directory.',
    ),
    "other name in an extra field": (
        zip_of(Entry(b"a.md", extra=unicode_path(b"a.md", b"../b.md"))),
        "archive-header-mismatch",
        '"a.md" has another name, "../b.md", in an extra field.',
    ),
    "other name in the local extra field": (
        zip_of(Entry(b"a.md", local={"extra": unicode_path(b"a.md", b"b.md")})),
        "archive-header-mismatch",
        '"a.md" has another name, "b.md", in an extra field.',
    ),
    "not listed": (
        zip_of(Entry(b"a.md", listed=False)),
        "archive-header-mismatch",
        "The archive holds 37 bytes at offset 120 that its directory does not list.",
    ),
    "listed only": (
        zip_of(Entry(b"a.md", central={"offset": 5})),
        "archive-header-mismatch",
        'The directory lists "a.md", which is not in the archive.',
    ),
    "beyond the files": (
        zip_of(Entry(b"a", central={"packed": 999}, local={"packed": 999})),
        "archive-header-mismatch",
        '"a" claims bytes beyond the end of the files.',
    ),
    "overlap": (
        zip_of(PLAIN, Entry(b"docs/a.md", b"", central={"name": b"b.md", "offset": 120})),
        "archive-overlapping-entries",
        '"b.md" shares its bytes with another entry.',
    ),
    "count": (
        zip_of(PLAIN, end={"here": 1, "total": 1}),
        "archive-header-mismatch",
        "The archive gives its number of entries as 1 and lists 2.",
    ),
    "counts": (
        zip_of(PLAIN, end={"here": 1}),
        "archive-header-mismatch",
        "The end record gives two numbers of entries, 1 and 2.",
    ),
    "split": (
        zip_of(PLAIN, end={"disk": 1}),
        "archive-corrupt",
        "The archive is one part of a split archive.",
    ),
    "directory elsewhere": (
        zip_of(PLAIN, end={"offset": 0xFFFFFF}),
        "archive-corrupt",
        "The directory of the archive is not where its end record says.",
    ),
    "prefix": (b"#!/bin/sh\n" + SMALL, "archive-prefix-data", "10 bytes stand before the archive."),
    "trailing": (SMALL + b"<html>", "archive-trailing-data", "6 bytes follow the archive."),
    "archive in the comment": (
        zip_of(comment=SMALL),
        "archive-trailing-data",
        "The comment of the archive holds a second archive.",
    ),
    "cut short": (SMALL[:-30], "archive-corrupt", NO_DIRECTORY),
    "no directory": (SMALL[: SMALL.index(b"PK\1\2")], "archive-corrupt", NO_DIRECTORY),
    "damaged record": (
        SMALL.replace(b"PK\1\2", b"PK\1\1").replace(b"PK\1\1", b"PK\1\2", 1),
        "archive-corrupt",
        "Record 2 of the directory of the archive is damaged.",
    ),
    "empty": (zip_of(skill=False), "archive-empty", "The archive holds no files."),
    "checksum": (
        zip_of(Entry(b"a", central={"crc": 7}, local={"crc": 7})),
        "archive-corrupt",
        'The checksum of "a" does not match its content.',
    ),
    "damaged data": (
        zip_of(Entry(b"a", packed=b"\xff\xff\xff")),
        "archive-corrupt",
        'The compressed data of "a" is damaged.',
    ),
    "bytes after the data": (
        zip_of(Entry(b"a", packed=Entry(b"a").body() + b"more")),
        "archive-corrupt",
        'The compressed data of "a" does not end where it should.',
    ),
    "size too small": (
        zip_of(Entry(b"a", bytes(5_000_000), central={"size": 10}, local={"size": 10})),
        "archive-size-mismatch",
        '"a" does not unpack to the 10 bytes that the archive declares.',
    ),
    "size too large": (
        zip_of(Entry(b"a", central={"size": 10}, local={"size": 10})),
        "archive-size-mismatch",
        '"a" does not unpack to the 10 bytes that the archive declares.',
    ),
    "stored size": (
        zip_of(Entry(b"a", method=0, central={"size": 10}, local={"size": 10})),
        "archive-size-mismatch",
        '"a" does not unpack to the 10 bytes that the archive declares.',
    ),
    "overlong UTF-8": (
        zip_of(Entry(b"a\xc0\xaf.md", flags=0x800)),
        "filename-not-utf8",
        'The name "a\\xc0\\xaf.md" is marked as UTF-8 and is not.',
    ),
    "GBK": (
        zip_of(Entry("永久.md".encode("gbk"), flags=2)),
        "filename-encoding-unknown",
        'The name "\\xd3\\xc0\\xbe\\xc3.md" is in an encoding that the archive does not tell.',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_hostile_zip_is_refused_by_name(case: str) -> None:
    data, code, message = REFUSED[case]
    upload = read(data)
    assert upload.trees == ()
    assert (code, message) in pairs(upload)
    assert all(finding.hint for finding in upload.findings)


@pytest.mark.parametrize(
    ("limits", "content", "code", "message"),
    [
        (
            {"max_file_bytes": 9},
            bytes(10),
            "archive-too-large",
            '"a" has 10 bytes; the limit for a file is 9.',
        ),
        (
            {"max_bundle_bytes": 2000},
            bytes(5000),
            "archive-too-large",
            f"The archive unpacks to {5000 + len(SKILL):,} bytes; the limit is 2,000 for each bundle.",
        ),
        (
            {"max_bundle_bytes": 2000},
            bytes(3000),
            "archive-too-large",
            f"The bundle has {3000 + len(SKILL):,} bytes; the limit is 2,000.",
        ),
        ({"max_files": 1}, b"", "archive-too-many-files", "The bundle holds 2 files; the limit is 1."),
        (
            {"max_bundle_bytes": 50 << 20, "max_file_bytes": 50 << 20},
            bytes(11 << 20),
            "archive-compression-ratio",
            "The archive unpacks to more than 100 times its size.",
        ),
    ],
)
def test_limits_are_judged_from_the_directory(
    limits: dict[str, int], content: bytes, code: str, message: str
) -> None:
    assert (code, message) in pairs(read(zip_of(Entry(b"a", content)), "a.zip", **limits))


def test_too_many_entries_are_refused_before_any_is_read() -> None:
    upload = read(zip_of(*(Entry(b"%d" % n) for n in range(20))), max_files=3)
    assert pairs(upload) == [
        ("archive-too-many-files", "The archive holds 21 entries; the limit is 3 files for each bundle.")
    ]


def test_every_problem_is_reported_at_once() -> None:
    upload = read(zip_of(Entry(b"../a"), Entry(b"b", flags=1), Entry(b"c?"), Entry(b"D/x"), Entry(b"d/y")))
    codes = {finding.code for finding in upload.findings}
    assert codes == {"path-traversal", "archive-encrypted", "filename-illegal-char", "path-collision"}


def test_thousands_of_problems_are_counted_not_listed() -> None:
    upload = read(zip_of(*(Entry(b"../%d" % n) for n in range(300))))
    assert len(upload.findings) == 51
    assert ("path-traversal", "250 more problems of this kind are not listed.") in pairs(upload)


ACCEPTED = {
    "stored": zip_of(Entry(b"a.md", method=0)),
    "no mode": zip_of(Entry(b"a.md", mode=0)),
    "world-writable": zip_of(Entry(b"a.md", mode=stat.S_IFREG | 0o777)),
    "empty file": zip_of(Entry(b"a.md", b"")),
    "empty folder": zip_of(Entry(b"docs/", b"", mode=stat.S_IFDIR | 0o755)),
    "folder of a set group": zip_of(Entry(b"docs/", b"", mode=stat.S_IFDIR | 0o2775)),
    "comment": zip_of(comment=b"e0c5b0a3"),
    "Unicode names": zip_of(Entry("参考/永久笔记.md".encode()), Entry("👩\u200d💻.md".encode())),
    "compressor's hints": zip_of(Entry(b"a.md", local={"flags": 2})),
    "descriptor": zip_of(Entry(b"a.md", flags=8, descriptor=descriptor(b"x", 3))),
    "descriptor, no sizes before": zip_of(
        Entry(b"a.md", flags=8, local={"crc": 0, "size": 0, "packed": 0}, descriptor=descriptor(b"x", 3))
    ),
    "descriptor without magic": zip_of(Entry(b"a.md", flags=8, descriptor=descriptor(b"x", 3, magic=False))),
    "descriptor of 24 bytes": zip_of(Entry(b"a.md", flags=8, descriptor=descriptor(b"x", 3, form="<L2Q"))),
    "stale Unicode path": zip_of(Entry(b"a.md", extra=unicode_path(b"old.md", b"other.md"))),
    "padding in the local extra field": zip_of(Entry(b"a.md", local={"extra": bytes(4096)})),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_real_tools_write_is_accepted_without_a_warning(case: str) -> None:
    upload = read(ACCEPTED[case])
    assert pairs(upload) == []
    assert len(upload.trees) == 1


def test_zip64_records_are_read() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, archive.open("SKILL.md", "w", force_zip64=True) as file:
        file.write(SKILL)
    upload = read(buffer.getvalue())
    assert pairs(upload) == []
    assert [file.content for file in upload.trees[0].files] == [SKILL]


def test_a_zip_written_to_a_pipe_is_read() -> None:
    class Pipe(io.RawIOBase):
        written = b""

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            self.written += bytes(data)
            return len(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SKILL.md", SKILL)
        archive.writestr("a.md", b"text")
    assert pairs(read(pipe.written)) == []


def test_names_in_utf8_without_the_flag_are_read_with_a_warning() -> None:
    upload = read(zip_of(Entry("über.md".encode(), flags=2)))
    assert upload.trees[0].get("über.md")
    assert pairs(upload) == [
        (
            "filename-encoding-guessed",
            'The archive does not say how "über.md" is encoded; it is read as UTF-8.',
        )
    ]


def test_a_name_in_another_encoding_is_read_from_its_unicode_field() -> None:
    raw = "永久.md".encode("gbk")
    upload = read(zip_of(Entry(raw, flags=2, extra=unicode_path(raw, "永久.md".encode()))))
    assert pairs(upload) == []
    assert upload.trees[0].get("永久.md")


def test_backslashes_separate_folders_with_a_warning() -> None:
    upload = read(plain_zip({"demo\\SKILL.md": SKILL, "demo\\docs\\a.md": b"x"}))
    assert [file.path for file in upload.trees[0].files] == ["SKILL.md", "docs/a.md"]
    assert [(f.code, f.path) for f in all_findings(upload)] == [
        ("path-backslash-separator", "SKILL.md"),
        ("path-backslash-separator", "docs/a.md"),
    ]
