"""Zips and tars for the tests, honest and hostile, built field by field."""

from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catalog.bundles.archives import read_upload
from catalog.bundles.files import Limits, Upload
from catalog.bundles.findings import Finding
from catalog.bundles.folders import find_folders

SKILL = b"---\nname: demo-skill\ndescription: Formats tables. Use when a table is crooked.\n---\n\nDo it.\n"
LIMITS = Limits()


def read(data: bytes, name: str = "demo.zip", **limits: int) -> Upload:
    """The upload, read with these limits."""
    return read_upload(data, filename=name, limits=Limits(**limits))


def all_findings(upload: Upload) -> list[Finding]:
    """The findings of the upload and of its trees."""
    return [*upload.findings, *(finding for tree in upload.trees for finding in tree.findings)]


def read_folders(path: Path, limits: Limits) -> Upload:
    """All of a local folder at once, as one upload."""
    folders = find_folders(path, limits)
    return Upload(tuple(folders.trees(limits)), folders.findings)


def pairs(upload: Upload) -> list[tuple[str, str]]:
    """Code and message of everything found."""
    return [(finding.code, finding.message) for finding in all_findings(upload)]


@dataclass
class Entry:
    """One entry of a zip; `central` and `local` replace header fields by name to tell a lie."""

    name: bytes
    content: bytes = b"x"
    method: int = 8
    mode: int = stat.S_IFREG | 0o644
    flags: int = 0
    extra: bytes = b""
    central: Mapping[str, Any] = field(default_factory=dict)
    local: Mapping[str, Any] = field(default_factory=dict)
    packed: bytes | None = None
    descriptor: bytes = b""
    listed: bool = True

    def fields(self) -> dict[str, Any]:
        """The true fields of both headers."""
        flags = self.flags if self.name.isascii() or self.flags else 0x800
        return {
            "name": self.name,
            "flags": flags,
            "method": self.method,
            "crc": zlib.crc32(self.content),
            "packed": len(self.body()),
            "size": len(self.content),
            "mode": self.mode,
            "extra": self.extra,
        }

    def body(self) -> bytes:
        """The bytes between the headers."""
        if self.packed is not None:
            return self.packed
        if self.method != 8:
            return self.content
        deflater = zlib.compressobj(6, zlib.DEFLATED, -15)
        return deflater.compress(self.content) + deflater.flush()


def zip_of(
    *entries: Entry, end: Mapping[str, int] | None = None, comment: bytes = b"", skill: bool = True
) -> bytes:
    """A zip of SKILL.md and these entries; `end` replaces fields of its end record."""
    every = [Entry(b"SKILL.md", SKILL), *entries] if skill else list(entries)
    out, directory, count = b"", b"", 0
    for entry in every:
        f = entry.fields() | dict(entry.central)
        offset = f.get("offset", len(out))
        if entry.listed:
            count += 1
            directory += struct.pack(
                "<4s6H3L5H2L", b"PK\1\2", 0x0314, 20, f["flags"], f["method"], 0, 33, f["crc"], f["packed"],
                f["size"], len(f["name"]), len(f["extra"]), 0, 0, 0, f["mode"] << 16, offset,
            ) + f["name"] + f["extra"]  # fmt: skip
        g = entry.fields() | dict(entry.local)
        out += struct.pack(
            "<4s5H3L2H", b"PK\3\4", 20, g["flags"], g["method"], 0, 33, g["crc"], g["packed"], g["size"],
            len(g["name"]), len(g["extra"]),
        ) + g["name"] + g["extra"] + entry.body() + entry.descriptor  # fmt: skip
    e = {"here": count, "total": count, "size": len(directory), "offset": len(out), "disk": 0} | dict(
        end or {}
    )
    numbers = (e["disk"], 0, e["here"], e["total"], e["size"], e["offset"], len(comment))
    return out + directory + struct.pack("<4s4H2LH", b"PK\5\6", *numbers) + comment


def plain_zip(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip as the standard library writes it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def member(
    name: str, content: bytes = b"", kind: bytes = b"0", *, size: bytes = b"", mode: int = 0o644
) -> bytes:
    """One ustar header and its padded content; `size` replaces the bytes of the size field."""
    raw = name.encode("utf-8", "surrogateescape")[:100].ljust(100, b"\0")
    sizes = size or b"%011o\0" % len(content)
    head = raw + b"%07o\0" % mode + b"0000000\0" * 2 + sizes + b"00000000000\0" + b" " * 8 + kind
    block = (head.ljust(257, b"\0") + b"ustar\x0000").ljust(512, b"\0")
    block = block[:148] + b"%06o\0 " % sum(block) + block[156:]
    return block + content + b"\0" * (-len(content) % 512)


def pax(records: Mapping[str, str], kind: bytes = b"x") -> bytes:
    """A pax extended header with these records."""
    body = b""
    for key, value in records.items():
        text = f" {key}={value}\n".encode()
        length = len(text) + 1
        while len(text) + len(str(length)) != length:
            length = len(text) + len(str(length))
        body += str(length).encode() + text
    return member("PaxHeader", body, kind)


def tar_of(*members: bytes, skill: bool = True, end: bytes = b"\0" * 1024) -> bytes:
    """A plain tar of SKILL.md and these members."""
    return (member("SKILL.md", SKILL) if skill else b"") + b"".join(members) + end


def tgz(data: bytes) -> bytes:
    """The bytes in gzip, without a time."""
    return gzip.compress(data, mtime=0)


def plain_tgz(files: Mapping[str, bytes], form: int = tarfile.PAX_FORMAT, mode: int = 0o644) -> bytes:
    """A tar.gz as the standard library writes it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=form) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), mode
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()
