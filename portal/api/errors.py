"""Every refusal of the API as `application/problem+json` (RFC 9457) with a stable code."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from catalog import (
    access,
    agents,
    appeals,
    canaries,
    degradations,
    delegations,
    environments,
    grants,
    leaving,
    ownership,
    people,
    pins,
    releases,
    removals,
    resolution,
    resources,
    rotation,
    teams,
    tokens,
)
from catalog.advertisement import BadTemplate
from governance import approvals, masking_rules, refusals, traces
from portal.access import NotFound
from portal.api.rendering import as_json
from portal.logs import route_of

log = logging.getLogger(__name__)

TYPE = "application/problem+json"
TITLES = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    410: "Gone",
    412: "Changed meanwhile",
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


class Away(Problem):
    """The database is away or takes nothing now; whoever asks again in `wait` seconds may be served."""

    wait = traces.RETRY_AFTER

    def __init__(self) -> None:
        super().__init__("busy", f"The database is busy; ask again in {self.wait} seconds.", status=503)


# Exceptions of the floors below → status and code; their text is the detail.
KNOWN: Mapping[type[Exception], tuple[int, str]] = {
    agents.Retired: (409, "agent-retired"),
    agents.NameTaken: (409, "agent-taken"),
    agents.BadName: (422, "field-invalid"),
    rotation.NotRotatable: (409, "wrong-state"),
    access.NotAllowed: (403, "not-allowed"),
    releases.WrongState: (409, "wrong-state"),
    releases.NotCleared: (409, "gates-shut"),
    approvals.NotConfirmed: (422, "confirmation-missing"),
    approvals.NoSuchGate: (422, "gate-invalid"),
    canaries.PlanWrong: (422, "field-invalid"),
    refusals.ReasonMissing: (422, "reason-missing"),
    environments.Taken: (409, "environment-taken"),
    environments.InUse: (409, "environment-in-use"),
    environments.LastOne: (409, "environment-in-use"),
    environments.Removed: (409, "environment-removed"),
    masking_rules.RuleTaken: (409, "rule-taken"),
    masking_rules.TooManyRules: (409, "rules-full"),
    masking_rules.RuleChanged: (409, "rule-changed"),
    masking_rules.Untried: (422, "rule-untried"),
    appeals.NotAppealable: (409, "not-appealable"),
    degradations.BadFallback: (422, "fallback-invalid"),
    grants.BadGrant: (422, "grant-invalid"),
    grants.LastAdministrator: (409, "last-administrator"),
    teams.BadTeam: (422, "team-invalid"),
    teams.TeamTaken: (409, "team-taken"),
    teams.StillReferred: (409, "team-needed"),
    people.BadAccount: (422, "account-invalid"),
    people.AccountTaken: (409, "account-taken"),
    leaving.NotClosable: (409, "account-state"),
    ownership.NotOfTheTeam: (422, "user-unknown"),
    delegations.NotLendable: (422, "not-lendable"),
    resolution.Gone: (410, "version-gone"),
    resources.LeavesBundle: (400, "path-traversal"),
    resources.NoSuchFile: (404, "resource-not-found"),
    resources.Ambiguous: (409, "resource-ambiguous"),
    tokens.BadToken: (422, "token-invalid"),
    traces.Busy: (503, "busy"),
    BadTemplate: (422, "template-invalid"),
    RequestDataTooBig: (413, "body-too-large"),
    TooManyFilesSent: (400, "too-many-files"),
    TooManyFieldsSent: (400, "too-many-fields"),
    UnreadablePostError: (400, "body-invalid"),
    SuspiciousOperation: (400, "request-invalid"),
    BadRequest: (400, "request-invalid"),
}
CODES_OF_DRF = {
    "not_authenticated": "not-authenticated",
    "authentication_failed": "token-invalid",
    "permission_denied": "scope-missing",
    "parse_error": "body-invalid",
    "not_found": "not-found",
    "throttled": "rate-limit",
}


def defect(**extra: Any) -> Problem:
    """What is told of a defect of ours: nothing of the fault leaves the server."""
    return Problem("server-error", "Something failed on our side; it was logged.", status=500, **extra)


def problem(fault: Problem) -> Response:
    """The answer for a refusal."""
    return Response(body_of(fault), status=fault.status, content_type=TYPE)


def bare_problem(fault: Problem) -> HttpResponse:
    """The same, where no endpoint was reached."""
    return HttpResponse(as_json(body_of(fault)), status=fault.status, content_type=TYPE)


def body_of(fault: Problem) -> dict[str, Any]:
    """The members of RFC 9457, and ours."""
    return {
        "type": "about:blank",
        "title": TITLES.get(fault.status, "Error"),
        "status": fault.status,
        "detail": fault.detail,
        "code": fault.code,
        **({"errors": list(fault.errors)} if fault.errors else {}),
        **fault.extra,
    }


def answer_problem(fault: Exception, context: Mapping[str, Any]) -> Response:
    """The answer for an exception of an endpoint; a defect of ours is logged, and 500."""
    set_rollback()
    if isinstance(fault, InterfaceError | OperationalError):
        log.warning("%s was not answered: %s", route_of(context.get("request")), fault)
        fault = Away()
    known = as_problem(fault)
    if known is None:
        log.error("%s failed", route_of(context.get("request")), exc_info=fault)
        return problem(defect())
    answer = problem(known)
    # Of APIException and of governance.traces.Busy.
    wait, header = getattr(fault, "wait", None), getattr(fault, "auth_header", None)
    if wait:
        answer["Retry-After"] = str(max(1, round(wait)))
    if header:
        answer["WWW-Authenticate"] = header
    return answer


def unknown_address(request: HttpRequest, rest: str = "") -> HttpResponse:
    """404 for what is no address of the API, whoever asks."""
    return bare_problem(Problem("not-found", "There is nothing at this address.", status=404))


def as_problem(fault: Exception) -> Problem | None:
    """What is told of an exception, or None where it is none of ours."""
    if isinstance(fault, Problem):
        return fault
    if isinstance(fault, resolution.Unknown):
        near = f" Did you mean {', '.join(fault.near)}?" if fault.near else ""
        return Problem(
            "skill-not-found", f"No skill named {fault} is served here.{near}", status=404, near=fault.near
        )
    if isinstance(fault, pins.SwitchedOff):
        return Problem("skill-switched-off", str(fault), status=409, fallback=fault.fallback)
    for kind, (code_status, code) in KNOWN.items():
        if isinstance(fault, kind):
            return Problem(code, str(fault) or "The request cannot be read.", status=code_status)
    if removals.is_removed(fault):
        return Problem("removed-meanwhile", removals.TOLD, status=409)
    if isinstance(fault, NotFound):
        near = f" Did you mean {', '.join(fault.near)}?" if fault.near else ""
        return Problem("not-found", f"{fault}.{near}", status=404, near=list(fault.near))
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
