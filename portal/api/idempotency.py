"""Writes that carry an Idempotency-Key are done once; the same request again gets the same answer.

Neither key nor request is kept, but keyed digests of them: a key may be anything. The answer is kept masked, as all
that is written: where it quotes personal data or a secret, who repeats the request reads a mask in its place. What a
refusal quotes may be cut, and no masker knows half an address: where there was something to mask in the request,
nothing is kept of a refusal but what kind it was.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.models import IdempotencyKey
from portal.api.authentication import bearer_of
from portal.api.errors import TYPE, Problem, as_problem, body_of, problem
from portal.api.rendering import JSONRenderer, as_json
from portal.free_text import kinds_in, masked

LONGEST = 200
# No request takes so long; one that is older and has no answer went down with its process.
LONGEST_WORK = timedelta(minutes=5)
# Who gets one of these is asked to send the same once more, and is to have it done then.
AGAIN = frozenset({429, 503})
NOT_KEPT = (
    "The request was refused as before. It held personal data or a secret, so the details were not kept; "
    "send it with another key to read them."
)

View = Callable[..., Response]
Once = Callable[..., HttpResponse]


class ShownOnce(Response):
    """An answer that holds a secret: it alone does, and who repeats the request gets `again`, which is what is kept."""

    def __init__(self, data: Any, *, again: Any, **more: Any) -> None:
        super().__init__(data, **more)
        self.again = again


def once(view: View) -> Once:
    """Answer a repeated key from memory for a day: 422 for other contents, 409 while the first runs."""

    @wraps(view)
    def answer(request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        key = request.headers.get("Idempotency-Key", "")
        if not key or request.method in {"GET", "HEAD"}:
            return view(request, *args, **kwargs)
        if len(key) > LONGEST:
            raise Problem("idempotency-key-too-long", f"An Idempotency-Key has at most {LONGEST} characters.")
        row = IdempotencyKey(
            token_id=bearer_of(request).token_id,
            key=_keyed("idempotency key", key.encode()).hexdigest(),
            request_sha256=_digest(request),
            created_at=timezone.now(),
        )
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:
            kept = _kept(row)
            if not _take_over(kept, row):
                return _repeat(kept)
            row = kept
        return _first(row, request, lambda: view(request, *args, **kwargs))

    return answer


def _first(row: IdempotencyKey, request: Request, work: Callable[[], Response]) -> Response:
    """Do the work and keep its answer, a refusal too; a defect of ours, or a busy store, leaves the key free."""
    try:
        answer = work()
    except Exception as fault:
        known = as_problem(fault)
        if known is None or known.status in AGAIN:
            row.delete()
            raise
        answer = problem(known)
    # As text: a database may sort the members of an object, and the answer is to be the same.
    kind = answer.content_type or JSONRenderer.media_type
    told = answer.again if isinstance(answer, ShownOnce) else answer.data
    if kind == TYPE and _is_to_be_masked(request):
        told = body_of(Problem(told["code"], NOT_KEPT, status=answer.status_code))
    row.status, row.body = answer.status_code, {"type": kind, "text": masked(as_json(told).decode())}
    row.save(update_fields=["status", "body"])
    return answer


def _is_to_be_masked(request: Request) -> bool:
    """Whether the address or the fields of a request hold what is never written."""
    data = request.data
    fields = dict(data.lists()) if hasattr(data, "lists") else data
    return any(kinds_in(text) for text in (request.get_full_path(), as_json(fields).decode()))


def _kept(row: IdempotencyKey) -> IdempotencyKey:
    """The row of the first request with this key; raises Problem."""
    kept = IdempotencyKey.objects.filter(token_id=row.token_id, key=row.key).first()
    if kept is None:
        # The first has just failed on our side, and freed the key.
        raise _still_runs()
    if kept.request_sha256 != row.request_sha256:
        raise Problem(
            "idempotency-key-reused",
            "This Idempotency-Key was used for another request; use a new one.",
            status=422,
        )
    return kept


def _still_runs() -> Problem:
    return Problem(
        "request-in-progress", "The first request with this key still runs; ask again.", status=409
    )


def _take_over(kept: IdempotencyKey, row: IdempotencyKey) -> bool:
    """Whether this request does the work of one that must have died on the way; one taker wins."""
    dead = IdempotencyKey.objects.filter(
        pk=kept.pk, status=None, created_at=kept.created_at, created_at__lt=row.created_at - LONGEST_WORK
    )
    return bool(dead.update(created_at=row.created_at))


def _repeat(kept: IdempotencyKey) -> HttpResponse:
    if kept.status is None:
        raise _still_runs()
    told: dict[str, str] = kept.body or {}
    answer = HttpResponse(told["text"], status=kept.status, content_type=told["type"])
    answer["Idempotency-Replayed"] = "true"
    return answer


def _digest(request: Request) -> str:
    """What was asked: the address and the fields; of a file its name and bytes, not its boundary."""
    told = _keyed("request", f"{request.method} {request.get_full_path()}\n".encode())
    data = request.data
    pairs = sorted(data.lists()) if hasattr(data, "lists") else [("", [data])]
    for name, values in pairs:
        for value in values:
            told.update(f"{name}\n".encode())
            told.update(_bytes(value))
    return told.hexdigest()


def _keyed(what: str, content: bytes) -> hmac.HMAC:
    """A digest by which nobody can try what was sent."""
    return hmac.new(f"{what} {settings.SECRET_KEY}".encode(), content, "sha256")


def _bytes(value: Mapping[str, Any] | UploadedFile | Any) -> bytes:
    if not isinstance(value, UploadedFile):
        return json.dumps(value, sort_keys=True, default=str).encode()
    digest = _keyed("file", str(value.name).encode())
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return digest.digest()
