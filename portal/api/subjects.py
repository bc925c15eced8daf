"""Subjects by REST: administrators have all traces of one erased, and read what became of it."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone
from django.views.decorators.debug import sensitive_variables
from rest_framework.request import Request
from rest_framework.response import Response

from governance.erasures import LONGEST_REASON, REFUSAL, request_erasure
from governance.models import Erasure
from governance.subjects import LONGEST_VALUE, NoSubject, read_subject, without_value
from portal import access
from portal.api.authentication import actor_of
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.api.examples import subjects as examples
from portal.api.fields import Fields
from portal.api.idempotency import once
from portal.api.paging import page_of
from portal.erased import show_erasure, shown


@described(
    "subject_erase",
    "Have all traces of one subject deleted: every trace in which masking has found the value, under every key that "
    "the instance knows. The value is turned into keyed hashes and forgotten; a text with several values is taken for "
    "all of them. It begins at `begins_at`; ask for the erasure to see how far it is. For administrators.",
    method="POST",
    sent={"application/json": "Erase"},
    answers={202: "Erasure"},
    problems=(400, 409, 415, 422),
    examples=examples.ERASE,
    once=True,
)
@endpoint({"POST": "admin"})
@once
@sensitive_variables("value", "fields")
def subject_erase(request: Request) -> Response:
    """Ask for an erasure."""
    access.ask_administrator(request, REFUSAL)
    fields = Fields(request.data)
    value = fields.text("value", needed=True, longest=LONGEST_VALUE)
    reason = fields.prose("reason", longest=LONGEST_REASON)
    fields.check()
    try:
        subject = read_subject(value)
    except NoSubject as fault:
        raise Problem("subject-unknown", str(fault), status=422) from None
    made = request_erasure(
        subject=subject,
        reason=without_value(reason, value=value),
        actor=actor_of(request),
        now=timezone.now(),
    )
    return Response(show_erasure(*shown([made])), status=202)


@described(
    "erasures",
    "The erasures that were asked for, newest first. For administrators.",
    answers={200: "ErasurePage"},
    problems=(400,),
    query=CURSOR,
)
@endpoint({"GET": "admin"})
def erasure_list(request: Request) -> Response:
    """Every erasure."""
    access.ask_administrator(request, REFUSAL)
    rows = Erasure.objects.select_related("requested_by")
    told = page_of(request, rows, key="-requested_at", show=lambda row: {"row": row})
    return Response(
        {**told, "items": [show_erasure(one) for one in shown(item["row"] for item in told["items"])]}
    )


@described(
    "erasure",
    "One erasure: what has gone so far, and when it is done how many tags nobody can search (`lost`), for their key "
    "is no longer known, and by when retention will have taken them. For administrators.",
    answers={200: "Erasure"},
    problems=(404,),
)
@endpoint({"GET": "admin"})
def erasure_detail(request: Request, erasure_id: UUID) -> Response:
    """One erasure."""
    access.ask_administrator(request, REFUSAL)
    return Response(show_erasure(*shown([access.erasure_read(erasure_id)])))
