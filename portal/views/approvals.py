"""The inbox: what waits for this user."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from catalog.access import Powers
from catalog.appeals import appeals_made
from catalog.models import Appeal
from portal import access
from portal.fragments import render_part
from portal.waiting import inbox_of, waiting_appeals

MOST_MADE = 20


@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """Releases to decide and to start, the user's own on their way, and appeals; asked for again each minute."""
    powers = access.powers(request)
    context = {
        "inbox": inbox_of(powers),
        "appeals": waiting_appeals(powers),
        "made": _appeals_made(powers),
        "powers": powers,
    }
    return render_part(request, "approvals/inbox.html", "inbox", context)


def _appeals_made(powers: Powers) -> list[Appeal]:
    """The user's own appeals with what a row shows, answered ones too: nothing else tells of the answer."""
    if not powers.is_publisher:
        return []
    return list(appeals_made(powers).select_related("version__skill", "decided_by")[:MOST_MADE])
