"""Tar archives: what is refused, with which words, and what real tools write and we take."""

from __future__ import annotations

import tarfile

import pytest

from tests.catalog.bundles.containers import SKILL, member, pairs, pax, plain_tgz, read, tar_of, tgz

BASE256 = b"\x80" + bytes(3) + b"\x7f" + bytes(7)
REFUSED = {
    "traversal": (tar_of(member("../a")), "path-traversal", 'The path "../a" leads out of the bundle.'),
    "absolute": (tar_of(member("/etc/a")), "path-traversal", 'The path "/etc/a" leads out of the bundle.'),
    "path in a pax header": (
        tar_of(pax({"path": "../a"}), member("a")),
        "path-traversal",
        'The path "../a" leads out of the bundle.',
    ),
    "long name": (
        tar_of(member("././@LongLink", b"../a\0", b"L"), member("a")),
        "path-traversal",
        'The path "../a" leads out of the bundle.',
    ),
    "symlink": (tar_of(member("a", kind=b"2")), "entry-symlink", '"a" is a symbolic link.'),
    "hard link": (tar_of(member("a", kind=b"1")), "entry-hardlink", '"a" is a hard link.'),
    "character device": (tar_of(member("a", kind=b"3")), "entry-special-file", '"a" is a character device.'),
    "block device": (tar_of(member("a", kind=b"4")), "entry-special-file", '"a" is a block device.'),
    "pipe": (tar_of(member("a", kind=b"6")), "entry-special-file", '"a" is a named pipe.'),
    "unknown type": (tar_of(member("a", kind=b"Z")), "entry-special-file", '"a" is of the unknown type Z.'),
    "setuid": (
        tar_of(member("a", mode=0o4755)),
        "entry-setuid",
        '"a" has its set-user-id or set-group-id bit set.',
    ),
    "sparse": (tar_of(member("a", kind=b"S")), "entry-sparse", '"a" is a sparse member.'),
    "sparse by pax": (
        tar_of(pax({"GNU.sparse.major": "1"}), member("a")),
        "entry-sparse",
        '"a" is a sparse member.',
    ),
    "two sizes": (
        tar_of(pax({"size": "0"}), member("a", b"hidden")),
        "archive-header-mismatch",
        'The headers of "a" give two sizes.',
    ),
    "two names": (
        tar_of(pax({"path": "b"}), member("././@LongLink", b"c\0", b"L"), member("a")),
        "archive-header-mismatch",
        'The headers of "b" give two names.',
    ),
    "damaged pax header": (
        tar_of(member("p", b"99 path=a\n", b"x"), member("a")),
        "archive-corrupt",
        "An extended header of the archive is damaged.",
    ),
    "path for all members": (
        tar_of(pax({"path": "b"}, b"g"), member("a")),
        "archive-corrupt",
        "An extended header of the archive is damaged.",
    ),
    "pax header too large": (
        tar_of(pax({"comment": "x" * 70_000}), member("a")),
        "archive-corrupt",
        "An extended header of the archive is too large.",
    ),
    "negative size": (
        tar_of(member("a", size=b"\xff" * 12)),
        "archive-corrupt",
        'The size of "a" is no number.',
    ),
    "size of exabytes": (
        tar_of(member("a", size=BASE256)),
        "archive-too-large",
        "The archive unpacks to over 104,857,600 bytes; the limit is 52,428,800 for each bundle.",
    ),
    "folder with data": (
        tar_of(member("docs/", b"hidden", b"5")),
        "archive-corrupt",
        'The folder "docs/" carries 6 bytes of data.',
    ),
    "twice": (tar_of(member("a"), member("a")), "archive-duplicate-entry", 'The archive holds "a" twice.'),
    "no name": (tar_of(member("")), "archive-corrupt", "A member of the archive has no name."),
    "not UTF-8": (tar_of(member("a\udcff")), "filename-not-utf8", 'The name "a\\u{dcff}" is not UTF-8.'),
    "cut short": (
        tar_of(member("a", b"text", size=b"%011o\0" % 2000), end=b""),
        "archive-corrupt",
        'The archive ends inside "a".',
    ),
    "damaged header": (
        tar_of(b"\1" * 512),
        "archive-corrupt",
        "Header 2 of the archive is damaged.",
    ),
    "trailing": (
        tar_of(end=bytes(1024) + b"PK\3\4"),
        "archive-trailing-data",
        "Other bytes follow the end of the tar archive.",
    ),
    "empty": (tar_of(skill=False), "archive-empty", "The archive holds no files."),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("packed", [False, True])
def test_a_hostile_tar_is_refused_by_name(case: str, packed: bool) -> None:
    data, code, message = REFUSED[case]
    upload = read(tgz(data), "demo.tar.gz") if packed else read(data, "demo.tar")
    assert upload.trees == ()
    assert (code, message) in pairs(upload)
    assert all(finding.hint for finding in upload.findings)


PACKED = tgz(tar_of())
GZIPS = {
    "cut short": (
        PACKED[:-9],
        "archive-corrupt",
        "The archive was cut short: its compressed data has no end.",
    ),
    "damaged": (
        PACKED[:60] + b"\xff" * 8 + PACKED[68:],
        "archive-corrupt",
        "The compressed data of the archive is damaged.",
    ),
    "trailing": (PACKED + b"more", "archive-trailing-data", "4 bytes follow the archive."),
    "second member": (PACKED + PACKED, "archive-trailing-data", f"{len(PACKED)} bytes follow the archive."),
    "no tar": (
        tgz(b"just text" * 100),
        "archive-not-recognised",
        '"demo.tgz" is a gzip file without a tar archive in it.',
    ),
    "bomb": (
        tgz(tar_of(member("a", bytes(9 << 20)), member("b", bytes(9 << 20)))),
        "archive-compression-ratio",
        "The archive unpacks to more than 100 times its size.",
    ),
}


@pytest.mark.parametrize("case", GZIPS)
def test_a_damaged_or_hostile_gzip_is_refused_by_name(case: str) -> None:
    data, code, message = GZIPS[case]
    upload = read(data, "demo.tgz")
    assert upload.trees == ()
    assert pairs(upload) == [(code, message)]


def test_limits_hold_while_a_tar_is_read() -> None:
    data = tar_of(*(member(f"a{n}", bytes(600)) for n in range(9)))
    assert [code for code, _ in pairs(read(data, "a.tar", max_file_bytes=599))] == ["archive-too-large"] * 9
    assert [code for code, _ in pairs(read(data, "a.tar", max_files=1))] == ["archive-too-many-files"]
    assert [code for code, _ in pairs(read(tgz(data), "a.tgz", max_bundle_bytes=2000))] == [
        "archive-too-large"
    ]


ACCEPTED = {
    "dot and slash": tar_of(
        member("./", kind=b"5"), member("./SKILL.md", SKILL), member("./docs/a.md"), skill=False
    ),
    "no end": tar_of(end=b""),
    "one block at the end": tar_of(end=bytes(512)),
    "padding": tar_of(end=bytes(10240)),
    "empty folder": tar_of(member("docs/", kind=b"5")),
    "old file type": tar_of(member("a.md", b"x", b"\0")),
    "folder of an old tar": tar_of(member("docs/", kind=b"\0")),
    "global comment": tar_of(pax({"comment": "e0c5b0a3"}, b"g")),
    "times in a pax header": tar_of(pax({"mtime": "1.5", "LIBARCHIVE.xattr.x": "1"}), member("a.md")),
    "world-writable": tar_of(member("a.md", mode=0o777)),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_real_tools_write_is_accepted_without_a_warning(case: str) -> None:
    upload = read(ACCEPTED[case], "demo.tar")
    assert pairs(upload) == []
    assert upload.trees[0].get("SKILL.md")


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_are_read_in_every_format(form: int) -> None:
    name = "docs/" + "a" * 90 + "/" + "b" * 90 + ".md"
    upload = read(plain_tgz({"SKILL.md": SKILL, name: b"x"}, form), "demo.tar.gz")
    assert pairs(upload) == []
    assert upload.trees[0].get(name)
