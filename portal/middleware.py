"""What is done for every request of the portal, before and after its view."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails

from catalog import removals
from catalog.access import NotAllowed
from portal.views import errors

GetResponse = Callable[[HttpRequest], HttpResponse]


class CleanAddress:
    """Answers 400 to an address with a NUL: no name of ours holds one, and PostgreSQL takes none."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        query = request.META.get("QUERY_STRING", "")
        if "\0" in request.path_info or "\0" in query or "%00" in query:
            raise BadRequest("The address holds a NUL character.")
        return self.get_response(request)


class FreshSignIn:
    """Sends the whole page to the sign-in when the session of an htmx request has ended.

    A redirect would put the sign-in form inside the page. Comes after HtmxMiddleware.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        htmx: HtmxDetails | None = getattr(request, "htmx", None)
        # The API puts None there for an agent.
        signed_in = getattr(request.user, "is_authenticated", True)
        if not htmx or signed_in or response.status_code != 302:
            return response
        sign_in = resolve_url("sign-in")
        if response["Location"].partition("?")[0] != sign_in:
            return response
        fresh = HttpResponse(status=401)
        page = htmx.current_url_abs_path
        fresh["HX-Redirect"] = f"{sign_in}?{urlencode({'next': page})}" if page else sign_in
        return fresh


class PrivateAnswers:
    """Keeps answers out of shared caches, and has browsers ask again, where a view does not say otherwise."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        if request.path_info.startswith("/api/"):
            patch_vary_headers(response, ("Authorization",))
        return response


class Refusals:
    """Answers 403 or 409 with the reason where the domain refuses and its view does not say more."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """403 for `NotAllowed`, 409 for what was removed meanwhile; other exceptions are not ours."""
        if removals.is_removed(exception):
            return errors.removed(request)
        return errors.forbidden(request, exception) if isinstance(exception, NotAllowed) else None
