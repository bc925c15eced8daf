"""The record by REST: what changed between two versions."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from catalog.comparison import Bump, bump_of, compare, compare_declared
from portal.api.described import described
from portal.api.endpoints import endpoint
from portal.api.errors import Problem
from portal.comparing import choose_versions


@described(
    "version_compare",
    "What changed between two versions: files, schemas, permissions, allowed tools, the declaration, and the "
    "least bump that says so honestly.",
    answers={200: "Compared"},
    problems=(404,),
    query={
        "from": "The version to start from; without it the one below `to`.",
        "to": "The version to arrive at; without it the latest.",
    },
)
@endpoint({"GET": "read"})
def version_compare(request: Request, name: str) -> Response:
    """What changed between two versions."""
    before, after = choose_versions(request, name)
    if before is None:
        raise Problem(
            "version-alone", f"There is no version below {after}; name one with `from`.", status=404
        )
    reach, bump = compare(before, after), bump_of(before, after)
    return Response(
        {
            "name": after.skill.name,
            "from": before.version,
            "to": after.version,
            "same_bytes": reach.same_bytes,
            "files": [
                {"path": one.path, "change": one.change, "size_before": one.before, "size_after": one.after}
                for one in reach.files
            ],
            "schemas": [
                {"side": one.side, "where": one.where, "change": one.what, "bump": one.part}
                for one in bump.of_schemas
            ],
            "permissions": {"gained": reach.permissions_gained, "lost": reach.permissions_lost},
            "allowed_tools": {"gained": reach.tools_gained, "lost": reach.tools_lost},
            "declaration": {
                one.field: {"before": one.before, "after": one.after}
                for one in compare_declared(before, after)
            },
            "bump": _show_bump(bump),
        }
    )


def _show_bump(bump: Bump) -> dict[str, Any]:
    """How far the number has to move, and whether it does."""
    return {
        "least": bump.least,
        "named": bump.named,
        "honest": not bump.falls_short,
        "breaks": bump.breaks,
        "next": bump.next,
        "why": [f"{one.where} {one.what}" for one in bump.why],
    }
