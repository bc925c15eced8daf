"""A small WSGI application behind bounded bodies, for a real server that the tests start."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from portal import bodies

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

LIMIT = 1_000_000


def tell(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Answer what of the body arrives, read as Django reads it: up to CONTENT_LENGTH."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    try:
        content = environ["wsgi.input"].read(length)
        found: dict[str, object] = {"length": len(content), "start": content[:5].decode()}
    except OSError as error:
        found = {"error": str(error)}
    found["declared"] = length
    answer = json.dumps(found).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(answer)))])
    return [answer]


application = bodies.bound(tell, limit=lambda path: LIMIT, folder=lambda: os.environ["BODIES_FOLDER"])
