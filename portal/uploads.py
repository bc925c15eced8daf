"""Uploaded files on their way into the catalog, for pages and REST alike."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile

from catalog.bundles.archives import read_upload
from catalog.bundles.files import Upload
from portal.free_text import masked

# Names of single files are kept with the version; longer ones are cut.
LONGEST_NAME = 200


def read_request_upload(file: UploadedFile) -> Upload:
    """The skill folders in an uploaded file; never raises on what it holds.

    Its size is bounded by the server's limit for bodies, so it is read whole.
    """
    file.seek(0)
    return read_upload(file.read(), filename=file.name or "", limits=settings.LIMITS)


def provenance_of(file: UploadedFile, *, via: str) -> dict[str, Any]:
    """Where a version came from, to be kept with it: `via` is portal or api."""
    return {"form": "upload", "via": via, "filename": masked(file.name or "", longest=LONGEST_NAME)}
