"""Zip archives: the directory is judged whole before a byte is inflated (PKWARE APPNOTE 6.3.10)."""

from __future__ import annotations

import stat
import zlib

from catalog.bundles.characters import shown
from catalog.bundles.contents import (
    BATCH,
    BATCH_FILES,
    Contents,
    corrupt,
    duplicate,
    exceeds_ratio,
    file_too_large,
    inflates_too_large,
    mode_problems,
    ratio_too_high,
)
from catalog.bundles.files import File, Limits
from catalog.bundles.findings import Finding, error, has_errors, warning
from catalog.bundles.paths import canonical
from catalog.bundles.zip_places import UTF8, Places
from catalog.bundles.zip_records import Entry, extra_fields, mismatch, read_end, read_entries

_STORED, _DEFLATED, _AES = 0, 8, 99
_ENCRYPTED = 0x0001 | 0x0040 | 0x2000
_UNICODE_PATH = 0x7075
_METHODS = {
    1: "Shrink",
    6: "Implode",
    9: "Deflate64",
    12: "bzip2",
    14: "LZMA",
    93: "Zstandard",
    95: "xz",
    98: "PPMd",
}
_AS_UTF8 = "Pack with a program that writes names in UTF-8."


def read_zip(data: bytes, limits: Limits) -> Contents:
    """The files of a zip archive, or everything that is wrong with it."""
    end, found = read_end(data)
    if end is None:
        return Contents(findings=tuple(found))
    entries, wrong = read_entries(data, end, limits, limits.max_files * BATCH_FILES)
    found += wrong
    if not entries and not found:
        return Contents(findings=(error("archive-empty", "The archive holds no files.", "Add SKILL.md."),))
    if not entries or (wrong and len(entries) >= limits.max_files * BATCH_FILES):
        return Contents(findings=tuple(found))
    places = Places(data, entries, end)
    found += places.findings
    return _Reader(data, entries, places, limits).read(found)


class _Reader:
    def __init__(self, data: bytes, entries: list[Entry], places: Places, limits: Limits) -> None:
        self._data, self._entries, self._places, self._limits = memoryview(data), entries, places, limits
        self._findings: list[Finding] = []

    def read(self, found: list[Finding]) -> Contents:
        self._findings = found
        files, folders = self._judge()
        found += self._totals()
        if has_errors(found):
            return Contents(tuple(File(path, b"") for path, _ in files), tuple(folders), tuple(found))
        inflated = []
        for path, number in files:
            content = self._inflate(path, number)
            if content is not None:
                inflated.append(File(path, content))
        return Contents(tuple(inflated), tuple(folders), tuple(found))

    def _judge(self) -> tuple[list[tuple[str, int]], list[str]]:
        """The canonical paths of files (with their numbers) and of folders."""
        files: list[tuple[str, int]] = []
        folders: list[str] = []
        taken: set[str] = set()
        for number, entry in enumerate(self._entries):
            name, wrong = _decoded(entry, self._places.extras.get(number, b""))
            if name is not None:
                path, unsafe = canonical(name)
                wrong += unsafe
                folder = name.endswith(("/", "\\"))
                if name in taken:
                    wrong.append(duplicate(name))
                elif path:
                    taken.add(name)
                    folders.append(path) if folder else files.append((path, number))
                wrong += self._entry_problems(entry, name, folder)
            self._findings += wrong
        return files, folders

    def _entry_problems(self, entry: Entry, name: str, folder: bool) -> list[Finding]:
        found = mode_problems(name, entry.mode, folder=folder)
        path = shown(name)
        if entry.flags & _ENCRYPTED or entry.method == _AES:
            hint = "Pack the archive without a password."
            found.append(
                error("archive-encrypted", f'"{path}" is encrypted and cannot be checked.', hint, path=path)
            )
        elif entry.method not in (_STORED, _DEFLATED):
            method = _METHODS.get(entry.method, f"method {entry.method}")
            text = f'"{path}" is compressed by {method}, which is not supported.'
            found.append(
                error("archive-unsupported-compression", text, "Pack with ordinary deflate.", path=path)
            )
        if folder and entry.size:
            found.append(corrupt(f'The folder "{path}" carries {entry.size:,} bytes of data.', name))
        elif not folder and stat.S_ISDIR(entry.mode):
            found.append(mismatch(f'"{path}" is a file by its name and a folder by its mode.', path))
        elif entry.method == _STORED and entry.size != entry.packed and not found:
            found.append(_size_mismatch(path, entry.size))
        if entry.size > self._limits.max_file_bytes:
            found.append(file_too_large(name, entry.size, self._limits))
        return found

    def _totals(self) -> list[Finding]:
        total = sum(entry.size for entry in self._entries)
        if total > self._limits.max_bundle_bytes * BATCH:
            return [inflates_too_large(self._limits, total)]
        if exceeds_ratio(total, sum(entry.packed for entry in self._entries), self._limits):
            return [ratio_too_high(self._limits)]
        return []

    def _inflate(self, path: str, number: int) -> bytes | None:
        entry, start = self._entries[number], self._places.data[number]
        packed = self._data[start : start + entry.packed]
        if entry.method == _STORED:
            content = bytes(packed)
        else:
            inflater = zlib.decompressobj(-zlib.MAX_WBITS)
            try:
                # One byte more than declared is enough to know that there are more.
                content = inflater.decompress(packed, entry.size + 1)
            except zlib.error:
                self._findings.append(corrupt(f'The compressed data of "{shown(path)}" is damaged.', path))
                return None
            if len(content) != entry.size:
                self._findings.append(_size_mismatch(shown(path), entry.size))
                return None
            if not inflater.eof or inflater.unused_data:
                self._findings.append(
                    corrupt(f'The compressed data of "{shown(path)}" does not end where it should.', path)
                )
                return None
        if zlib.crc32(content) != entry.crc:
            self._findings.append(
                corrupt(f'The checksum of "{shown(path)}" does not match its content.', path)
            )
            return None
        return content


