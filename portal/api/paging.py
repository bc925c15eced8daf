"""Lists of the API: `{"items": […], "next": cursor | null}`, by key and never by page number."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any, TypeVar

import orjson
from django.core.exceptions import ValidationError
from django.db.models import F, Model, Q, QuerySet
from rest_framework.request import Request

from portal.api.errors import Problem

SIZE, MOST = 50, 200
NOT_OURS = "The cursor is not one of ours; start without one."


Row = TypeVar("Row", bound=Model)


def page_of(
    request: Request, rows: QuerySet[Row], *, key: str, show: Callable[[Row], dict[str, Any]]
) -> dict[str, Any]:
    """A page of the rows, ordered by `key` ("-name" for descending) and then by primary key.

    `limit` and `cursor` come from the query; raises Problem for a limit or cursor that is neither.
    """
    size = _size(request)
    falling, name = key.startswith("-"), key.lstrip("-")
    order = [F(name).desc(), F("pk").desc()] if falling else [F(name).asc(), F("pk").asc()]
    after = request.query_params.get("cursor")
    if after:
        value, pk = _read(after)
        way = "lt" if falling else "gt"
        try:
            rows = rows.filter(Q(**{f"{name}__{way}": value}) | Q(**{name: value, f"pk__{way}": pk}))
        except (ValidationError, ValueError, TypeError) as fault:
            raise Problem("cursor-invalid", NOT_OURS) from fault
    found = list(rows.order_by(*order)[: size + 1])
    more = len(found) > size
    found = found[:size]
    return {
        "items": [show(row) for row in found],
        "next": _write(getattr(found[-1], name), found[-1].pk) if more else None,
    }


def _size(request: Request) -> int:
    text = request.query_params.get("limit", str(SIZE))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST:
        raise Problem("limit-invalid", f"limit is a number from 1 to {MOST}.")
    return int(text)


def _write(value: Any, pk: Any) -> str:
    return urlsafe_b64encode(orjson.dumps([value, str(pk)], default=str)).decode().rstrip("=")


def _read(cursor: str) -> tuple[Any, Any]:
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        value, pk = orjson.loads(urlsafe_b64decode(padded.encode("ascii")))
    except (ValueError, TypeError) as fault:
        raise Problem("cursor-invalid", NOT_OURS) from fault
    return value, pk
