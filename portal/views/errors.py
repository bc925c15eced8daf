"""What goes wrong, said in the look of the portal; for htmx as a toast that leaves the page alone."""

from __future__ import annotations

import logging
import sys
from uuid import uuid4

from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from catalog import removals
from catalog.access import NotAllowed
from catalog.models import Role, User
from portal.access import NotFound
from portal.api.errors import Problem, bare_problem, defect

log = logging.getLogger(__name__)

SECRET_FIELDS = ("password", "token", "secret", "csrf", "key")
# As the API calls these refusals.
CODES = {403: "not-allowed", 404: "not-found"}
MOST_KEPT = 20
LONGEST_KEPT = 20_000


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400: the request cannot be read."""
    text = str(exception) if exception and len(str(exception)) < 200 else ""
    return _answer(
        request,
        400,
        title=_("This request cannot be read"),
        text=text or _("Its address or its content is not in order."),
        icon_name="warn",
    )


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403: says what is missing and who can help."""
    return _answer(
        request,
        403,
        title=_("You are not allowed to do this"),
        text=str(exception or "") or _("It needs a role that you do not have."),
        icon_name="lock",
        helpers=_administrators() if isinstance(exception, NotAllowed) else (),
    )


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404: the same for what is not there and what the user may not see; offers the nearest names."""
    if isinstance(exception, NotFound):
        title, near = str(exception), exception.near
    else:
        title, near = _("There is no such page"), ()
    return _answer(
        request,
        404,
        title=title,
        text=_("It may have been renamed or removed, or be visible to its team alone."),
        icon_name="search",
        near=near,
    )


def removed(request: HttpRequest) -> HttpResponse:
    """409: a team or an environment was removed between the page and the change."""
    return _answer(
        request, 409, title=_("It was removed meanwhile"), text=str(removals.TOLD), icon_name="warn"
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """500: our fault; the page needs neither database nor session, and its reference is in the log."""
    reference = uuid4().hex[:8]
    fault = sys.exc_info()[0]
    log.error("Reference %s: %s", reference, fault.__name__ if fault else "unknown")
    if _wants_json(request):
        return bare_problem(defect(reference=reference))
    page = render_to_string("errors/server_error.html", {"reference": reference})
    return HttpResponse(page, status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form that was open too long; shows what had been typed, to be copied."""
    return _answer(
        request,
        403,
        title=_("This form had expired"),
        text=_("It was open for long, or you have signed in again since. Nothing was changed."),
        icon_name="clock",
        typed=_typed(request),
        again=request.path if request.resolver_match else "",
    )


def _typed(request: HttpRequest) -> list[tuple[str, str]]:
    """The text fields of the form that was sent, without secrets; none of one that was cut off."""
    try:
        sent = list(request.POST.items())[:MOST_KEPT]
    except UnreadablePostError:
        return []
    return [
        (name, value[:LONGEST_KEPT])
        for name, value in sent
        if isinstance(value, str)
        and value.strip()
        and not any(word in name.lower() for word in SECRET_FIELDS)
    ]


def _administrators() -> list[str]:
    """Up to three people who give roles."""
    people = User.objects.filter(is_active=True, grants__role=Role.ADMIN).order_by("username").distinct()
    return [str(person) for person in people[:3]]


def _wants_json(request: HttpRequest) -> bool:
    return request.path_info.startswith("/api/")


def _answer(request: HttpRequest, status: int, **context: object) -> HttpResponse:
    if _wants_json(request):
        detail = f"{context['title']}. {context['text']}"
        return bare_problem(Problem(CODES.get(status, "request-invalid"), detail, status=status))
    if getattr(request, "htmx", False):
        toast = {"tone": "bad", "text": context["title"], "detail": context["text"]}
        answer = render(request, "includes/toast.html", toast, status=status)
        # quartermaster.js lets an answer with this target through, whatever its status.
        answer["HX-Retarget"], answer["HX-Reswap"] = "#toasts", "beforeend"
        return answer
    return render(request, "errors/error.html", context, status=status)
