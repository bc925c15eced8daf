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
from portal.api.throttling import is_within_limit, tell_limit

ADDRESS = "/api/v1/feed"
# Nothing is run or framed where JSON is shown.
POLICY = "default-src 'none'; frame-ancestors 'none'"
MOST_HOSTS = 100


class Polls:
    """Answers a plain GET of the feed by an agent that may read it; all else goes on."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        # Names that were let through; to look each up again would take longer than the answer.
        self.hosts: set[str] = set()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info != ADDRESS or request.method != "GET":
            return self.get_response(request)
        try:
            answer = _poll(request) if self._is_ours(request) else None
        except Exception:  # noqa: BLE001  # the endpoint meets the same fault, logs it and answers
            answer = None
        return self.get_response(request) if answer is None else answer

    def _is_ours(self, request: HttpRequest) -> bool:
        """Whether the request is addressed to a name of ours."""
        host = request.META.get("HTTP_HOST", "")
        if host in self.hosts:
            return True
        try:
            request.get_host()
        except DisallowedHost:
            return False
        if len(self.hosts) < MOST_HOSTS:
            self.hosts.add(host)
        return True


def _poll(request: HttpRequest) -> HttpResponse | None:
    bearer = _find_agent(request) if _is_plain(request) else None
    if bearer is None or bearer.agent_id is None or bearer.environment_id is None:
        return None
    key = key_of(request.GET) if request.META.get("QUERY_STRING") else ""
    seen = feed_of(agent_id=bearer.agent_id, environment_id=bearer.environment_id, key=key)
    answer = list_all(request, seen, bearer.agent_id)
    answer["Vary"] = "Authorization"
    tell_limit(answer, bearer)
    if answer.status_code == 200:
        answer["Content-Security-Policy"] = POLICY
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
    """Whether all of it is asked for, as JSON."""
    query, kinds = request.META.get("QUERY_STRING", ""), request.META.get("HTTP_ACCEPT", "*/*")
    if "fields=" in query or "%00" in query or "\0" in query:
        return False
    return "*/*" in kinds or "application/json" in kinds
