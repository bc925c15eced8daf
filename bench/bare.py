"""The least that Django can do: one address without middleware that answers bytes from memory, or 304.

`BENCH_BODY` names a file with the bytes, `BENCH_ETAG` is their tag.
"""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings

settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="bench")

import django  # noqa: E402
from django.core.handlers.wsgi import WSGIHandler  # noqa: E402
from django.http import HttpRequest, HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402

django.setup()

BODY = Path(os.environ["BENCH_BODY"]).read_bytes()
ETAG = os.environ["BENCH_ETAG"]


def feed(request: HttpRequest) -> HttpResponse:
    """The bytes, or that they are not modified."""
    if request.META.get("HTTP_IF_NONE_MATCH") == ETAG:
        answer = HttpResponse(status=304)
    else:
        answer = HttpResponse(
            BODY, content_type="application/json", headers={"Content-Length": str(len(BODY))}
        )
    answer["ETag"] = ETAG
    return answer


urlpatterns = [path("api/v1/feed", feed)]
application = WSGIHandler()
