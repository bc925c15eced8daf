"""Tar archives, plain or in gzip, read member by member without a copy of the whole.

Formats: POSIX.1-2001 pax and ustar, GNU tar's long names. Links, devices and sparse members are
refused, and so is whatever follows the end.
"""

from __future__ import annotations

from catalog.bundles.characters import shown
from catalog.bundles.contents import (
    BATCH,
    BATCH_FILES,
    Contents,
    corrupt,
    duplicate,
    file_too_large,
    inflates_too_large,
    mode_problems,
    special,
    symlink,
    too_many,
)
from catalog.bundles.files import MIB, File, Limits
from catalog.bundles.findings import Finding, error, has_errors
from catalog.bundles.paths import canonical
from catalog.bundles.streams import Stream
from catalog.bundles.tar_headers import BLOCK, Header, is_header, read_header, read_records

_FILE, _FOLDER, _HARDLINK, _SYMLINK, _SPARSE = (b"0", b"\0", b"7"), b"5", b"1", b"2", b"S"
_LONG_NAME, _LONG_LINK, _EXTENDED, _GLOBAL = b"L", b"K", b"x", b"g"
_SPECIAL = {b"3": "a character device", b"4": "a block device", b"6": "a named pipe"}
_MAX_EXTENSION = 64 * 1024
_MAX_EXTENSIONS = 2 * MIB
_EMPTY = error("archive-empty", "The archive holds no files.", "Add SKILL.md.")
_TRAILING = error(
    "archive-trailing-data",
    "Other bytes follow the end of the tar archive.",
    "Pack the folder again with tar and nothing added.",
)


def read_tar(stream: Stream, limits: Limits) -> Contents:
    """The files of a tar archive, or everything that is wrong with it."""
    return _Reader(stream, limits).read()


