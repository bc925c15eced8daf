"""How an endpoint is described in the API's document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse, extend_schema

from portal.api.errors import TITLES, TYPE
from portal.api.shapes.words import ref

View = Callable[..., Any]
# Of every endpoint: no token, not this token, too many requests, a database that is away.
ALWAYS = (401, 403, 429, 503)
CURSOR = {"limit": "How many, 1 to 200; 50 where it is absent.", "cursor": "The `next` of the page before."}
KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Done once; the same request with the same key gets the same answer for a day.",
)


def described(
    name: str,
    description: str,
    *,
    answers: Mapping[int, str],
    refused: Mapping[int, str] | None = None,
    method: str = "GET",
    sent: Mapping[str, str] | None = None,
    problems: Sequence[int] = (),
    query: Mapping[str, str] | None = None,
    parameters: Sequence[OpenApiParameter] = (),
    files: Sequence[str] = (),
    examples: Sequence[OpenApiExample] = (),
    once: bool = False,
) -> Callable[[View], View]:
    """Describe one method of an endpoint.

    `answers` and `sent` name shapes, by status and by media type; `refused` those of an answer that
    stands where a problem may stand too. `files` are the media types of an
    answer that is bytes or text. `query` says what each parameter of the query means.
    """
    responses: dict[Any, Any] = {}
    for status, shape in {**answers, **(refused or {})}.items():
        title = OpenApiResponse(ref(shape) if shape else None, description=TITLES.get(status, "Done"))
        responses[(status, "application/json") if shape else status] = title
    for media_type in files:
        kind = OpenApiTypes.STR if media_type.startswith("text/") else OpenApiTypes.BINARY
        responses[(200, media_type)] = OpenApiResponse(kind, description="Done")
    for status in sorted({*ALWAYS, *problems} - set(answers)):
        responses[(status, TYPE)] = OpenApiResponse(ref("Problem"), description=TITLES[status])
    asked = [OpenApiParameter(key, str, description=text) for key, text in (query or {}).items()]
    return extend_schema(
        methods=[method],
        operation_id=name,
        description=description,
        parameters=[*parameters, *asked, *([KEY] if once else [])],
        request={media_type: ref(shape) for media_type, shape in sent.items()} if sent else None,
        responses=responses,
        examples=list(examples),
    )
