"""Lists of the API: `{"items": […], "next": cursor | null}`, by key and never by page number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.core import signing
from django.db.models import F, Model, Q, QuerySet
from rest_framework.request import Request

from portal.api.errors import Problem

SIZE, MOST = 50, 200

Row = TypeVar("Row", bound=Model)


def page_of(
    request: Request, rows: QuerySet[Row], *, key: str, show: Callable[[Row], dict[str, Any]]
) -> dict[str, Any]:
    """A page of the rows, ordered by `key` ("-name" for descending) and then by primary key.

    `limit` and `cursor` come from the query; raises Problem for a limit or cursor that is neither.
    A cursor is signed for its list: nobody makes one up.
    """
    size = _size(request)
    falling, name = key.startswith("-"), key.lstrip("-")
    order = [F(name).desc(), F("pk").desc()] if falling else [F(name).asc(), F("pk").asc()]
    salt = f"cursor of {rows.model._meta.label} by {key}"
    if after := request.query_params.get("cursor"):
        value, pk = _read(after, salt)
        way = "lt" if falling else "gt"
        rows = rows.filter(Q(**{f"{name}__{way}": value}) | Q(**{name: value, f"pk__{way}": pk}))
    found = list(rows.order_by(*order)[: size + 1])
    more = len(found) > size
    found = found[:size]
    last = found[-1] if more else None
    return {
        "items": [show(row) for row in found],
        "next": signing.dumps(_plain(getattr(last, name), last.pk), salt=salt) if last else None,
    }


def _size(request: Request) -> int:
    text = request.query_params.get("limit", str(SIZE))
    # Not longer than MOST is: Python refuses to read thousands of digits.
    fits = text.isascii() and text.isdigit() and len(text) <= len(str(MOST))
    if not fits or not 1 <= int(text) <= MOST:
        raise Problem("limit-invalid", f"limit is a number from 1 to {MOST}.")
    return int(text)


def _plain(value: Any, pk: Any) -> list[Any]:
    """Both as JSON keeps them and as a query reads them again."""
    return [value if isinstance(value, int) else str(value), pk if isinstance(pk, int) else str(pk)]


def _read(cursor: str, salt: str) -> tuple[Any, Any]:
    try:
        value, pk = signing.loads(cursor, salt=salt)
    except signing.BadSignature as fault:
        raise Problem("cursor-invalid", "The cursor is not one of this list's; start without one.") from fault
    return value, pk
