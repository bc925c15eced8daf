"""The audit log by REST, for administrators (contract, Publishing and the record)."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from catalog import journal
from portal import access
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.fields import read_moment
from portal.api.paging import page_of
from portal.entries import REFUSAL, Asked, filter_entries, show_entry


@described(
    "audit_log",
    "Who changed what, newest first. For administrators.",
    answers={200: "AuditPage"},
    problems=(400,),
    query={
        "actor": "A user's name, or system.",
        "verb": "What was done, such as release.approve, or the first word of it.",
        "target": "What it was done to, or its first words: a skill, for its versions and releases too.",
        "since": "The earliest time, RFC 3339.",
        "until": "The first time that is not wanted any more.",
        **CURSOR,
    },
)
@endpoint({"GET": "admin"})
def audit_log(request: Request) -> Response:
    """Who changed what."""
    access.ask_administrator(request, REFUSAL)
    sent = request.query_params
    moments = {name: read_moment(name, sent[name]) for name in ("since", "until") if sent.get(name)}
    asked = Asked(
        actor=sent.get("actor", ""),
        verb=sent.get("verb", ""),
        target=sent.get("target", ""),
        since=moments.get("since"),
        until=moments.get("until"),
    )
    return Response(page_of(request, filter_entries(asked), key="-n", show=show_entry))


@described(
    "audit_log_verify",
    "Re-hash the whole audit log. For administrators.",
    answers={200: "Chain"},
)
@endpoint({"GET": "admin"})
def audit_log_verify(request: Request) -> Response:
    """Whether the audit log is as it was written."""
    access.ask_administrator(request, REFUSAL)
    chain = journal.check_chain()
    n, head = journal.read_head()
    return Response(
        {
            "intact": chain.intact,
            "entries": chain.entries,
            "broken_at": chain.broken_at,
            "head": {"n": n, "hash": head},
        }
    )
