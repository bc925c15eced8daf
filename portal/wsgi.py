"""The WSGI application that a server imports: Django behind bounded bodies."""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from portal import bodies, logs
from portal.protocols import statuses

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")


# What is published is large, a batch of calls less so; nothing else that is sent is long.
PUBLISHED = ("/publish/", "/api/v1/publish")
REPORTED = ("/api/v1/traces", *statuses.PATHS)


def find_limit(path: str) -> int:
    """The most bytes that a body sent to `path` may have."""
    if path.startswith(PUBLISHED):
        return int(settings.MAX_BODY_BYTES)
    if path.startswith(REPORTED):
        return int(settings.MAX_TRACE_BYTES)
    return int(settings.MAX_OTHER_BYTES)


def find_folder() -> str:
    """Where bodies wait that do not fit into memory; made when it is missing."""
    folder = Path(settings.FILE_UPLOAD_TEMP_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


# Django is there now, and the server has set up its own lines.
logs.mask_handlers("_granian")
application = statuses.translate(bodies.bound(get_wsgi_application(), limit=find_limit, folder=find_folder))
