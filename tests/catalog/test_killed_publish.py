"""`kill -9` while a bundle is stored: no version without its bytes, nothing left over, and the retry succeeds."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from catalog import blobs, upkeep
from catalog.models import Blob, Skill, Version
from tests import make
from tests.cast import ROOT
from tests.catalog.killed_publisher import FILES, POINTS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def store(settings: Settings, tmp_path: Path) -> Path:
    """The store that both processes use."""
    folder = tmp_path / "blobs"
    settings.STORAGES = {
        **settings.STORAGES,
        "blobs": {"BACKEND": "catalog.blobs.BlobStorage", "OPTIONS": {"location": str(folder)}},
    }
    return folder


def run(point: str, database: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Publish in a process of its own."""
    environ = os.environ | {
        "DATABASE_URL": database,
        "VAR_DIR": str(folder),
        "STORAGE_URL": f"file://{folder / 'blobs'}",
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }
    command = [sys.executable, "-m", "tests.catalog.killed_publisher", point, "payments"]
    return subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False, timeout=120
    )


def files_of(store: Path) -> set[str]:
    """The names of all files in the store, unfinished ones too."""
    return {path.name for path in store.rglob("*") if path.is_file()}


@pytest.mark.parametrize("point", POINTS)
def test_killed_at(point: str, shared_database: str, store: Path, tmp_path: Path) -> None:
    make.team("payments")
    killed = run(point, shared_database, tmp_path)
    assert killed.returncode == -9, killed.stderr

    # What is there is whole: a version has every byte, or there is no version and no skill.
    versions = list(Version.objects.all())
    assert len(versions) == Skill.objects.count() == (1 if point == "committed" else 0)
    for version in versions:
        for digest in [*version.files.values_list("blob_id", flat=True), version.artifact_id]:
            assert sha256(blobs.read_blob(digest)).hexdigest() == digest

    upkeep.sweep(now=timezone.now() + timedelta(minutes=1), grace=timedelta(0))
    assert files_of(store) == set(Blob.objects.values_list("pk", flat=True))
    assert bool(files_of(store)) == bool(versions)
    assert list(upkeep.find_faults()) == []

    again = run("never", shared_database, tmp_path)
    assert again.stdout.strip() == ("unchanged" if point == "committed" else "published"), again.stderr
    assert Version.objects.get().file_count == len(FILES)
    assert list(upkeep.find_faults()) == []
