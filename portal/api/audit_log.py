"""The audit log by REST, for administrators (contract, Publishing and the record)."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from catalog import journal
from catalog.access import NotAllowed
from catalog.models import JournalEntry
from portal import access
from portal.api.described import CURSOR, described
from portal.api.endpoints import endpoint
from portal.api.fields import read_moment
from portal.api.paging import page_of


@described(
    "audit_log",
    "Who changed what, newest first. For administrators.",
    answers={200: "AuditPage"},
    problems=(400,),
    query={
        "actor": "A user's name, or system.",
        "verb": "What was done, such as release.approve.",
        "target": "What it was done to.",
        "since": "The earliest time, RFC 3339.",
        **CURSOR,
    },
)
@endpoint({"GET": "admin"})
def audit_log(request: Request) -> Response:
    """Who changed what."""
    _ask_admin(request)
    rows, asked = JournalEntry.objects.all(), request.query_params
    for name in ("actor", "verb", "target"):
        if value := asked.get(name):
            rows = rows.filter(**{name: value})
    if since := asked.get("since"):
        rows = rows.filter(at__gte=read_moment("since", since))
    return Response(page_of(request, rows, key="-n", show=_show))


@described(
    "audit_log_verify",
    "Re-hash the whole audit log. For administrators.",
    answers={200: "Chain"},
)
@endpoint({"GET": "admin"})
def audit_log_verify(request: Request) -> Response:
    """Whether the audit log is as it was written."""
    _ask_admin(request)
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


def _ask_admin(request: Request) -> None:
    if not access.powers(request).is_admin:
        raise NotAllowed("The audit log is read by administrators.")


def _show(entry: JournalEntry) -> dict[str, Any]:
    return {
        "n": entry.n,
        "at": entry.at,
        "actor": entry.actor,
        "verb": entry.verb,
        "target": entry.target,
        "before": entry.before,
        "after": entry.after,
        "origin": entry.origin,
        "hash": entry.hash,
    }