def _size_mismatch(path: str, size: int) -> Finding:
    text = f'"{path}" does not unpack to the {size:,} bytes that the archive declares.'
    return error("archive-size-mismatch", text, "Pack and upload the archive again.", path=path)


def _decoded(entry: Entry, local_extra: bytes) -> tuple[str | None, list[Finding]]:
    """The name of an entry as text (APPNOTE appendix D), None where it cannot be known."""
    raw, found = entry.raw, list[Finding]()
    rough = shown(raw[:1024].decode("utf-8", "backslashreplace"))
    if not raw:
        return None, [corrupt("An entry of the archive has no name.")]
    try:
        name: str | None = raw.decode()
    except UnicodeDecodeError:
        name = None
    other = _unicode_path(entry.extra, raw) or _unicode_path(local_extra, raw)
    if name is None and other is not None and not entry.flags & UTF8:
        return other, found
    if other is not None and other != name:
        return name, [mismatch(f'"{rough}" has another name, "{shown(other)}", in an extra field.', rough)]
    if name is None:
        if entry.flags & UTF8:
            text = f'The name "{rough}" is marked as UTF-8 and is not.'
            return None, [error("filename-not-utf8", text, _AS_UTF8, path=rough)]
        text = f'The name "{rough}" is in an encoding that the archive does not tell.'
        return None, [error("filename-encoding-unknown", text, _AS_UTF8, path=rough)]
    if not raw.isascii() and not entry.flags & UTF8:
        text = f'The archive does not say how "{rough}" is encoded; it is read as UTF-8.'
        found.append(warning("filename-encoding-guessed", text, _AS_UTF8, path=rough))
    return name, found


def _unicode_path(extra: bytes, raw: bytes) -> str | None:
    """The name in an Info-ZIP Unicode Path field that still belongs to `raw` (APPNOTE 4.6.9)."""
    fields = [value for kind, value in extra_fields(extra) if kind == _UNICODE_PATH] if extra else []
    checksum = zlib.crc32(raw).to_bytes(4, "little") if fields else b""
    for value in fields:
        if value[1:5] == checksum:
            return value[5:].decode("utf-8", "backslashreplace")
    return None
