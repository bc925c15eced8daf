"""The digest of a bundle: one value for one tree of files, whatever container it came in."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from catalog.bundles.files import File

EXECUTABLE = b"\0awaken-skill-executable\0"


def bundle_digest(files: Iterable[File]) -> str:
    """`bundle_sha256` of spec 3.2, 64 hex digits.

    SHA-256 over the files sorted by the bytes of their paths. Of each: the length of the path in
    eight bytes, big endian, the path; the length of the content likewise, the content; and a mark
    where the file is executable.
    """
    digest = sha256()
    for file in sorted(files, key=lambda file: file.path.encode()):
        path = file.path.encode()
        digest.update(len(path).to_bytes(8, "big") + path + file.size.to_bytes(8, "big"))
        digest.update(file.content)
        if file.executable:
            digest.update(EXECUTABLE)
    return digest.hexdigest()
