"""The store of bytes: a name is there only with all of its bytes."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from catalog import blobs
from tests import cast as crew

CONTENT = b"twelve bytes"
DIGEST = sha256(CONTENT).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The folder of the store."""
    return tmp_path / "blobs"


def names(store: Path) -> list[str]:
    """Every file below it."""
    return sorted(str(path.relative_to(store)) for path in store.rglob("*") if path.is_file())


def test_written_once_and_read_back(store: Path) -> None:
    blobs.write_blob(CONTENT, DIGEST)
    assert names(store) == [f"{DIGEST[:2]}/{DIGEST[2:4]}/{DIGEST}"] == [blobs.path_of(DIGEST)]
    assert blobs.read_blob(DIGEST) == CONTENT
    before = (store / blobs.path_of(DIGEST)).stat()
    blobs.write_blob(CONTENT, DIGEST)
    after = (store / blobs.path_of(DIGEST)).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 5000])
def test_bytes_of_any_kind(content: bytes) -> None:
    digest = sha256(content).hexdigest()
    blobs.write_blob(content, digest)
    assert blobs.read_blob(digest) == content


def test_what_is_not_there(store: Path) -> None:
    assert not blobs.has_blob(DIGEST)
    assert list(blobs.list_files()) == []
    with pytest.raises(FileNotFoundError):
        blobs.read_blob(DIGEST)
    blobs.delete_blob(DIGEST)


def test_synced_before_it_is_named_and_the_folder_after(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    fsync, rename = os.fsync, Path.rename

    def synced(handle: int) -> None:
        target = Path(f"/proc/self/fd/{handle}").readlink()
        steps.append("sync folder" if target.is_dir() else "sync file")
        fsync(handle)

    def renamed(self: Path, target: Any) -> Path:
        steps.append("rename")
        assert self.read_bytes() == CONTENT
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "rename", renamed)
    blobs.write_blob(CONTENT, DIGEST)
    assert steps == ["sync file", "rename", "sync folder"]


@pytest.mark.parametrize("step", ["fsync", "rename"])
def test_a_fault_leaves_no_half_and_no_name(store: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os if step == "fsync" else Path, step, fail)
    with pytest.raises(OSError, match="No space"):
        blobs.write_blob(CONTENT, DIGEST)
    monkeypatch.undo()
    assert names(store) == []
    assert not blobs.has_blob(DIGEST)


def test_many_write_the_same_at_once(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"x" * 2_000_000
    digest = sha256(content).hexdigest()
    monkeypatch.setattr(blobs, "has_blob", lambda _: False)  # all of them look before the first has written
    halves = []

    def read() -> None:
        for _ in range(200):
            try:
                if sha256(blobs.read_blob(digest)).hexdigest() != digest:
                    halves.append(1)
            except FileNotFoundError:
                continue

    done = crew.together([lambda: blobs.write_blob(content, digest)] * 10 + [read] * 2)
    assert done == [None] * 12
    assert halves == []
    assert names(store) == [blobs.path_of(digest)]


def test_every_file_is_listed_unfinished_ones_too(store: Path) -> None:
    blobs.write_blob(CONTENT, DIGEST)
    (store / "ab" / "cd").mkdir(parents=True)
    (store / "ab" / "cd" / ".half.part").write_bytes(b"half")
    (store / "README").write_text("who put this here")
    listed = dict(blobs.list_files())
    assert set(listed) == {blobs.path_of(DIGEST), "ab/cd/.half.part", "README"}
    assert all(when.utcoffset() is not None for when in listed.values())
