"""Bytes for download: attachments that no browser runs, with a digest to compare."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from rest_framework.request import Request


def attachment(content: bytes, name: str, media_type: str, sha256: str) -> HttpResponse:
    """The bytes as an attachment with ETag and Repr-Digest (RFC 9530); never shown inline."""
    answer = HttpResponse(content, content_type=media_type)
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    answer["Content-Disposition"] = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Content-Security-Policy"] = "default-src 'none'; sandbox"
    answer["ETag"] = f'"{sha256}"'
    answer["Repr-Digest"] = f"sha-256=:{b64encode(bytes.fromhex(sha256)).decode()}:"
    answer["Cache-Control"] = "private, no-cache"
    return answer


def matches_etag(request: HttpRequest | Request, etag: str) -> bool:
    """Whether If-None-Match names the tag (RFC 9110, 13.1.2; weak comparison)."""
    sent = request.META.get("HTTP_IF_NONE_MATCH", "")
    tags = [tag.strip().removeprefix("W/") for tag in sent.split(",")]
    return "*" in tags or etag in tags


def not_modified(etag: str) -> HttpResponse:
    """304 with the tag and nothing else."""
    answer = HttpResponse(status=304)
    del answer["Content-Type"]  # it would stand for the kept answer's own (RFC 9110, 15.4.5)
    answer["ETag"] = etag
    answer["Cache-Control"] = "private, no-cache"
    return answer
