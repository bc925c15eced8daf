"""A page or one part of it, as htmx asks: both come from one template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx asks for a part; going back in the history asks for the whole page."""
    htmx = getattr(request, "htmx", None)
    return bool(htmx and not htmx.history_restore_request)


def render_part(
    request: HttpRequest, page: str, part: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """The partial `part` of the template `page` for htmx, else the page; caches keep them apart.

    The template knows by `part` (a boolean) which of them it is, for what goes out of band.
    """
    alone = wants_part(request)
    template = f"{page}#{part}" if alone else page
    answer = render(request, template, {**context, "part": alone}, status=status)
    patch_vary_headers(answer, ["HX-Request", "HX-History-Restore-Request"])
    return answer
