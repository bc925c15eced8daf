"""How an endpoint is declared: its methods, and the scope that each needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rest_framework.decorators import api_view
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from portal.api.rendering import AnyRenderer, JSONRenderer
from portal.api.throttling import tell_limit

View = Callable[..., Any]


class ByAccept(DefaultContentNegotiation):
    """Looks at the Accept header alone: a `format` in the query is the endpoint's own."""

    def get_accept_list(self, request: Request) -> list[str]:
        """The media types of the header; an empty one asks for nothing in particular."""
        return [kind for kind in super().get_accept_list(request) if kind] or ["*/*"]

    def filter_renderers(self, renderers: Iterable[BaseRenderer], format: str) -> list[BaseRenderer]:  # noqa: A002 (the name is DRF's)
        """All of them."""
        return list(renderers)


def endpoint(
    scopes: Mapping[str, str | tuple[str, ...]],
    *,
    parsers: tuple[type[BaseParser], ...] | None = None,
    any_type: bool = False,
) -> Callable[[View], View]:
    """Make a function an endpoint; `scopes` maps each method to the scope (or one of several) it needs.

    HEAD is answered as GET is. An endpoint of `any_type` answers something else than JSON, or several
    types, and does not ask the Accept header.
    """
    needed = {method: (scope,) if isinstance(scope, str) else scope for method, scope in scopes.items()}
    if "GET" in needed:
        needed["HEAD"] = needed["GET"]

    def declare(view: View) -> View:
        made: Any = api_view(list(needed))(view)
        made.cls.scopes = needed
        # What a method needs is told in the document, not by OPTIONS.
        made.cls.http_method_names = [method.lower() for method in needed]
        made.cls.content_negotiation_class = ByAccept
        made.cls.finalize_response = _finalize
        made.cls.renderer_classes = (AnyRenderer,) if any_type else (JSONRenderer,)
        if parsers is not None:
            made.cls.parser_classes = parsers
        return made  # type: ignore[no-any-return]

    return declare


def _finalize(view: APIView, request: Request, answer: Any, *args: Any, **kwargs: Any) -> Any:
    """What DRF does with an answer, and what it tells of the limit of the token."""
    made = APIView.finalize_response(view, request, answer, *args, **kwargs)
    if (bearer := getattr(request, "counted", None)) is not None:
        tell_limit(made, bearer)
    return made
