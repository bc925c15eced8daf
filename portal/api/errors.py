"""Every refusal of the API as `application/problem+json` (RFC 9457) with a stable code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFilesSent
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from catalog import access, releases, resolution, tokens
from catalog.advertisement import BadTemplate
from governance import approvals
from portal.access import NotFound

TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    410: "Gone",
    413: "Too large",
    415: "Unsupported media type",
    422: "Not valid",
    429: "Too many requests",
    500: "Server error",
    503: "Not available",
}


class Problem(Exception):
    """A refusal; `errors` lists the parts where several things are wrong, `extra` more members."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int = 400,
        errors: Sequence[Mapping[str, Any]] = (),
        **extra: Any,
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.errors, self.extra = errors, extra


# Exceptions of the floors below → status and code; their text is the detail.
KNOWN: Mapping[type[Exception], tuple[int, str]] = {
    access.NotAllowed: (403, "not-allowed"),
    releases.WrongState: (409, "wrong-state"),
    releases.NotCleared: (409, "gates-shut"),
    approvals.NotConfirmed: (422, "confirmation-missing"),
    approvals.ReasonMissing: (422, "reason-missing"),
    resolution.Gone: (410, "version-gone"),
    tokens.BadToken: (422, "token-invalid"),
    BadTemplate: (422, "template-invalid"),
    RequestDataTooBig: (413, "body-too-large"),
    TooManyFilesSent: (400, "too-many-files"),
}
CODES_OF_DRF = {
    "not_authenticated": "not-authenticated",
    "authentication_failed": "token-invalid",
    "permission_denied": "scope-missing",
    "parse_error": "body-invalid",
    "not_found": "not-found",
    "throttled": "rate-limit",
}


def problem(fault: Problem) -> Response:
    """The answer for a refusal."""
    body = {
        "type": "about:blank",
        "title": TITLES.get(fault.status, "Error"),
        "status": fault.status,
        "detail": fault.detail,
        "code": fault.code,
        **({"errors": list(fault.errors)} if fault.errors else {}),
        **fault.extra,
    }
    return Response(body, status=fault.status, content_type="application/problem+json")


def answer_problem(fault: Exception, context: Mapping[str, Any]) -> Response | None:
    """The answer for an exception; None for one that is a defect of ours."""
    known = as_problem(fault)
    if known is None:
        return None
    set_rollback()
    answer = problem(known)
    if isinstance(fault, exceptions.APIException):
        wait, header = getattr(fault, "wait", None), getattr(fault, "auth_header", None)
        if wait:
            answer["Retry-After"] = str(max(1, round(wait)))
        if header:
            answer["WWW-Authenticate"] = header
    return answer


def as_problem(fault: Exception) -> Problem | None:
    """What is told of an exception, or None where it is none of ours."""
    if isinstance(fault, Problem):
        return fault
    if isinstance(fault, resolution.Unknown):
        near = f" Did you mean {', '.join(fault.near)}?" if fault.near else ""
        return Problem(
            "skill-not-found", f"No skill named {fault} is served here.{near}", status=404, near=fault.near
        )
    for kind, (code_status, code) in KNOWN.items():
        if isinstance(fault, kind):
            return Problem(code, str(fault), status=code_status)
    if isinstance(fault, NotFound):
        near = f" Did you mean {', '.join(fault.near)}?" if fault.near else ""
        return Problem("not-found", f"There is no {fault}.{near}", status=404, near=list(fault.near))
    if isinstance(fault, Http404):
        return Problem("not-found", str(fault) or "There is nothing at this address.", status=404)
    if isinstance(fault, PermissionDenied):
        return Problem("not-allowed", str(fault) or "Not allowed.", status=403)
    if isinstance(fault, exceptions.APIException):
        code = str(fault.get_codes()) if isinstance(fault.get_codes(), str) else "invalid"
        return Problem(
            CODES_OF_DRF.get(code, code.replace("_", "-")), str(fault.detail), status=fault.status_code
        )
    return None


def server_error() -> dict[str, Any]:
    """The body of a 500: nothing of the fault leaves the server."""
    return {
        "type": "about:blank",
        "title": TITLES[500],
        "status": status.HTTP_500_INTERNAL_SERVER_ERROR,
        "detail": "Something failed on our side; it was logged.",
        "code": "server-error",
    }
