"""What every test starts from: a store and a folder of its own, and nothing remembered."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import hypothesis
import pytest
from pytest_django import Settings

from catalog import resolution, tokens
from governance import masks
from tests.chromium import browser

__all__ = ["browser", "clean_process"]

# How long an example takes says more of the machine than of the code.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def clean_process(settings: Settings, tmp_path: Path) -> None:
    """Blobs and uploads lie in the test's folder; caches hold nothing of another test.

    A key prefix of its own, instead of clearing the cache, leaves parallel tests on one Redis alone.
    """
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    settings.COUNTERS_DIR = tmp_path / "counters"
    settings.STATIC_ROOT = tmp_path  # a folder that is there: WhiteNoise warns of one that is not
    settings.STORAGES = {
        **settings.STORAGES,
        "blobs": {
            "BACKEND": "catalog.blobs.BlobStorage",
            "OPTIONS": {"location": str(tmp_path / "blobs")},
        },
    }
    settings.CACHES = {
        name: {**options, "KEY_PREFIX": uuid4().hex} for name, options in settings.CACHES.items()
    }
    resolution.forget_cached()
    tokens.forget_cached()
    masks.forget_all()
