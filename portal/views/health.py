"""Whether the process lives, and whether it can serve; and the icon that browsers ask for unasked."""

from __future__ import annotations

import os
from pathlib import Path

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from catalog import blobs


@require_safe
@never_cache
@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """200 as soon as the process answers; asks nothing else."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@login_not_required
def favicon(request: HttpRequest) -> HttpResponse:
    """The way to the mark, for answers that are no page and name no icon."""
    return redirect(static("icons/mark.svg"))


@require_safe
@never_cache
@login_not_required
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when the database answers and the store of blobs can be used, else 503 and which does not."""
    parts = {"database": _database_answers(), "store": _store_answers()}
    told = {name: "ok" if well else "failed" for name, well in parts.items()}
    return JsonResponse(told, status=200 if all(parts.values()) else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _store_answers() -> bool:
    """A local folder must be writable, or be one that can be made; another store must answer."""
    store = blobs.store()
    try:
        if isinstance(store, blobs.BlobStorage):
            folder = Path(store.location)
            there = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
            return there.is_dir() and os.access(there, os.W_OK)
        store.exists(blobs.path_of("0" * 64))
    except OSError:
        return False
    return True
