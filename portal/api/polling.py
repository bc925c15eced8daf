"""The poll of an agent: its whole feed, mostly to hear that nothing has changed.

It is asked for more often than everything else together, so it is answered before the sessions,
languages and messages of pages. What is refused, or asked for in another way, goes on to the
endpoint (`portal.api.feed`), which says why.
"""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from catalog.resolution import feed_of
from catalog.tokens import Bearer, read_token
from portal.api.authentication import secret_of
from portal.api.feed import key_of, list_all
from portal.api.throttling import is_within_limit

ADDRESS = "/api/v1/feed"
HEADERS = {
    "Vary": "Authorization",
    # Nothing is run or framed where JSON is shown.
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


class Polls:
    """Answers a plain GET of the feed by an agent that may read it; all else goes on."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info != ADDRESS or request.method != "GET":
            return self.get_response(request)
        try:
            answer = _poll(request)
        except Exception:  # noqa: BLE001  # the endpoint meets the same fault, logs it and answers
            answer = None
        return self.get_response(request) if answer is None else answer


def _poll(request: HttpRequest) -> HttpResponse | None:
    bearer = _find_agent(request) if _is_plain(request) else None
    if bearer is None or bearer.agent_id is None or bearer.environment_id is None:
        return None
    key = key_of(request.GET) if request.META.get("QUERY_STRING") else ""
    seen = feed_of(agent_id=bearer.agent_id, environment_id=bearer.environment_id, key=key)
    answer = list_all(request, seen, bearer.agent_id)
    for name, value in HEADERS.items():
        answer[name] = value
    if answer.status_code == 200:
        answer["Content-Length"] = str(len(answer.content))
    return answer


def _find_agent(request: HttpRequest) -> Bearer | None:
    """Who polls, where there is nothing to refuse; the request is counted then."""
    secret = secret_of(request.META.get("HTTP_AUTHORIZATION", ""))
    bearer = read_token(secret, now=timezone.now()) if secret else None
    if bearer is None or "feed" not in bearer.scopes or not is_within_limit(bearer):
        return None
    return bearer


def _is_plain(request: HttpRequest) -> bool:
    """Whether all is asked for as JSON, at an address that is ours."""
    query, kinds = request.META.get("QUERY_STRING", ""), request.META.get("HTTP_ACCEPT", "*/*")
    if "fields=" in query or "%00" in query or "\0" in query:
        return False
    if "*/*" not in kinds and "application/json" not in kinds:
        return False
    try:
        request.get_host()
    except DisallowedHost:
        return False
    return True
