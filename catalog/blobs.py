"""The store of bytes: one blob a file, named by its sha256, written once and never changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage, storages
from uuid_utils.compat import uuid7


class BlobStorage(FileSystemStorage):
    """A local folder in which a name appears only when all of its bytes are on disk."""

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """The name itself: two who write a blob at once write the same bytes."""
        return name

    def _save(self, name: str, content: Any) -> str:
        target = Path(self.path(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".{uuid7().hex}.part")
        try:
            with fresh.open("xb") as out:
                for chunk in content.chunks():
                    out.write(chunk)
                out.flush()
                os.fsync(out.fileno())
            fresh.rename(target)
            _sync_folder(target.parent)
        finally:
            with suppress(FileNotFoundError):
                fresh.unlink()
        return name


def _sync_folder(folder: Path) -> None:
    """Bring the names in the folder to disk: a row that refers to one may be committed next."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def store() -> Storage:
    """The storage that `STORAGE_URL` names."""
    return storages["blobs"]


def path_of(digest: str) -> str:
    """Where a blob lies in the store."""
    return f"{digest[:2]}/{digest[2:4]}/{digest}"


def write_blob(content: bytes, digest: str) -> None:
    """Keep the bytes under their digest; a blob that is there already is left alone."""
    if not has_blob(digest):
        store().save(path_of(digest), ContentFile(content))


def read_blob(digest: str) -> bytes:
    """The bytes of a blob; raises FileNotFoundError where the store has lost it."""
    with store().open(path_of(digest)) as blob:
        content: bytes = blob.read()
    return content


def has_blob(digest: str) -> bool:
    """Whether the store holds the blob."""
    return store().exists(path_of(digest))


def delete_blob(digest: str) -> None:
    """Remove a blob; one that is not there is no fault."""
    store().delete(path_of(digest))


def list_files() -> Iterator[tuple[str, datetime]]:
    """Every file of the store, unfinished ones too: its path and when it was written (UTC)."""
    yield from _list_below("")


def _list_below(folder: str) -> Iterator[tuple[str, datetime]]:
    try:
        folders, files = store().listdir(folder)
    except FileNotFoundError:
        return
    for name in files:
        path = f"{folder}/{name}" if folder else name
        with suppress(FileNotFoundError):
            yield path, store().get_modified_time(path).astimezone(UTC)
    for name in folders:
        yield from _list_below(f"{folder}/{name}" if folder else name)
