"""How an endpoint is declared: its methods, and the scope that each needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework.decorators import api_view
from rest_framework.parsers import BaseParser

View = Callable[..., Any]


def endpoint(
    scopes: Mapping[str, str | tuple[str, ...]], *, parsers: tuple[type[BaseParser], ...] | None = None
) -> Callable[[View], View]:
    """Make a function an endpoint; `scopes` maps each method to the scope (or one of several) it needs.

    HEAD is answered as GET is.
    """
    needed = {method: (scope,) if isinstance(scope, str) else scope for method, scope in scopes.items()}
    if "GET" in needed:
        needed["HEAD"] = needed["GET"]

    def declare(view: View) -> View:
        made: Any = api_view(list(scopes))(view)
        made.cls.scopes = needed
        if parsers is not None:
            made.cls.parser_classes = parsers
        return made  # type: ignore[no-any-return]

    return declare