class _Reader:
    def __init__(self, stream: Stream, limits: Limits) -> None:
        self._stream, self._limits = stream, limits
        self._findings: list[Finding] = []
        self._files: list[File] = []
        self._folders: list[str] = []
        self._taken: set[str] = set()
        self._total = self._extensions = self._members = 0
        self._long_name: bytes | None = None
        self._records: dict[str, str] = {}

    def read(self) -> Contents:
        while self._member():
            pass
        if self._stream.fault:
            self._findings.append(self._stream.fault)
        elif not self._findings and not self._members:
            self._findings.append(_EMPTY)
        files = self._files
        if has_errors(self._findings):
            files = [File(file.path, b"") for file in files]
        return Contents(tuple(files), tuple(self._folders), tuple(self._findings))

    def _member(self) -> bool:
        """Read one header and what belongs to it; False at the end or where nothing more can be read."""
        block = self._stream.read(BLOCK)
        if self._stream.fault or not block:
            return False
        if not block.strip(b"\0"):
            self._end()
            return False
        if not is_header(block):
            text = f"Header {self._members + 1} of the archive is damaged."
            # Bytes after whole members are more likely something else than a damaged header.
            self._findings.append(corrupt(text))
            return False
        self._members += 1
        if self._members > self._limits.max_files * BATCH_FILES:
            self._findings.append(too_many(self._limits))
            return False
        header = read_header(block)
        if header.kind in (_LONG_NAME, _LONG_LINK, _EXTENDED, _GLOBAL):
            return self._extension(header)
        return self._entry(header)

    def _end(self) -> None:
        while padding := self._stream.read(256 * 1024):
            if padding.strip(b"\0"):
                self._findings.append(_TRAILING)
                return

    def _extension(self, header: Header) -> bool:
        size = header.size
        if size is None or size > _MAX_EXTENSION or self._extensions + size > _MAX_EXTENSIONS:
            self._findings.append(corrupt("An extended header of the archive is too large."))
            return False
        self._extensions += size
        data = self._content(size)
        if data is None:
            return False
        if header.kind == _LONG_NAME:
            self._long_name = data.split(b"\0", 1)[0]
        elif header.kind in (_EXTENDED, _GLOBAL):
            records = read_records(data)
            if records is None or (header.kind == _GLOBAL and {"path", "linkpath", "size"} & records.keys()):
                self._findings.append(corrupt("An extended header of the archive is damaged."))
                return False
            if header.kind == _EXTENDED:
                self._records = records
        return True

    def _entry(self, header: Header) -> bool:
        name, clear = self._name(header)
        size, records = header.size, self._records
        self._long_name, self._records = None, {}
        if size is None:
            self._findings.append(corrupt(f'The size of "{shown(name)}" is no number.', name))
            return False
        if "size" in records and records["size"] != str(size):
            text = f'The headers of "{shown(name)}" give two sizes.'
            self._findings.append(
                error("archive-header-mismatch", text, "Pack the folder again.", path=shown(name))
            )
            return False
        if header.kind == _SPARSE or any(key.startswith("GNU.sparse.") for key in records):
            text = f'"{shown(name)}" is a sparse member.'
            self._findings.append(error("entry-sparse", text, "Pack without --sparse.", path=shown(name)))
            return False
        if clear:
            self._findings.append(clear)
        refusal = self._refusal(header, name)
        self._findings += refusal
        if header.kind in (_HARDLINK, _SYMLINK, *_SPECIAL):
            size = 0  # whatever the field says, no data follows (POSIX pax, ustar)
        return self._store(header, name, size, usable=not refusal and not clear)

    def _name(self, header: Header) -> tuple[str, Finding | None]:
        raw = header.name if self._long_name is None else self._long_name
        name = self._records.get("path")
        if (
            name is not None
            and self._long_name is not None
            and name != raw.decode("utf-8", "surrogateescape")
        ):
            text = f'The headers of "{shown(name)}" give two names.'
            return name, error("archive-header-mismatch", text, "Pack the folder again.", path=shown(name))
        if name is None:
            name = raw.decode("utf-8", "surrogateescape")
        if not name:
            return name, corrupt("A member of the archive has no name.")
        return name, None

    def _refusal(self, header: Header, name: str) -> list[Finding]:
        if header.kind == _SYMLINK:
            return [symlink(name)]
        if header.kind == _HARDLINK:
            text = f'"{shown(name)}" is a hard link.'
            hint = "Pack with --hard-dereference, or copy the file."
            return [error("entry-hardlink", text, hint, path=shown(name))]
        if header.kind in _SPECIAL:
            return [special(name, _SPECIAL[header.kind])]
        if header.kind not in _FILE and header.kind != _FOLDER:
            return [special(name, f"of the unknown type {shown(header.kind.decode('latin-1'))}")]
        return mode_problems(name, header.mode & 0o7777, folder=header.kind == _FOLDER)

    def _store(self, header: Header, name: str, size: int, *, usable: bool) -> bool:
        folder = header.kind == _FOLDER or (header.kind in _FILE and name.endswith("/"))
        path, unsafe = canonical(name, dot_slash=True)
        self._findings += unsafe
        if folder and size:
            self._findings.append(
                corrupt(f'The folder "{shown(name)}" carries {size:,} bytes of data.', name)
            )
        content = self._content(size, name)
        if content is None:
            return False
        if usable and path and name in self._taken and not folder:
            self._findings.append(duplicate(name))
        elif usable and path:
            self._taken.add(name)
            self._folders.append(path) if folder else self._files.append(File(path, content))
        return True

    def _content(self, size: int, name: str = "") -> bytes | None:
        """The bytes after a header; b"" in place of what is over a limit, None where they end early."""
        self._total += size
        if self._total > self._limits.max_bundle_bytes * BATCH:
            self._findings.append(inflates_too_large(self._limits))
            return None
        padded = -(-size // BLOCK) * BLOCK
        if size > self._limits.max_file_bytes:
            self._findings.append(file_too_large(name, size, self._limits))
            return b"" if self._skip(padded) else None
        data = self._stream.read(padded)
        if len(data) >= size and not self._stream.fault:
            return data[:size]
        if not self._stream.fault:
            self._findings.append(corrupt(f'The archive ends inside "{shown(name)}".', name))
        return None

    def _skip(self, size: int) -> bool:
        while size and (piece := self._stream.read(min(size, MIB))):
            size -= len(piece)
        return not size and not self._stream.fault
