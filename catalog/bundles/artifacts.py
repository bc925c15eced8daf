"""The archive that clients download."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from catalog.bundles.files import File

EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_REGULAR = 0o100000


def flat_zip(files: Iterable[File]) -> bytes:
    """A zip with SKILL.md at its root, the same bytes for the same files, always and everywhere.

    Names are sorted by their bytes, times are 1980-01-01, modes 0644 or, for what starts with
    `#!`, 0755. Nothing is compressed: the output of deflate differs between zlib, its versions and
    its replacements, and the digest of an artifact must not. HTTP may compress it on the way.
    """
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        for file in sorted(files, key=lambda file: file.path.encode()):
            info = ZipInfo(file.path, EPOCH)
            info.create_system = _UNIX
            info.external_attr = (_REGULAR | (0o755 if file.executable else 0o644)) << 16
            archive.writestr(info, file.content)
    return buffer.getvalue()
