"""The files of a bundle, as they are once every container around them is gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from catalog.bundles.findings import Finding

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds of an upload; the settings of the same names set them.

    `max_bundle_bytes` bounds the upload and, inflated, each bundle in it; `max_ratio` is the
    compression ratio allowed once more than 10 MiB are inflated; `max_depth` counts folders.
    """

    max_bundle_bytes: int = 50 * MIB
    max_file_bytes: int = 10 * MIB
    max_files: int = 1000
    max_ratio: int = 100
    max_version_chars: int = 64
    max_depth: int = 8


@dataclass(frozen=True)
class File:
    """One file: `path` is relative, NFC, with `/` between its parts."""

    path: str
    content: bytes = field(repr=False)

    @property
    def size(self) -> int:
        """Length of the content in bytes."""
        return len(self.content)

    @cached_property
    def sha256(self) -> str:
        """Digest of the content, 64 hex digits."""
        return sha256(self.content).hexdigest()

    @property
    def executable(self) -> bool:
        """Modes are not trusted: a file is executable when it names its interpreter (spec 3.2)."""
        return self.content.startswith(b"#!")


@dataclass(frozen=True)
class Tree:
    """The files of one bundle, sorted by path; `folder` is the name of the folder they came in.

    `folder` is "" where the files lay at the root of an archive or came without a folder.
    `findings` are those about the container and the layout.
    """

    folder: str
    files: tuple[File, ...]
    findings: tuple[Finding, ...] = ()

    def get(self, path: str) -> File | None:
        """The file at exactly this path, or None."""
        return self._by_path.get(path)

    @cached_property
    def _by_path(self) -> dict[str, File]:
        return {file.path: file for file in self.files}


@dataclass(frozen=True)
class Upload:
    """What an upload holds: one tree for each skill, or none and the reasons in `findings`.

    Where `findings` holds an error the whole upload is refused and `trees` is empty; an error of
    one tree refuses that tree alone.
    """

    trees: tuple[Tree, ...]
    findings: tuple[Finding, ...] = ()
