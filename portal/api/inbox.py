"""What waits for the caller, by REST; the groups are those of the inbox page."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from portal import access
from portal.api.appeals import show_appeal
from portal.api.described import described
from portal.api.endpoints import endpoint
from portal.api.examples import releases as examples
from portal.api.releases import show_row
from portal.waiting import Waiting, inbox_of, waiting_appeals


@described(
    "inbox",
    "What waits for the token's owner, oldest first, at most 100 of each group: releases to `decide` on, "
    "those whose approvals are `void`, to `start`, canaries that their schedule `holds`, those `blocked` by "
    "a shut gate, `approved` by them and lacking others, and `mine`, which they proposed; `appeals` to "
    "decide on.",
    answers={200: "Inbox"},
    examples=examples.INBOX,
)
@endpoint({"GET": "read"})
def inbox(request: Request) -> Response:
    """What waits for the caller."""
    powers = access.powers(request)
    found = inbox_of(powers)
    return Response(
        {
            **{group.name: [_show(row) for row in getattr(found, group.name)] for group in fields(found)},
            "appeals": [show_appeal(one) for one in waiting_appeals(powers)],
        }
    )


def _show(row: Waiting) -> dict[str, Any]:
    return {
        **show_row(row.release),
        "approvals": {"held": row.held, "needed": row.needed},
        "shut": list(row.shut),
        "live": row.live or None,
    }
